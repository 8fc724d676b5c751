#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/event_row.hpp"
#include "lib/l7/quic/crypto_stream.hpp"
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/l7/tls/client_hello.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// How many Initials may still be decrypted, which bounds what a flood of them costs: each takes
// microseconds. The caller refills it, for each burst or by time.
class InitialBudget {
public:
    explicit InitialBudget(std::uint32_t initials) noexcept : left_{initials} {}
    [[nodiscard]] bool take() noexcept {
        const bool is_left = left_ > 0;
        left_ -= is_left ? 1 : 0;
        return is_left;
    }
    [[nodiscard]] std::uint32_t left() const noexcept { return left_; }

private:
    std::uint32_t left_;
};

// The outcome of a datagram for a client's hello.
enum class QuicHelloOutcome : std::uint8_t {
    Whole,
    NeedMore,
    NoInitial,
    NoCrypto,
    OverBudget,
    TooManyInitials,
    NotAuthentic,
    BadFrame,
    BeyondRoom,
    TooManyPieces,
    Differs,
    OtherHandshake,
    Malformed,
};

struct QuicHelloOutcomeRow {
    QuicHelloOutcome outcome;
    std::string_view name;
    std::string_view help;
};
inline constexpr auto kQuicHelloOutcomes = std::to_array<QuicHelloOutcomeRow>({
    {QuicHelloOutcome::Whole, "whole", "a ClientHello was read"},
    {QuicHelloOutcome::NeedMore, "need_more", "parts of a ClientHello are still to come"},
    {QuicHelloOutcome::NoInitial, "no_initial", "no Initial of a known version"},
    {QuicHelloOutcome::NoCrypto, "no_crypto", "Initials without bytes of the handshake"},
    {QuicHelloOutcome::OverBudget, "over_budget", "not opened: the budget for it is used up"},
    {QuicHelloOutcome::TooManyInitials, "too_many_initials", "more Initials than a client sends"},
    {QuicHelloOutcome::NotAuthentic, "not_authentic", "no Initial under the keys of its id"},
    {QuicHelloOutcome::BadFrame, "bad_frame", "a frame that no Initial may have"},
    {QuicHelloOutcome::BeyondRoom, "beyond_room", "the hello is longer than there is room for"},
    {QuicHelloOutcome::TooManyPieces, "too_many_pieces", "a hello in too many pieces"},
    {QuicHelloOutcome::Differs, "differs", "bytes of the hello that came before as others"},
    {QuicHelloOutcome::OtherHandshake, "other_handshake", "another message than a ClientHello"},
    {QuicHelloOutcome::Malformed, "malformed", "a hello that is not read"},
});
static_assert(in_enum_order(kQuicHelloOutcomes, &QuicHelloOutcomeRow::outcome) &&
                  kQuicHelloOutcomes.size() ==
                      static_cast<std::size_t>(QuicHelloOutcome::Malformed) + 1,
              "kQuicHelloOutcomes is indexed by QuicHelloOutcome");

struct QuicHelloRead {
    QuicHelloOutcome outcome = QuicHelloOutcome::NoInitial;
    HelloFault fault = HelloFault::None;  // of Malformed
    // Under which the packet was that told it, and the id that its keys come from: what to keep for
    // the datagrams that follow.
    std::uint32_t version = 0;
    ConnectionId client_dcid;
    std::uint8_t opened = 0;    // Initials that were authentic
    bool has_unopened = false;  // one was not
    // One of its Initials closes the connection, or one that was not opened may.
    bool closes = false;
};

// The ClientHello of a client's first datagrams. One per worker.
class InitialReader {
public:
    // Initials that are opened of one datagram. Clients send one or two.
    static constexpr std::size_t kMaxInitials = 4;

    explicit InitialReader(InitialOpener opener) noexcept : opener_{std::move(opener)} {}

    // Opens the Initials of a datagram under the id that the first packet has, and adds their bytes
    // to `stream`, which is empty or has those of earlier datagrams of the same connection. `hello`
    // is good when the outcome is Whole, for as long as the stream stands.
    [[nodiscard]] QuicHelloRead read(ByteView datagram, CryptoStream& stream, InitialBudget& budget,
                                     ClientHello& hello) noexcept;
    // The same under an id from earlier: a client turns to the id that the server chose as soon as
    // the server has answered, and its Initials keep the keys of the first.
    [[nodiscard]] QuicHelloRead read_on(ByteView datagram, const ConnectionId& client_dcid,
                                        CryptoStream& stream, InitialBudget& budget,
                                        ClientHello& hello) noexcept;

private:
    InitialOpener opener_;
};

}  // namespace sluice

#pragma once
#include "lib/l7/quic/quic_units.hpp"
#include "lib/l7/stream/source_network.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/l7/tls/hello_texts.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// The id of a connection, among others: who speaks, and of how many bytes which id was chosen.
[[nodiscard]] std::uint64_t digest_on_path(std::uint64_t path, ByteView part,
                                           const KeyHasher& hash) noexcept;
// The server that packets speak to, as a path with any sender: it takes what comes under one id for
// one connection, from whichever port or address.
[[nodiscard]] std::uint64_t server_end(const PacketHeaders& headers,
                                       const KeyHasher& hash) noexcept;

// The bytes of the hello that the stream begins with; none where it is not whole.
[[nodiscard]] ByteView hello_of(const CryptoStream& stream) noexcept;

// One datagram with an Initial that can be opened.
class QuicUnits::Datagram {
public:
    Datagram(QuicUnits& owner, ByteView bytes, const QuicPacket& first, const UnitSource& packet,
             UnitSink& units) noexcept
        : owner_{owner},
          bytes_{bytes},
          first_{first},
          packet_{packet},
          units_{units},
          path_{connection_ends(packet.headers, packet.hash).along()},
          id_{of_service()
                  ? digest_on_path(server_end(packet.headers, packet.hash), first.dcid, packet.hash)
                  : digest_with(first.dcid)},
          budget_{0} {}

    // True: it completes a hello, which is in owner_.hello_; is_new() tells whether it counts.
    [[nodiscard]] bool run() noexcept;
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }

private:
    [[nodiscard]] std::uint64_t digest_with(ByteView part) const noexcept {
        return digest_on_path(path_, part, packet_.hash);
    }

    void repeat(std::uint64_t key) noexcept;

    // The key of parts that come under the id of a judged hello.
    [[nodiscard]] std::uint64_t again() const noexcept { return again_of(id_); }
    [[nodiscard]] std::uint64_t again_of(std::uint64_t id) const noexcept;
    [[nodiscard]] AnswersSeen answers_seen() const noexcept {
        if (!of_service()) {
            return AnswersSeen::None;
        }
        const bool is_one_way = packet_.service.service->path == ServicePath::Inbound;
        return is_one_way ? AnswersSeen::Closes : AnswersSeen::All;
    }
    // Servers differ in whether parts by another path are of the same connection: those of a
    // service's hello come by one path, and go no further by others. Parts of a hello of this id
    // have come by another path, and it is not whole.
    [[nodiscard]] bool is_half_elsewhere() const noexcept;
    // The hello of this id was whole by another path first.
    [[nodiscard]] bool is_whole_elsewhere(const HalfHello& half) const noexcept;
    // The id is not known, or its server may have forgotten the hello that was judged.
    [[nodiscard]] bool is_of_new_connection() const noexcept;
    [[nodiscard]] bool begin_anew() noexcept;
    // A server may forget a connection that its client closes before it has answered.
    [[nodiscard]] QuicHelloRead noted(const QuicHelloRead& read) noexcept;

    [[nodiscard]] bool of_service() const noexcept { return packet_.service.service != nullptr; }
    // The datagram's id is one that a server chose on its path.
    [[nodiscard]] bool has_servers_id() const noexcept {
        return owner_.hellos_.is_servers_id(digest_with(first_.dcid));
    }

    // A connection whose hello was judged, and forwarded or not decided yet: the same bytes are
    // a repeat, others a hello that is judged as any, also where they come in parts.
    [[nodiscard]] bool compare(const ConnectionId& client_dcid) noexcept;

    [[nodiscard]] bool conclude_again(const QuicHelloRead& read, const HalfHello& half,
                                      bool is_kept) noexcept;

    // A connection whose hello is half goes on, under the id that it began with.
    [[nodiscard]] bool go_on(HalfHello& half) noexcept {
        const QuicHelloRead read = noted(
            owner_.reader_.read_on(bytes_, half.client_dcid, half.stream, budget_, owner_.hello_));
        return conclude(read, half, true);
    }

    // A connection that is not known, under the id that a server chose, goes on with a half hello
    // of its path, else it begins one.
    [[nodiscard]] bool begin() noexcept;
    // A judged hello of its path is gone on with; nullopt: none is.
    [[nodiscard]] std::optional<bool> go_on_with_kept() noexcept;
    [[nodiscard]] std::optional<bool> go_on_with(const KeptHello& kept) noexcept;
    // The datagram goes where the kept hello went, which all else may have forgotten.
    void follow(const KeptHello& kept) noexcept;
    // The same of one with bytes of a hello, which may lie behind the kept one.
    [[nodiscard]] bool follow_behind(const QuicHelloRead& read, const HalfHello& half,
                                     const KeptHello& kept) noexcept;
    [[nodiscard]] bool may_compare_with(std::uint64_t id) const noexcept;

    // True if the server may read other bytes than were read here: those that came first stand, and
    // this datagram is refused.
    [[nodiscard]] bool contradicts(const QuicHelloRead& read, const HalfHello& half) noexcept;
    // The same of a whole hello and what passed of one under its id that was given up.
    [[nodiscard]] bool contradicts_given_up(const HalfHello& half) noexcept;
    // A hello in parts of the same id had to make room, whose server may lack some of them, and
    // nothing tells that this one has the same bytes. True: it is refused.
    [[nodiscard]] bool replaces_lost(const HalfHello& half, std::uint64_t hello) noexcept;
    // The other key that parts under the id of the hello are given up under; the own one: none.
    [[nodiscard]] std::uint64_t other_key_of(const HalfHello& half) const noexcept;
    // The id that the half hello belongs to.
    [[nodiscard]] std::uint64_t id_of(const HalfHello& half) const noexcept {
        return half.is_again ? id_ : half.id;
    }
    // A whole hello of a service stays, one that came in more than one packet with its bytes.
    void keep(const QuicHelloRead& read, const HalfHello& half, bool is_kept) noexcept;
    // A hello goes on behind its end, with the one that its server asked for by a
    // HelloRetryRequest: where there is a kept one that was read in `half`, the datagram is read
    // again from there. nullopt: nothing lies there.
    struct FirstHello {
        std::uint64_t id = 0;
        ConnectionId client_dcid;
        std::size_t size = 0;
        std::optional<std::uint32_t> asked_for;  // none: of several
    };
    [[nodiscard]] std::optional<FirstHello> first_hello_before(const HalfHello& half) noexcept;
    [[nodiscard]] bool read_behind(const FirstHello& first) noexcept;
    [[nodiscard]] bool conclude_behind(const QuicHelloRead& read, const FirstHello& first,
                                       const HalfHello& half, bool is_kept) noexcept;
    [[nodiscard]] bool judge_behind(const FirstHello& first, const HalfHello& half) noexcept;
    // No client goes on behind a hello that was not answered. True: it is refused.
    [[nodiscard]] bool has_bytes_behind(const HalfHello& half) noexcept;
    // A hello of this path took more than one packet, or takes it.
    [[nodiscard]] bool has_parts_on_path() noexcept;

    [[nodiscard]] bool conclude(const QuicHelloRead& read, const HalfHello& half,
                                bool is_kept) noexcept;

    // Parts of a hello, of the one behind it, or of both.
    [[nodiscard]] bool need_more(const HalfHello& half, bool is_kept) noexcept;

    void judge(const HalfHello& half) noexcept;

    void judge_new(std::uint64_t id, std::uint64_t hello, const ConnectionId& dcid) noexcept;

    // A part of a hello passes, as any beginning of a head, unless what was there before it is not
    // known any more.
    void wait(const HalfHello& half, bool is_kept) noexcept;

    // Under keys of a hello that nobody knows: it goes where the hello of its path went. Of a
    // service it is refused where there is none, since its server may know it by its id, whichever
    // path that hello came by.
    void leave() noexcept;
    void refuse_part() noexcept {
        units_.count(UnitEvent::QuicPartsLost);
        units_.drop(Reason::LostHead);
    }

    // A hello that is forgotten itself was refused: its path would not be known otherwise.
    void go_with(std::uint64_t id) noexcept;

    void refuse(const QuicHelloRead& read, std::uint64_t id) noexcept;

    QuicUnits& owner_;
    ByteView bytes_;
    const QuicPacket& first_;
    const UnitSource& packet_;
    UnitSink& units_;
    std::uint64_t path_;
    std::uint64_t id_;
    InitialBudget budget_;
    bool is_new_ = false;
};

}  // namespace sluice

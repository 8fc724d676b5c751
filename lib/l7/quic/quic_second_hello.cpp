#include "lib/l7/quic/quic_reading.hpp"

// The second hello of a connection, which a server asks for by a HelloRetryRequest. It follows the
// first one in the CRYPTO stream of Initials. Where it asks for another server it is a handshake of
// its own, else its bytes are those of a packet. The bytes that came first stand, as of a hello in
// parts, and nothing may stand behind it.
namespace sluice {
namespace {

struct BehindKey {
    std::uint64_t of;
    std::uint64_t behind;
};

std::uint64_t key_behind(std::uint64_t of, const KeyHasher& hash) noexcept {
    const BehindKey key{of, 2};
    return hash.digest(std::as_bytes(std::span{&key, 1}));
}

}  // namespace

ByteView hello_of(const CryptoStream& stream) noexcept {
    const ByteView bytes = stream.contiguous();
    if (bytes.size() < kHandshakeHeader) {
        return {};
    }
    const std::size_t size = kHandshakeHeader + (load_be32(bytes, 0) & 0xFF'FFFF);
    return size <= bytes.size() ? bytes.first(size) : ByteView{};
}

std::optional<QuicUnits::Datagram::FirstHello> QuicUnits::Datagram::first_hello_before(
    const HalfHello& half) noexcept {
    const KeptHello* const kept = of_service() ? owner_.hellos_.kept().find(id_of(half)) : nullptr;
    if (kept == nullptr) {
        return std::nullopt;
    }
    const std::size_t size =
        kept->hello_size == 0 ? hello_of(half.stream).size() : kept->hello_size;
    if (!half.stream.reaches_beyond(size)) {
        return std::nullopt;
    }
    FirstHello first{.id = kept->id, .client_dcid = kept->client_dcid, .size = kept->hello_size};
    if (!kept->asks_for_several) {
        first.asked_for = kept->asked_for;
    }
    return first;
}

bool QuicUnits::Datagram::has_bytes_behind(const HalfHello& half) noexcept {
    if (!of_service() || !half.stream.reaches_beyond(hello_of(half.stream).size())) {
        return false;
    }
    units_.count(UnitEvent::QuicMalformed);
    units_.drop(Reason::MalformedHello);
    return packet_.service.is_enforced();
}

bool QuicUnits::Datagram::read_behind(const FirstHello& first) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const std::uint64_t id = key_behind(first.id, packet_.hash);
    // A server that was sent hellos of two sizes may read on behind either.
    if (first.size == 0 || hellos.kept().may_have_lost(id, packet_.now)) {
        refuse_part();
        return false;
    }
    if (blocks(hellos.verdict_of(id))) {
        repeat(id);
        return false;
    }
    const bool is_kept = hellos.state_of(id) == QuicHellos::State::Half;
    HalfHello& half = is_kept ? hellos.half_of(id) : hellos.spare();
    if (!is_kept) {
        half.id = id;
        half.path = key_behind(path_, packet_.hash);
        half.is_again = true;
        half.is_of_service = true;
        half.client_dcid = first.client_dcid;
        half.stream.begin_at(first.size);
    }
    const QuicHelloRead read =
        owner_.reader_.read_on(bytes_, half.client_dcid, half.stream, budget_, owner_.hello_);
    return conclude_behind(read, first, half, is_kept);
}

bool QuicUnits::Datagram::conclude_behind(const QuicHelloRead& read, const FirstHello& first,
                                          const HalfHello& half, bool is_kept) noexcept {
    if (!owner_.hellos_.kept().agrees(half.id, half.stream)) {
        units_.count(UnitEvent::QuicMalformed);
        units_.drop(Reason::Overlap);
        if (packet_.service.is_enforced()) {
            return false;
        }
    }
    switch (read.outcome) {
        case QuicHelloOutcome::Whole:
            return !contradicts_given_up(half) && !has_bytes_behind(half) &&
                   judge_behind(first, half);
        case QuicHelloOutcome::NeedMore:
            wait(half, is_kept);
            return false;
        case QuicHelloOutcome::NoInitial:
        case QuicHelloOutcome::NoCrypto:
            return false;
        case QuicHelloOutcome::OverBudget:
            return conclude(read, half, is_kept);
        default:
            refuse(read, half.id);
            return false;
    }
}

bool QuicUnits::Datagram::judge_behind(const FirstHello& first, const HalfHello& half) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const std::uint64_t id = half.id;
    const ConnectionId dcid = half.client_dcid;
    const ByteView bytes = hello_of(half.stream);
    const std::uint32_t asked_for = asked_server(owner_.hello_, packet_.hash);
    const std::uint64_t hello = digest_on_path(half.path, bytes, packet_.hash);
    hellos.kept().keep({.id = id,
                        .path = half.path,
                        .client_dcid = dcid,
                        .bytes = bytes,
                        .size = static_cast<std::uint16_t>(bytes.size()),
                        .asked_for = asked_for},
                       packet_.now);
    if (first.asked_for == asked_for) {
        units_.count(UnitEvent::QuicHelloAgain);
        hellos.forget_half(id);
        return true;
    }
    if (hellos.is_hello_of(id, hello)) {
        repeat(id);
        return false;
    }
    units_.count(UnitEvent::QuicOtherHello);
    judge_new(id, hello, dcid);
    return true;
}

}  // namespace sluice

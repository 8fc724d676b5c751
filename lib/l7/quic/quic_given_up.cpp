#include "lib/l7/quic/quic_reading.hpp"

#include <algorithm>
#include <span>

// Parts of hellos that contradict what has passed under their id, or came by another path.
namespace sluice {

std::uint64_t QuicUnits::Datagram::again_of(std::uint64_t id) const noexcept {
    struct Key {
        std::uint64_t id;
        std::uint64_t again;
    };
    const Key key{id, 1};
    return packet_.hash.digest(std::as_bytes(std::span{&key, 1}));
}

std::uint64_t QuicUnits::Datagram::other_key_of(const HalfHello& half) const noexcept {
    if (!half.is_again) {
        return again_of(half.id);
    }
    return half.id == again() ? id_ : half.id;
}

bool QuicUnits::Datagram::contradicts(const QuicHelloRead& read, const HalfHello& half) noexcept {
    const bool is_read =
        read.outcome == QuicHelloOutcome::Whole || read.outcome == QuicHelloOutcome::NeedMore;
    const bool may_hide = read.opened > 0 && read.has_unopened;
    if (!of_service()) {
        return false;
    }
    if (!may_hide && (!is_read || owner_.hellos_.kept().agrees(id_of(half), half.stream))) {
        return read.outcome == QuicHelloOutcome::Whole && contradicts_given_up(half);
    }
    units_.count(UnitEvent::QuicMalformed);
    units_.drop(Reason::Overlap);
    return packet_.service.is_enforced();
}

bool QuicUnits::Datagram::contradicts_given_up(const HalfHello& half) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const std::uint64_t keys[] = {half.id, other_key_of(half)};
    const ByteView bytes = half.stream.contiguous();
    if (std::ranges::any_of(
            keys, [&](std::uint64_t key) { return !hellos.agrees_with_given_up(key, bytes); })) {
        units_.count(UnitEvent::QuicMalformed);
        units_.drop(Reason::Overlap);
    } else if (std::ranges::any_of(
                   keys, [&](std::uint64_t key) { return hellos.has_lost_given_up(key); })) {
        refuse_part();
    } else {
        return false;
    }
    if (packet_.service.is_enforced()) {
        // The client may go on with the bytes that stand.
        hellos.give_up(half.id);
    }
    return packet_.service.is_enforced();
}

bool QuicUnits::Datagram::replaces_lost(const HalfHello& half, std::uint64_t hello) noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const std::uint64_t id = id_of(half);
    if (!of_service() || !hellos.kept().may_have_lost_parts(id, packet_.now) ||
        hellos.was_judged(id, hello)) {
        return false;
    }
    refuse_part();
    return packet_.service.is_enforced();
}

bool QuicUnits::Datagram::is_half_elsewhere() const noexcept {
    QuicHellos& hellos = owner_.hellos_;
    const std::uint64_t keys[] = {id_, again()};
    return of_service() && std::ranges::any_of(keys, [&](std::uint64_t key) {
               return hellos.state_of(key) == QuicHellos::State::Half &&
                      hellos.half_of(key).path != path_;
           });
}

bool QuicUnits::Datagram::is_whole_elsewhere(const HalfHello& half) const noexcept {
    const KeptHello* const kept = owner_.hellos_.kept().find(id_of(half));
    return of_service() && kept != nullptr && kept->path != path_;
}

bool QuicUnits::Datagram::has_parts_on_path() noexcept {
    QuicHellos& hellos = owner_.hellos_;
    return hellos.kept().has_parts_on(path_) || hellos.half_on(path_) != nullptr ||
           hellos.kept().may_have_lost(path_, packet_.now);
}

}  // namespace sluice

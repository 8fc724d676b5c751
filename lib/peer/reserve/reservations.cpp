#include "lib/peer/reserve/reservations.hpp"

#include <bit>
#include <utility>

namespace sluice {
namespace {

Units& part_of(ChargedBefore& sum, Conformance conformance) noexcept {
    return conformance == Conformance::Yellow ? sum.yellow : sum.green;
}

// A name for the value among the hashes of keys.
std::uint64_t hash_of_value(std::uint64_t key, std::uint32_t value) noexcept {
    const std::uint64_t mixed = (key ^ value) * std::uint64_t{0x9E37'79B9'7F4A'7C15};
    return mixed ^ mixed >> 32;
}

}  // namespace

Reservations::Reservations(const Bounds& bounds)
    : bounds_{bounds},
      places_(bounds.askers * bounds.places),
      keys_(std::bit_ceil(4 * places_.size() + 1)),
      mask_{keys_.size() - 1} {}

ChargedBefore Reservations::reserved(std::uint64_t hash, LimitSlot slot) const noexcept {
    return keys_[find(hash, slot)].sum;
}

bool Reservations::reserves(std::uint64_t hash, LimitSlot slot,
                            std::uint32_t value) const noexcept {
    return value != 0 && reserved(hash_of_value(hash, value), slot).all() != Units{0};
}

std::optional<Reservation> Reservations::reserve(std::size_t asker, Ticket ticket,
                                                 const Reservation& reservation,
                                                 Instant now) noexcept {
    if (ticket.place >= bounds_.places) {
        return reservation;
    }
    const auto at = static_cast<std::uint32_t>(asker * bounds_.places + ticket.place);
    std::optional<Reservation> lost;
    if (places_[at].taken) {
        lost = end(at, Settled::Charged);
    }
    places_[at] = {.reservation = reservation,
                   .until = now + bounds_.lifetime,
                   .turn = ticket.turn,
                   .older = newest_,
                   .taken = true};
    (newest_ == kNone ? oldest_ : places_[newest_].newer) = at;
    newest_ = at;
    ++size_;
    add_to_key(reservation);
    return lost;
}

std::optional<Reservation> Reservations::settle(std::size_t asker, Ticket ticket,
                                                Settled how) noexcept {
    if (ticket.place >= bounds_.places) {
        return std::nullopt;
    }
    const auto at = static_cast<std::uint32_t>(asker * bounds_.places + ticket.place);
    if (!places_[at].taken || places_[at].turn != ticket.turn) {
        return std::nullopt;
    }
    return end(at, how);
}

Reservation Reservations::end(std::uint32_t at, Settled how) noexcept {
    Place& place = places_[at];
    (place.older == kNone ? oldest_ : places_[place.older].newer) = place.newer;
    (place.newer == kNone ? newest_ : places_[place.newer].older) = place.older;
    place.taken = false;
    --size_;
    take_from_key(place.reservation, how);
    return place.reservation;
}

// The place where the key is, or would be.
std::size_t Reservations::find(std::uint64_t hash, LimitSlot slot) const noexcept {
    std::size_t at = hash & mask_;
    while (keys_[at].reservations != 0 && (keys_[at].hash != hash || keys_[at].slot != slot)) {
        at = (at + 1) & mask_;
    }
    return at;
}

void Reservations::add_to_key(const Reservation& reservation) noexcept {
    Key& key = keys_[find(reservation.hash, reservation.slot)];
    key.hash = reservation.hash;
    key.slot = reservation.slot;
    ++key.reservations;
    Units& part = part_of(key.sum, reservation.conformance);
    part = part + reservation.units;
    if (reservation.value != 0) [[unlikely]] {
        add_to_value(reservation);
    }
}

void Reservations::take_from_key(const Reservation& reservation, Settled how) noexcept {
    const Units units =
        reservation.value != 0 ? take_from_value(reservation, how) : reservation.units;
    const std::size_t at = find(reservation.hash, reservation.slot);
    Key& key = keys_[at];
    Units& part = part_of(key.sum, reservation.conformance);
    part = Units{part.count() - units.count()};
    if (--key.reservations == 0) {
        close_up(at);
    }
}

void Reservations::add_to_value(const Reservation& reservation) noexcept {
    const std::uint64_t hash = hash_of_value(reservation.hash, reservation.value);
    Key& value = keys_[find(hash, reservation.slot)];
    value.hash = hash;
    value.slot = reservation.slot;
    ++value.reservations;
    value.sum.green = value.sum.green + reservation.units;
}

Units Reservations::take_from_value(const Reservation& reservation, Settled how) noexcept {
    const std::uint64_t hash = hash_of_value(reservation.hash, reservation.value);
    const std::size_t at = find(hash, reservation.slot);
    Key& value = keys_[at];
    const bool is_last = --value.reservations == 0;
    Units gone{0};
    if (is_last || how == Settled::Charged) {
        gone = std::exchange(value.sum.green, Units{0});
    }
    if (is_last) {
        close_up(at);
    }
    return gone;
}

// What lies behind a place that has become free moves up to it, unless that is before its home.
void Reservations::close_up(std::size_t free) noexcept {
    keys_[free] = {};
    for (std::size_t at = (free + 1) & mask_; keys_[at].reservations != 0; at = (at + 1) & mask_) {
        const std::size_t from_home = (at - (keys_[at].hash & mask_)) & mask_;
        if (from_home >= ((at - free) & mask_)) {
            keys_[free] = keys_[at];
            keys_[at] = {};
            free = at;
        }
    }
}

}  // namespace sluice

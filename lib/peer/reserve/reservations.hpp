#pragma once
#include "lib/bucket/meter/later_demand.hpp"
#include "lib/peer/reserve/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// A reservation is what an owner has admitted and is to charge.
struct Reservation {
    std::uint64_t hash = 0;  // of the key under the limit
    std::uint64_t load = 0;  // as in Question
    Units units;
    std::uint32_t own = 0;
    LimitSlot slot = 0;
    Conformance conformance = Conformance::Green;
    ConnectionStart connection{};  // as in Question
    // Under limits of different values, the one that is shown; 0: none, or nothing is known of it.
    std::uint32_t value = 0;
};

// What one owner has promised to all askers, and nobody has settled yet: by ticket, by key and by
// age. All memory is taken at the start.
//
// A value that several reservations of a key show is reserved by the first of them. Its units are
// kept until one of them is charged, after which the value counts, or all have been cancelled.
class Reservations {
public:
    struct Bounds {
        std::size_t askers = 1;
        std::size_t places = 64;  // of each asker's tickets
        Nanoseconds lifetime{};
    };
    explicit Reservations(const Bounds& bounds);

    // Units reserved of a key: for the next question about it, as good as charged.
    [[nodiscard]] ChargedBefore reserved(std::uint64_t hash, LimitSlot slot) const noexcept;
    // True if units are reserved of a key for that value.
    [[nodiscard]] bool reserves(std::uint64_t hash, LimitSlot slot,
                                std::uint32_t value) const noexcept;

    // What is to be charged at once: an earlier reservation of the same place, which nobody has
    // settled, or this one, where there is no such place.
    [[nodiscard]] std::optional<Reservation> reserve(std::size_t asker, Ticket ticket,
                                                     const Reservation& reservation,
                                                     Instant now) noexcept;
    // A commit or a cancel; nullopt: no such ticket is reserved (any more).
    enum class Settled : std::uint8_t { Charged, Cancelled };
    [[nodiscard]] std::optional<Reservation> settle(std::size_t asker, Ticket ticket,
                                                    Settled how = Settled::Charged) noexcept;

    // Calls charge(reservation) for the oldest ones whose time is over, `most` at the most.
    template <typename Charge>
    std::size_t expire(Instant now, std::size_t most, Charge&& charge) noexcept {
        std::size_t count = 0;
        for (; count < most && oldest_ != kNone && places_[oldest_].until <= now; ++count) {
            charge(end(oldest_, Settled::Charged));
        }
        return count;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    struct Place {
        Reservation reservation;
        Instant until{};
        std::uint32_t turn = 0;
        std::uint32_t older = kNone;
        std::uint32_t newer = kNone;
        bool taken = false;
    };
    // All that is reserved of one key, or of it for one value. Open addressing: at most half of
    // them are taken, and what is taken out is closed up.
    struct Key {
        std::uint64_t hash = 0;
        ChargedBefore sum;
        std::uint32_t reservations = 0;  // 0: free
        LimitSlot slot = 0;
    };

    [[nodiscard]] Reservation end(std::uint32_t place, Settled how) noexcept;
    [[nodiscard]] std::size_t find(std::uint64_t hash, LimitSlot slot) const noexcept;
    void add_to_key(const Reservation& reservation) noexcept;
    void take_from_key(const Reservation& reservation, Settled how) noexcept;
    void add_to_value(const Reservation& reservation) noexcept;
    // The units that are reserved for it no longer.
    [[nodiscard]] Units take_from_value(const Reservation& reservation, Settled how) noexcept;
    void close_up(std::size_t free) noexcept;

    Bounds bounds_;
    std::vector<Place> places_;  // asker by asker
    std::vector<Key> keys_;
    std::size_t mask_;
    std::uint32_t oldest_ = kNone;
    std::uint32_t newest_ = kNone;
    std::size_t size_ = 0;
};

}  // namespace sluice

#pragma once
#include "lib/base/units.hpp"
#include "lib/peer/reserve/store_question.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Decisions of the box alone about keys that it asks its cluster's store about, while the store
// does not answer. A key has the instant at which it owes nothing any more; a window counts as a
// bucket that its count fills and that its length empties. Bounded: a set of places for each hash;
// a key without a place is refused while others of its set still owe.
class AskedShares {
public:
    explicit AskedShares(std::size_t sets = 8192) : sets_(sets) {}

    // The store has said that so much is used.
    void note_level(const StoreQuestion& question, std::uint64_t used, Nanoseconds now);
    struct Decision {
        bool admitted = false;
        Nanoseconds wait{};  // of a refusal: until the key or a place has room; 0: nobody knows
    };
    // A unit by local share charges as many as there are boxes: where these are more than the
    // burst, only a key that owes nothing has room.
    [[nodiscard]] Decision decide(const StoreQuestion& question, Nanoseconds now);

private:
    struct Share {
        std::uint64_t hash = 0;
        std::int64_t paid_at = 0;  // ns; until then something is owed
        LimitSlot slot = 0;
    };
    static constexpr std::size_t kWays = 8;
    using Set = std::array<Share, kWays>;

    [[nodiscard]] Set& set_of(const StoreQuestion& question) {
        return sets_[question.hash % sets_.size()];
    }
    // The key's place, or one that is free; nullptr: there is none.
    [[nodiscard]] Share* place_of(const StoreQuestion& question, std::int64_t now);

    std::vector<Set> sets_;
};

// In how long so many units are paid back, rounded up; no more than a year.
[[nodiscard]] std::int64_t pay_time(const StoreAsking& limit, std::uint64_t units);

}  // namespace sluice

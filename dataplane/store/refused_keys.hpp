#pragma once
#include "lib/base/units.hpp"
#include "lib/peer/reserve/store_question.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// Keys that the store has refused, until they can have room again: until then it would refuse them
// likewise, so it is not asked, and a client that repeats a refused request uses up nothing of what
// other keys have. Bounded; a key that is not here is asked about.
class RefusedKeys {
public:
    // After so long the store is asked once more: it may have lost the key, or been given another
    // number of partitions.
    static constexpr Nanoseconds kAskedAgain{10'000'000'000};

    explicit RefusedKeys(std::size_t sets = 4096) : sets_(sets) {}

    // The question, asked at `since`, has no room before `until`.
    void note(const StoreQuestion& question, Nanoseconds since, Nanoseconds until);
    // How long it has none for sure; nullopt: the store has to say.
    [[nodiscard]] std::optional<Nanoseconds> wait_of(const StoreQuestion& question,
                                                     Nanoseconds now) const;
    void forget_all();

private:
    struct Key {
        std::uint64_t hash = 0;
        std::uint64_t numbers = 0;  // a hash of the limit's
        std::int64_t until = 0;     // ns
        std::int64_t asked_again = 0;
        std::uint32_t cost = 0;
        LimitSlot slot = 0;
    };
    static constexpr std::size_t kWays = 8;

    std::vector<std::array<Key, kWays>> sets_;
};

}  // namespace sluice

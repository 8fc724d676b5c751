#pragma once
#include "lib/peer/store/store_batch.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// Who speaks a batch to the store, and what it knows of the partition's clock.
struct StoreCaller {
    std::uint16_t size = 0;  // M
    std::uint16_t slot = 0;
    std::uint64_t incarnation = 0;
    // Where the clock stands at least, by the monotonic clock of the caller since it was told it
    // under `born`; 0: it was not told.
    std::uint64_t reckoned_us = 0;
    std::uint64_t born = 0;
    // The value of `born` if the partition begins with this call.
    std::uint64_t birth = 0;
    bool again = false;  // a retry that has to be confirmed by a replica
};

// The store's answer.
struct StoreAnswerTo {
    StoreOutcome outcome = StoreOutcome::Applied;
    std::uint64_t born = 0;
    std::uint64_t now_us = 0;  // the partition's clock
    std::uint64_t utc_us = 0;  // of the store
    std::uint64_t last = 0;    // batch; of who is fenced, M as the store has it
    std::uint64_t held = 0;    // of who is fenced: the incarnation that holds the slot
    std::vector<StoreLevel> levels;
};

// Doubles hold each whole number up to it; what is more counts as that.
inline constexpr std::uint64_t kMostStoreNumber = std::uint64_t{1} << 53;

}  // namespace sluice

#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/table/entry.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// Keys that a box may tell its cluster's store, so many a second and a tenth of that at once, and
// the fair part of each limit in them: the limits that tell anything have equal parts, and what
// some leave is for the others as long as half of what may be told at once is left for those that
// are within their part. A flood of one limit's keys uses up its own part alone.
class StoreBudget {
public:
    explicit StoreBudget(std::uint64_t keys_a_second);

    enum class Answer : std::uint8_t { Told, NotYet, BeyondPart };
    // One more key of the limit's is told, where it may be. NotYet: what comes back within
    // 50 ms is enough for it. BeyondPart: others' part would be used for it.
    [[nodiscard]] Answer take(LimitSlot limit, Nanoseconds now);

private:
    // In the tenth of a second that it is of; in others a limit has told nothing yet.
    struct Use {
        std::int64_t tenth = -1;
        std::uint64_t keys = 0;
    };
    void refill(Nanoseconds now);

    std::uint64_t budget_;
    std::uint64_t most_;      // in 1/10^9 keys
    std::uint64_t left_ = 0;  // likewise
    Nanoseconds refilled_{};
    std::int64_t tenth_ = -1;
    std::uint64_t limits_before_ = 1;  // that told anything in the tenth before
    std::uint64_t limits_ = 0;         // that have in this one
    std::vector<Use> uses_;            // by slot
};

}  // namespace sluice

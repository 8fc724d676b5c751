#include "lib/ledger/terms.hpp"

#include "lib/base/wide.hpp"
#include "lib/meter/own_bucket.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Debts of up to two bursts must fit a table's entry.
constexpr std::uint64_t kLongestBurst = std::uint64_t{1} << 55;  // ns

const char* why_not(const SharingQuestion& question, std::uint64_t max_unsynced) noexcept {
    const Limit* limit = gcra_of(question.limit);
    if (limit == nullptr) {
        return "its algorithm is not merged";
    }
    if (max_unsynced < question.largest_cost) {
        return "max_unsynced is below the largest cost";
    }
    if (max_unsynced > kMostMaxUnsynced) {
        return "max_unsynced would be above 2^30";
    }
    if (limit->full() / limit->parts() > kLongestBurst) {
        return "its burst lasts longer than 416 days";
    }
    if (static_cast<Wide>(max_unsynced) * (question.workers - 1) * 2 > limit->burst()) {
        return "(workers - 1) * max_unsynced would be over half of its burst";
    }
    return nullptr;
}

}  // namespace

std::uint64_t default_max_unsynced(const SharingQuestion& question) noexcept {
    const Limit* limit = gcra_of(question.limit);
    if (limit == nullptr) {
        return question.largest_cost;
    }
    const auto interval = static_cast<std::uint64_t>(question.merge_interval.count());
    const Wide earned = static_cast<Wide>(interval) * 4 * limit->parts();
    const Wide units = (earned + limit->period() - 1) / limit->period() + question.largest_cost;
    return static_cast<std::uint64_t>(std::min<Wide>(units, UINT64_MAX));
}

SharingTerms terms_for(const SharingQuestion& question) noexcept {
    const std::uint64_t max_unsynced =
        question.max_unsynced != 0 ? question.max_unsynced : default_max_unsynced(question);
    if (const char* why = why_not(question, max_unsynced)) {
        return {.why = why};
    }
    return {.sharing = Sharing::Merged,
            .max_unsynced = max_unsynced,
            .overshoot = (question.workers - 1) * max_unsynced};
}

}  // namespace sluice

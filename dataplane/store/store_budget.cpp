#include "dataplane/store/store_budget.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

constexpr std::uint64_t kParts = 1'000'000'000;  // of a key
constexpr Nanoseconds kTenth{100'000'000};

}  // namespace

StoreBudget::StoreBudget(std::uint64_t keys_a_second)
    : budget_{keys_a_second},
      most_{std::max(keys_a_second / 10, std::uint64_t{1}) * kParts},
      uses_(std::size_t{std::numeric_limits<LimitSlot>::max()} + 1) {}

void StoreBudget::refill(Nanoseconds now) {
    const auto passed = static_cast<std::uint64_t>(
        std::clamp(now - refilled_, Nanoseconds{0}, Nanoseconds{1'000'000'000}).count());
    left_ = std::min(left_ + passed * budget_, most_);
    refilled_ = now;
    if (const std::int64_t tenth = now / kTenth; tenth != tenth_) {
        limits_before_ = tenth == tenth_ + 1 ? std::max(limits_, std::uint64_t{1}) : 1;
        limits_ = 0;
        tenth_ = tenth;
    }
}

StoreBudget::Answer StoreBudget::take(LimitSlot limit, Nanoseconds now) {
    refill(now);
    Use& use = uses_[limit];
    if (use.tenth != tenth_) {
        use = {tenth_, 0};
        ++limits_;
    }
    const std::uint64_t part =
        std::max(budget_ / 10 / std::max(limits_before_, limits_), std::uint64_t{1});
    const bool is_within = use.keys < part;
    if (left_ < kParts + (is_within ? 0 : most_ / 2)) {
        return is_within ? Answer::NotYet : Answer::BeyondPart;
    }
    left_ -= kParts;
    ++use.keys;
    return Answer::Told;
}

}  // namespace sluice

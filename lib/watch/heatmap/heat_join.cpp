#include "lib/watch/heatmap/heat_join.hpp"

#include "lib/watch/heatmap/heat_plan.hpp"
#include "lib/watch/heatmap/heat_record.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

std::uint32_t added(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} + b, UINT32_MAX));
}

// Samples above the bound go; they lie by digest.
void watch_by(std::uint8_t bits, std::vector<HeatSample>& samples) {
    const auto end = std::lower_bound(
        samples.begin(), samples.end(), heat_bound(bits),
        [](const HeatSample& sample, std::uint64_t bound) { return sample.digest < bound; });
    samples.erase(end, samples.end());
}

}  // namespace

HeatJoin::Joined HeatJoin::take(std::size_t most) {
    Joined joined{.bits = bits_, .samples = {}};
    std::sort(samples_.begin(), samples_.end(),
              [](const HeatSample& a, const HeatSample& b) { return a.digest < b.digest; });
    watch_by(joined.bits, samples_);
    for (const HeatSample& sample : std::exchange(samples_, {})) {
        if (joined.samples.empty() || joined.samples.back().digest != sample.digest) {
            joined.samples.push_back(sample);
            continue;
        }
        HeatSample& same = joined.samples.back();
        same.offered = added(same.offered, sample.offered);
        same.refused = added(same.refused, sample.refused);
        same.least_left = std::min(same.least_left, sample.least_left);
    }
    while (joined.samples.size() > most && joined.bits < HeatPlan::kMostBits) {
        watch_by(++joined.bits, joined.samples);
    }
    bits_ = 0;
    return joined;
}

}  // namespace sluice

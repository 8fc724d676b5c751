#include "tests/fakes/fake_heatmap.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint64_t kHeatOrigin = 0x4EA7;
constexpr std::uint64_t kOldest = 5;  // epochs that are kept
constexpr unsigned kMany = 90;
constexpr unsigned kSome = 98;
constexpr unsigned kAll = 100;
constexpr unsigned kNamedFrom = 85;

HeatSample sample_of(unsigned key) {
    HeatSample sample{.digest = key + 1, .offered = 3, .refused = 0, .least_left = 204};
    if (key >= kSome) {
        sample.offered = 200;
        sample.refused = 180;
        sample.least_left = 0;
    } else if (key >= kMany) {
        sample.offered = 20;
        sample.least_left = 42;
    }
    return sample;
}

NamedHeatKey named_key(unsigned key) {
    const std::string address = (key >= kMany ? "203.0.113." : "10.0.0.") + std::to_string(key);
    return {key + 1,
            address,
            {{{{"ip.src", address}, {"http.host", key >= kMany ? "shop.test" : "www.test"}}}}};
}

HeatEpoch epoch_of(std::uint64_t number, const ReadHeatmap& request, const RuleSet& rules) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    HeatEpoch epoch{.number = number,
                    .generation = rules.generation,
                    .began_utc_ns = static_cast<std::int64_t>(number) * kSecond,
                    .ended_utc_ns = static_cast<std::int64_t>(number + 1) * kSecond};
    for (const Rule& rule : rules.rules) {
        const bool is_looked_at =
            std::ranges::find(request.looked_at, rule.id) != request.looked_at.end();
        if (rule.limits.empty() || (rule.heatmap != Heatmap::On && !is_looked_at)) {
            continue;
        }
        HeatLimit& limit = epoch.limits.emplace_back(
            HeatLimit{.rule = rule.id, .limit = 0, .sampling_bits = 2, .samples = {}, .names = {}});
        for (unsigned key = 0; key < kAll; ++key) {
            limit.samples.push_back(sample_of(key));
            if (key >= kNamedFrom) {
                limit.names.push_back(named_key(key));
            }
        }
    }
    return epoch;
}

}  // namespace

HeatmapEpochs fake_heatmap(const ReadHeatmap& request, const RuleSet& rules, std::int64_t utc_s) {
    const std::uint64_t latest = static_cast<std::uint64_t>(utc_s) - 1;
    HeatmapEpochs found{.origin = kHeatOrigin, .latest = latest, .epochs = {}};
    const std::uint64_t after = request.origin == kHeatOrigin ? request.after : 0;
    for (std::uint64_t number = std::max(after + 1, latest - kOldest); number <= latest; ++number) {
        found.epochs.push_back(epoch_of(number, request, rules));
    }
    return found;
}

}  // namespace sluice

#include "lib/rules/sound_overrides.hpp"

#include "lib/rules/network_bans.hpp"
#include "lib/rules/override_ranges.hpp"

#include <algorithm>
#include <variant>

namespace sluice {
namespace {

// True if a bucket of the one limit is one of the other too: all but rates, bursts and counts is
// the same.
struct SameSchema {
    const AnyLimit& other;

    bool operator()(const TokenBucketLimit&) const noexcept { return true; }
    bool operator()(const LeakyBucketLimit&) const noexcept { return true; }
    bool operator()(const ColorLimit&) const noexcept { return false; }
    bool operator()(const PenaltyLimit&) const noexcept { return false; }
    bool operator()(auto window) const noexcept {
        const auto& limit = std::get<decltype(window)>(other);
        window.numbers.count = limit.numbers.count;
        return window == limit;
    }
};

bool numbers_hold(const LimitOverride& numbers, const Rule& rule) noexcept {
    if (numbers.limit >= rule.limits.size()) {
        return false;
    }
    const AnyLimit& limit = rule.limits[numbers.limit].limit;
    return algorithm_of(numbers.numbers) == algorithm_of(limit) &&
           std::visit(SameSchema{limit}, numbers.numbers);
}

bool keys_hold(const KeyOverrides& keys, const Overrides& overrides) noexcept {
    std::size_t begin = 0;
    for (const KeyOverrides::Row& row : keys.rows) {
        if (row.end < begin || row.end > keys.bytes.size() || row.end - begin > kMaxKeySize ||
            row.plan >= overrides.plans.size()) {
            return false;
        }
        begin = row.end;
    }
    return begin == keys.bytes.size() && keys.rows.size() <= kMaxOverrides;
}

// Only keys that are one address have any.
bool networks_hold(const Rule& rule) noexcept {
    const std::vector<KeyOverrides>& networks = rule.overrides->networks;
    for (std::size_t i = 0; i < networks.size(); ++i) {
        const GroupingKey& key = rule.keys[i];
        const bool is_address = key.size() == 1 && key.front().is_address();
        if (!networks[i].rows.empty() &&
            (!is_address || !are_sound_networks(networks[i], *rule.overrides))) {
            return false;
        }
    }
    return true;
}

// Likewise.
bool ranges_hold(const Rule& rule) noexcept {
    const auto& ranges = rule.overrides->ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const GroupingKey& key = rule.keys[i];
        const bool is_address = key.size() == 1 && key.front().is_address();
        if (!ranges[i].empty() && (!is_address || !are_sound_ranges(ranges[i], *rule.overrides))) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool overrides_hold(const Rule& rule) noexcept {
    if (rule.overrides == nullptr) {
        return true;
    }
    const Overrides& all = *rule.overrides;
    const auto plan_holds = [&](const OverridePlan& plan) {
        return plan.first <= all.numbers.size() && plan.count <= all.numbers.size() - plan.first;
    };
    return all.keys.size() == rule.keys.size() &&
           (all.networks.empty() || all.networks.size() == rule.keys.size()) &&
           std::all_of(all.numbers.begin(), all.numbers.end(),
                       [&](const LimitOverride& one) { return numbers_hold(one, rule); }) &&
           std::all_of(all.plans.begin(), all.plans.end(), plan_holds) &&
           std::all_of(all.keys.begin(), all.keys.end(),
                       [&](const KeyOverrides& keys) { return keys_hold(keys, all); }) &&
           std::all_of(all.networks.begin(), all.networks.end(),
                       [&](const KeyOverrides& keys) { return keys_hold(keys, all); }) &&
           networks_hold(rule) && (all.ranges.empty() || all.ranges.size() == rule.keys.size()) &&
           ranges_hold(rule);
}

}  // namespace sluice

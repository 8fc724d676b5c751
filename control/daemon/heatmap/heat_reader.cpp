#include "control/daemon/heatmap/heat_reader.hpp"

#include "control/daemon/api/api.hpp"
#include "control/heatmap/limit_terms.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr int kMostEpochReads = 8;  // of a second

bool keeps_map(const RuleView& view, const std::string& rule, unsigned limit) {
    const RuleSummary* found = find_rule(view.rules, rule);
    return found != nullptr && limit < found->limits.size();
}

}  // namespace

bool always_has_map(const RuleSummary& rule) {
    return std::ranges::any_of(rule.settings, [](const NamedText& setting) {
        return setting.name == "heatmap" && setting.value == "on";
    });
}

void HeatReader::tick(Heatmaps::Clock::time_point now, std::int64_t utc_ns) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    constexpr std::int64_t kSlack = 2;  // seconds that an epoch may come late
    const std::shared_ptr<const RuleView> view = rules_.view();
    std::vector<std::string> looked_at = maps_.looked_at(now);
    forget_others(*view);
    if (!looked_at.empty() || std::ranges::any_of(view->rules, always_has_map)) {
        read(*view, std::move(looked_at));
    }
    maps_.store().pass(utc_ns / kSecond - kSlack);
}

void HeatReader::read(const RuleView& view, std::vector<std::string> looked_at) {
    for (int reads = 0; reads < kMostEpochReads; ++reads) {
        const Result<HeatmapEpochs> found = ask_for<HeatmapEpochs>(
            link_, ReadHeatmap{.origin = origin_, .after = after_, .looked_at = looked_at});
        if (!found) {
            maps_.set_failed(found.error().what);
            return;
        }
        origin_ = found->origin;
        for (const HeatEpoch& epoch : found->epochs) {
            take(epoch, view);
            after_ = epoch.number;
        }
        if (found->epochs.empty() || after_ >= found->latest) {
            break;
        }
    }
    maps_.set_failed("");
}

void HeatReader::take(const HeatEpoch& epoch, const RuleView& view) {
    const std::int64_t second = clock_.second_of(epoch);
    if (epoch.generation != view.generation) {
        return;
    }
    for (const HeatLimit& limit : epoch.limits) {
        const RuleSummary* rule = find_rule(view.rules, limit.rule);
        if (rule == nullptr || limit.limit >= rule->limits.size()) {
            continue;
        }
        const LimitSummary& summary = rule->limits[limit.limit];
        maps_.store().add({.second = second,
                           .terms = summary.key + "; " + summary.text,
                           .own_step = heat_terms(summary).step},
                          limit);
    }
}

void HeatReader::forget_others(const RuleView& view) {
    if (generation_ != view.generation) {
        generation_ = view.generation;
        maps_.store().keep(
            [&](const std::string& rule, unsigned limit) { return keeps_map(view, rule, limit); });
    }
}

}  // namespace sluice

#include "control/daemon/heatmap/heat_reader.hpp"

#include "control/daemon/api/api.hpp"
#include "control/heatmap/limit_terms.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr int kMostEpochReads = 8;  // of a second

}  // namespace

bool always_has_map(const RuleSummary& rule) {
    return std::ranges::any_of(rule.settings, [](const NamedText& setting) {
        return setting.name == "heatmap" && setting.value == "on";
    });
}

std::optional<std::string> heat_terms_of(const RuleView& view, const std::string& rule,
                                         unsigned limit) {
    const RuleSummary* const found = find_rule(view.rules, rule);
    if (found == nullptr || limit >= found->limits.size()) {
        return std::nullopt;
    }
    return found->limits[limit].key + "; " + found->limits[limit].text;
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
    before_ = view;
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

// The set that an epoch is of was in force since the last turn, be it for a moment.
bool HeatReader::is_kept_since(const HeatEpoch& epoch, const HeatLimit& limit,
                               const RuleView& view) const {
    return epoch.generation == view.generation ||
           (before_ != nullptr && heat_terms_of(*before_, limit.rule, limit.limit) ==
                                      heat_terms_of(view, limit.rule, limit.limit));
}

void HeatReader::take(const HeatEpoch& epoch, const RuleView& view) {
    constexpr double kMostOfOne = 2;
    const std::int64_t second = clock_.second_of(epoch);
    const double seconds = static_cast<double>(epoch.ended_utc_ns - epoch.began_utc_ns) / 1e9;
    for (const HeatLimit& limit : epoch.limits) {
        const std::optional<std::string> terms = heat_terms_of(view, limit.rule, limit.limit);
        if (!terms || !is_kept_since(epoch, limit, view)) {
            continue;
        }
        const LimitSummary& summary = find_rule(view.rules, limit.rule)->limits[limit.limit];
        maps_.store().add({.second = second,
                           .terms = *terms,
                           .own_step = heat_terms(summary).step,
                           .seconds = std::clamp(seconds, 0.0, kMostOfOne)},
                          limit);
    }
}

void HeatReader::forget_others(const RuleView& view) {
    if (generation_ != view.generation) {
        generation_ = view.generation;
        maps_.store().keep([&](const std::string& rule, unsigned limit) {
            return heat_terms_of(view, rule, limit).has_value();
        });
    }
}

}  // namespace sluice

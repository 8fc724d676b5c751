#include "control/daemon/live/live_history.hpp"

#include "control/daemon/live/live_json.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr auto kTotalColumns = std::to_array<std::string_view>(
    {"offered_pps", "offered_bps", "passed_pps", "passed_bps", "refused_pps", "refused_bps",
     "would_refuse_pps", "answered_pps"});
constexpr auto kRuleColumns = std::to_array<std::string_view>(
    {"matched_pps", "matched_bps", "refused_pps", "would_refuse_pps"});

float as_float(LiveRate rate) {
    return rate ? static_cast<float>(*rate) : kNoNumber;
}

std::array<float, kTotalColumns.size()> row_of(const LiveRates& rates) {
    return {as_float(rates.offered.pps),      as_float(rates.offered.bps),
            as_float(rates.passed.pps),       as_float(rates.passed.bps),
            as_float(rates.refused.pps),      as_float(rates.refused.bps),
            as_float(rates.would_refuse.pps), as_float(rates.answered.pps)};
}
std::array<float, kRuleColumns.size()> row_of(const LiveRule& rule) {
    return {as_float(rule.matched.pps), as_float(rule.matched.bps), as_float(rule.refused),
            as_float(rule.would_refuse.pps)};
}

template <std::size_t kColumns>
Json columns_json(const SecondRing<kColumns>& ring,
                  const std::array<std::string_view, kColumns>& names, std::int64_t to,
                  std::int64_t seconds) {
    std::array<Json, kColumns> columns;
    columns.fill(Json::array());
    for (std::int64_t second = to - seconds + 1; second <= to; ++second) {
        const auto row = ring.at(second);
        for (std::size_t i = 0; i < kColumns; ++i) {
            columns[i].push_back(rate_json(row[i]));
        }
    }
    Json by_name = Json::object();
    for (std::size_t i = 0; i < kColumns; ++i) {
        by_name[std::string{names[i]}] = std::move(columns[i]);
    }
    return by_name;
}

}  // namespace

void LiveHistory::put(const LiveSnapshot& snapshot) {
    totals_.put(snapshot.second, snapshot.rates ? row_of(*snapshot.rates) : Totals::no_row());
    hold_busiest(snapshot);
    for (const LiveRule& rule : snapshot.rules) {
        const auto found = held_.find(rule.id);
        if (found != held_.end()) {
            found->second.ring.put(snapshot.second, row_of(rule));
        }
    }
}

void LiveHistory::hold_busiest(const LiveSnapshot& snapshot) {
    std::vector<const LiveRule*> busy;
    for (const LiveRule& rule : snapshot.rules) {
        if (rule.matched.pps.value_or(0) > 0) {
            busy.push_back(&rule);
        }
    }
    const std::size_t count = std::min(kBusy, busy.size());
    std::partial_sort(
        busy.begin(), busy.begin() + static_cast<std::ptrdiff_t>(count), busy.end(),
        [](const LiveRule* a, const LiveRule* b) { return *a->matched.pps > *b->matched.pps; });
    for (const LiveRule* rule : std::span{busy}.first(count)) {
        hold(*rule, snapshot.second, snapshot.second);
    }
}

// The rule that was wanted longest ago makes room. A rule that is new here begins with its minute.
void LiveHistory::hold(const LiveRule& rule, std::int64_t second, std::int64_t until) {
    const auto found = held_.find(rule.id);
    if (found != held_.end()) {
        found->second.wanted_until = std::max(found->second.wanted_until, until);
        return;
    }
    if (held_.size() >= kLongRules) {
        held_.erase(std::ranges::min_element(
            held_, {}, [](const auto& one) { return one.second.wanted_until; }));
    }
    Held& held = held_[rule.id];
    held.wanted_until = until;
    for (std::size_t i = 0; i < kSparkSeconds; ++i) {
        const std::int64_t at = second - static_cast<std::int64_t>(kSparkSeconds - 1 - i);
        if (at >= 0 && at < second) {
            held.ring.put(at, {rule.spark[i], kNoNumber, kNoNumber, kNoNumber});
        }
    }
    held.ring.put(second, row_of(rule));
}

Json LiveHistory::totals(std::int64_t to, std::int64_t seconds) const {
    return columns_json(totals_, kTotalColumns, to, seconds);
}

std::optional<Json> LiveHistory::of_rule(const LiveSnapshot& snapshot, const std::string& id,
                                         std::int64_t seconds) {
    const auto rule = std::ranges::find(snapshot.rules, id, &LiveRule::id);
    if (rule == snapshot.rules.end()) {
        return std::nullopt;
    }
    hold(*rule, snapshot.second, snapshot.second + kAskedFor);
    return columns_json(held_.at(id).ring, kRuleColumns, snapshot.second, seconds);
}

void carry_sparks(const LiveSnapshot* before, LiveSnapshot& snapshot) {
    std::unordered_map<std::string_view, const LiveRule*> by_id;
    const std::int64_t moved = before == nullptr ? 0 : snapshot.second - before->second;
    for (std::size_t i = 0; i < snapshot.rules.size(); ++i) {
        LiveRule& rule = snapshot.rules[i];
        const LiveRule* former = nullptr;
        if (before != nullptr && i < before->rules.size() && before->rules[i].id == rule.id) {
            former = &before->rules[i];
        } else if (before != nullptr) {
            if (by_id.empty()) {
                for (const LiveRule& one : before->rules) {
                    by_id.emplace(one.id, &one);
                }
            }
            const auto found = by_id.find(rule.id);
            former = found == by_id.end() ? nullptr : found->second;
        }
        rule.spark.fill(kNoNumber);
        if (former != nullptr && moved > 0 && moved < static_cast<std::int64_t>(kSparkSeconds)) {
            std::copy(former->spark.begin() + moved, former->spark.end(), rule.spark.begin());
        }
        rule.spark.back() = as_float(rule.matched.pps);
    }
}

}  // namespace sluice

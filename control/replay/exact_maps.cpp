#include "control/replay/exact_maps.hpp"

#include "control/heatmap/heat_json.hpp"
#include "lib/watch/heatmap/heat_buckets.hpp"
#include "lib/watch/heatmap/heat_join.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t kLongestColumn = kColumnSteps.back();  // seconds
constexpr std::size_t kMostColumns = 100'000;                 // shown: the newest
constexpr std::int64_t kLongestPause = 86'400;                // seconds that are drawn as nobody

// The rule of the summaries that a loaded one came from.
const RuleSummary* summary_of(const ReplayRules& rules, const std::string& id) {
    const auto found = std::ranges::find(rules.summaries, id, &RuleSummary::id);
    return found == rules.summaries.end() ? nullptr : &*found;
}

}  // namespace

ExactMaps::ExactMaps(const ReplayRules& rules, std::size_t workers, Terms terms)
    : terms_{std::move(terms)} {
    const LoadedSet& set = rules.loaded.set();
    auto plan = std::make_shared<HeatPlan>();
    plan->load = set.load;
    for (std::uint32_t i = 0; i < set.rules.size(); ++i) {
        const LoadedRule& rule = set.rules[i];
        const RuleSummary* summary =
            terms_.rule.empty() || terms_.rule == rule.id ? summary_of(rules, rule.id) : nullptr;
        for (std::uint32_t limit = 0; summary != nullptr && limit < rule.limits.size(); ++limit) {
            if (plan->limits.size() == HeatPlan::kMostLimits || limit >= summary->limits.size()) {
                break;
            }
            plan->limits.push_back({.rule = rule.id,
                                    .index = set.meter_plan.rules[i].first_limit + limit,
                                    .limit = static_cast<std::uint8_t>(limit),
                                    .identity = rule.limits[limit].identity,
                                    .bits = 0});
            const unsigned step = std::max(heat_terms(summary->limits[limit]).step, terms_.step);
            limits_.push_back({*summary, limit, HeatSeries{step, terms_.columns, kAll}});
        }
    }
    plan_ = std::move(plan);
    for (std::size_t i = 0; i < workers; ++i) {
        tables_.push_back(std::make_unique<HeatTable>(terms_.records, kMaxLimits));
    }
    begin_second();
}

std::vector<HeatTable*> ExactMaps::tables() const {
    std::vector<HeatTable*> tables;
    for (const auto& table : tables_) {
        tables.push_back(table.get());
    }
    return tables;
}

void ExactMaps::begin_second() {
    for (const auto& table : tables_) {
        table->begin({.plan = plan_, .epoch = 1, .names = terms_.names});
    }
}

void ExactMaps::reach(Nanoseconds utc) {
    const std::int64_t second = utc.count() / 1'000'000'000;
    if (!first_) {
        first_ = second_ = second;
        // The columns that the capture begins in are whole: nobody came before.
        add_nobody(second - second % kLongestColumn, second);
    }
    if (second > second_) {
        read_second();
        add_nobody(second - second_ > kLongestPause ? second : second_ + 1, second);
        second_ = second;
    }
}

void ExactMaps::finish() {
    if (!first_) {
        return;
    }
    read_second();
    const std::int64_t end = second_ - second_ % kLongestColumn + kLongestColumn;
    add_nobody(second_ + 1, end);
    for (OfLimit& limit : limits_) {
        limit.series.pass(end);
    }
}

void ExactMaps::read_second() {
    std::vector<HeatJoin> joins(limits_.size());
    std::vector<std::uint64_t> left_out(limits_.size());
    for (const auto& table : tables_) {
        for (std::size_t place = 0; place < limits_.size(); ++place) {
            joins[place].watched_by(table->bits(place));
            left_out[place] += table->left_out(place);
        }
        table->for_each([&](std::uint32_t place, const HeatRecord& record) {
            joins[place].add(record.sample());
        });
    }
    for (std::size_t place = 0; place < limits_.size(); ++place) {
        HeatJoin::Joined joined = joins[place].take(kAll);
        OfLimit& limit = limits_[place];
        // Keys were picked by another digest than the maps have: they are one of so many all the
        // same.
        for (HeatSample& sample : joined.samples) {
            sample.digest >>= terms_.bits;
        }
        limit.series.add(second_, joined.samples, joined.bits + terms_.bits, left_out[place]);
        terms_.see(limit.limit, joined.samples);
        limit.met = limit.met || !joined.samples.empty();
        is_exact_ = is_exact_ && joined.bits == 0 && left_out[place] == 0;
    }
    begin_second();
}

void ExactMaps::add_nobody(std::int64_t from, std::int64_t to) {
    for (OfLimit& limit : limits_) {
        for (std::int64_t second = from; second < to; ++second) {
            limit.series.add(second, {}, 0, 0);
        }
    }
}

Json ExactMaps::json_of(const OfLimit& limit) const {
    const unsigned step = limit.series.step();
    const HeatTerms terms = heat_terms(limit.rule.limits[limit.limit]);
    const std::int64_t to = second_ - second_ % step + step;
    const auto most = static_cast<std::int64_t>(std::min(terms_.columns, kMostColumns));
    const std::int64_t from = std::max(*first_ - *first_ % step, to - most * step);
    std::vector<std::optional<HeatColumn>> columns;
    for (std::int64_t at = from; at < to; at += step) {
        const HeatColumn* column = limit.series.at(at);
        columns.push_back(column == nullptr ? std::nullopt : std::optional{*column});
    }
    Json map{{"rule", limit.rule.id}};
    map.update(heat_maps_json({.rule = limit.rule,
                               .limit = limit.limit,
                               .step = step,
                               .steps = {step},
                               .from = from,
                               .to = to},
                              columns, heat_reading(heat_numbers(columns, step, terms), terms)));
    map["why_empty"] = nullptr;
    return map;
}

Json ExactMaps::json() const {
    Json maps = Json::array();
    for (const OfLimit& limit : limits_) {
        if (limit.met) {
            maps.push_back(json_of(limit));
        }
    }
    return maps;
}

}  // namespace sluice

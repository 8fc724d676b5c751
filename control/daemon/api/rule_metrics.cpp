#include "control/daemon/api/rule_metrics.hpp"

#include "control/active_json.hpp"
#include "control/daemon/api/stat_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// The samples of one family side by side, rule by rule.
void put_counts(MetricsWriter& text, const std::vector<RuleStats>& rules, bool detailed) {
    std::string_view family;
    const auto put_family = [&](const StatMetric& metric) {
        family = metric.family;
        text.family(family, fmt::format(fmt::runtime(metric.help), kDetailedRules, kOtherRules));
        for (const RuleStats& rule : rules) {
            for_each_stat_row<RuleCounts>([&](const auto& row) {
                const std::uint64_t count = rule.counts.*row.member;
                if (row.metric.family != family ||
                    (count == 0 && row.metric.samples != StatSamples::All)) {
                    return;
                }
                if (row.metric.label.empty()) {
                    text.sample({{"rule", rule.id}}, count);
                } else {
                    text.sample({{"rule", rule.id}, {row.metric.label, row.metric.value}}, count);
                }
            });
        }
    };
    for_each_stat_row<RuleCounts>([&](const auto& row) {
        if (row.metric.family != family &&
            (row.metric.samples == StatSamples::Detailed) == detailed) {
            put_family(row.metric);
        }
    });
}

// Overshoot of rules whose keys several workers share, once a key was seen beyond its limit.
void put_overshoot(MetricsWriter& text, std::vector<RuleStats> rules) {
    std::erase_if(rules, [](const RuleStats& rule) { return rule.overshoot.measured == 0; });
    put_numbers_of_each(
        text, rules, [](const RuleStats& rule) -> const OvershootStats& { return rule.overshoot; },
        [&](const RuleStats& rule, const std::string& value) {
            text.sample({{"rule", rule.id}}, value);
        });
}

}  // namespace

// A thousand rules are shown in few series: `admitted` is always there and tells that the rule is;
// every other count of a rule appears with its first event, and stands for 0 until then.
void put_rule_counts(MetricsWriter& text, const std::vector<RuleStats>& rules) {
    put_counts(text, rules, false);
    text.family("sluice_rule_open_connections",
                "Connections that are open, as the limit of a rule that counts most of them sees "
                "it.");
    for (const RuleStats& rule : rules) {
        if (rule.open_connections) {
            text.sample({{"rule", rule.id}}, *rule.open_connections);
        }
    }
    put_overshoot(text, rules);
}

// Rules that enforce are the rest: nearly all of them, on most boxes.
void put_rule_modes(MetricsWriter& text, const RuleView& view, Nanoseconds utc) {
    std::array<std::size_t, kModeNames.size()> rules{};
    for (const RuleSummary& rule : view.rules) {
        ++rules[static_cast<std::size_t>(rule.mode)];
    }
    text.family("sluice_rules", "Rules by the mode they run in.");
    text.by_name("mode", rules, kModeNames);
    text.family("sluice_rule_mode_info", "Rules that run in another mode than `enforce`.");
    for (const RuleSummary& rule : view.rules) {
        if (rule.mode != Mode::Enforce) {
            text.sample(
                {{"rule", rule.id}, {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]}}, 1);
        }
    }
    text.family("sluice_rule_inactive_info",
                "Rules that judge nothing now, by the hours in which they are active.");
    for (const RuleSummary& rule : view.rules) {
        if (is_inactive(rule, utc)) {
            text.sample({{"rule", rule.id}}, 1);
        }
    }
}

void put_service_modes(MetricsWriter& text, const RuleView& view) {
    text.family("sluice_service_info", "Declared services, by the mode they run in.");
    for (const ServiceSummary& service : view.services) {
        text.sample(
            {{"service", service.id},
             {"protocol", kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]},
             {"mode", kModeNames[static_cast<std::size_t>(service.mode)]}},
            1);
    }
}

namespace {

// Rules of which more is told: the others are summed up in the last.
std::vector<RuleStats> detailed(const std::vector<RuleStats>& rules) {
    std::vector<RuleStats> told;
    RuleStats others{.id = std::string{kOtherRules}};
    for (const RuleStats& rule : rules) {
        if (told.size() < kDetailedRules) {
            told.push_back(rule);
        } else {
            for_each_stat_row<RuleCounts>(
                [&](const auto& row) { others.counts.*row.member += rule.counts.*row.member; });
            others.entries += rule.entries;
        }
    }
    if (rules.size() > told.size()) {
        told.push_back(std::move(others));
    }
    return told;
}

void put_limits(MetricsWriter& text, const std::vector<RuleStats>& rules) {
    text.family("sluice_limit_refused_packets_total",
                "Packets that a limit refused, of rules with several limits or tiers; one that is "
                "absent has refused none.");
    std::size_t limits = 0;
    std::uint64_t others = 0;
    for (const RuleStats& rule : rules) {
        for (const LimitStats& limit : rule.limits) {
            if (limits++ >= kDetailedLimits) {
                others += limit.refused;
            } else if (limit.refused != 0) {
                text.sample({{"rule", rule.id}, {"limit", limit.name}}, limit.refused);
            }
        }
    }
    if (others != 0) {
        text.sample({{"rule", kOtherRules}, {"limit", ""}}, others);
    }
}

}  // namespace

void put_rule_details(MetricsWriter& text, const std::vector<RuleStats>& rules) {
    const std::vector<RuleStats> told = detailed(rules);
    put_counts(text, told, true);
    text.family("sluice_rule_table_entries",
                "Live buckets of a rule in the tables of all workers, of the same rules.");
    for (const RuleStats& rule : told) {
        text.sample({{"rule", rule.id}}, rule.entries);
    }
    put_limits(text, rules);
}

}  // namespace sluice

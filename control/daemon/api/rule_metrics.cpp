#include "control/daemon/api/rule_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto kRuleFamilies = std::to_array<MetricFamily<RuleStats>>({
    {"sluice_rule_exempted_packets_total",
     "Of the packets that a rule admitted, those whose key is exempt.",
     number<&RuleStats::exempted>},
    {"sluice_rule_banned_packets_total",
     "Of the packets that exceeded a rule, those whose key is banned.", number<&RuleStats::banned>},
    {"sluice_rule_bans_total", "How often a rule has put a key into its penalty box.",
     number<&RuleStats::bans>},
    {"sluice_rule_early_dropped_packets_total", "Packets that the kernel dropped for a rule.",
     number<&RuleStats::early_dropped>},
});

// Of rules with limits of the algorithm `concurrency`.
constexpr auto kOpenConnectionFamilies = std::to_array<MetricFamily<RuleStats>>({
    {"sluice_rule_open_connections",
     "Connections that are open, as the limit of a rule that counts most of them sees it.",
     [](const RuleStats& rule) { return fmt::to_string(rule.open_connections.value_or(0)); }},
});

// Of rules whose keys several workers share, once a key was seen beyond its limit.
constexpr auto kMergedRuleFamilies = std::to_array<MetricFamily<RuleStats>>({
    {"sluice_rule_max_unsynced_units",
     "What a worker may have charged beyond the last total it holds of a key.",
     number<&RuleStats::max_unsynced>},
    {"sluice_rule_promised_overshoot_units",
     "What a key may be admitted beyond its limit, at most, since workers share it.",
     number<&RuleStats::promised_overshoot>},
    {"sluice_rule_measured_overshoot_units",
     "The most by which the total of a key was seen beyond its limit.",
     number<&RuleStats::measured_overshoot>},
});

}  // namespace

// A thousand rules are shown in few series: `admitted` is always there and tells that the rule is;
// every other count of a rule appears with its first event, and stands for 0 until then.
void put_rule_counts(MetricsWriter& text, const std::vector<RuleStats>& rules) {
    text.family("sluice_rule_packets_total",
                "Packets that a rule matched, by their conformance; an outcome that is absent has "
                "none.");
    for (const RuleStats& rule : rules) {
        text.sample({{"rule", rule.id}, {"outcome", "admitted"}}, rule.admitted);
        if (rule.exceeded != 0) {
            text.sample({{"rule", rule.id}, {"outcome", "exceeded"}}, rule.exceeded);
        }
        if (rule.skipped != 0) {
            text.sample({{"rule", rule.id}, {"outcome", "skipped"}}, rule.skipped);
        }
    }
    const auto sample = [&](const RuleStats& rule, const std::string& value) {
        text.sample({{"rule", rule.id}}, value);
    };
    put(text, kRuleFamilies, rules, [&](const RuleStats& rule, const std::string& value) {
        if (value != "0") {
            sample(rule, value);
        }
    });
    put(text, kOpenConnectionFamilies, rules, [&](const RuleStats& rule, const std::string& value) {
        if (rule.open_connections) {
            sample(rule, value);
        }
    });
    put(text, kMergedRuleFamilies, rules, [&](const RuleStats& rule, const std::string& value) {
        if (rule.measured_overshoot != 0) {
            sample(rule, value);
        }
    });
}

// Rules that enforce are the rest: nearly all of them, on most boxes.
void put_rule_modes(MetricsWriter& text, const RuleView& view) {
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
            others.admitted_bytes += rule.admitted_bytes;
            others.exceeded_bytes += rule.exceeded_bytes;
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
    text.family("sluice_rule_bytes_total",
                fmt::format("Bytes of the frames of packets that a rule matched, by their "
                            "conformance, of the first {} rules of the file; rule=\"{}\": of all "
                            "others together. An outcome that is absent has none.",
                            kDetailedRules, kOtherRules));
    for (const RuleStats& rule : told) {
        if (rule.admitted_bytes != 0) {
            text.sample({{"rule", rule.id}, {"outcome", "admitted"}}, rule.admitted_bytes);
        }
        if (rule.exceeded_bytes != 0) {
            text.sample({{"rule", rule.id}, {"outcome", "exceeded"}}, rule.exceeded_bytes);
        }
    }
    text.family("sluice_rule_table_entries",
                "Live buckets of a rule in the tables of all workers, of the same rules.");
    for (const RuleStats& rule : told) {
        text.sample({{"rule", rule.id}}, rule.entries);
    }
    put_limits(text, rules);
}

}  // namespace sluice

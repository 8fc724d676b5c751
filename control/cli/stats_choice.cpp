#include "control/cli/stats_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sluice {
namespace {

bool has_matched(const Json& rule) {
    return count_at(rule, "matched") != 0 || rule.value("early_dropped", std::uint64_t{0}) != 0;
}

}  // namespace

std::string choose_rules(Json& stats, const StatsChoice& choice) {
    const Json& all = stats.at("rules");
    for (const std::string& id : choice.rules) {
        const bool is_there = std::any_of(all.begin(), all.end(),
                                          [&](const Json& rule) { return rule.at("id") == id; });
        if (!is_there) {
            return id;
        }
    }
    Json chosen = Json::array();
    std::uint64_t left_out = 0;
    for (const Json& rule : all) {
        const auto id = text_at(rule, "id");
        if (!choice.rules.empty() &&
            std::find(choice.rules.begin(), choice.rules.end(), id) == choice.rules.end()) {
            continue;
        }
        if (choice.nonzero && !has_matched(rule)) {
            ++left_out;
            continue;
        }
        chosen.push_back(rule);
    }
    stats["rules"] = std::move(chosen);
    if (choice.nonzero) {
        stats["rules_left_out"] = left_out;
    }
    if (choice.rules_alone && !choice.rules.empty()) {
        stats.erase("verdicts");
        stats.erase("verdict_bytes");
        stats.erase("reasons");
        for (const char* others : {"connections", "connection_events", "asks", "ask_events"}) {
            stats[others] = Json::object();
        }
    }
    return {};
}

}  // namespace sluice

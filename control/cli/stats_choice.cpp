#include "control/cli/stats_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sluice {
namespace {

bool has_matched(const Json& rule) {
    return count_at(rule, "matched") != 0 || rule.value("early_dropped", std::uint64_t{0}) != 0 ||
           rule.value("banned_sources", std::uint64_t{0}) != 0;
}

bool has_id(const Json& all, const std::string& id) {
    return std::any_of(all.begin(), all.end(), [&](const Json& one) { return one.at("id") == id; });
}

bool is_among(const std::vector<std::string>& ids, const Json& one) {
    return std::find(ids.begin(), ids.end(), text_at(one, "id")) != ids.end();
}

// The chosen services: by id, as rules are.
Json services_of(const Json& stats, const StatsChoice& choice) {
    Json chosen = Json::array();
    for (const Json& service : stats.at("services")) {
        if (choice.rules.empty() || is_among(choice.rules, service)) {
            chosen.push_back(service);
        }
    }
    return chosen;
}

// Leaves the chosen rules and services as they stand, and nothing of the box.
void erase_others(Json& stats) {
    for (const char* of_all : {"verdicts", "verdict_bytes", "reasons", "would_refuse"}) {
        stats.erase(of_all);
    }
    for (const char* others :
         {"connections", "connection_events", "unread_connections", "asks", "ask_events"}) {
        stats[others] = Json::object();
    }
}

}  // namespace

std::string choose_rules(Json& stats, const StatsChoice& choice) {
    const Json& all = stats.at("rules");
    for (const std::string& id : choice.rules) {
        if (!has_id(all, id) && !has_id(stats.at("services"), id)) {
            return id;
        }
    }
    Json chosen = Json::array();
    std::uint64_t left_out = 0;
    for (const Json& rule : all) {
        if (!choice.rules.empty() && !is_among(choice.rules, rule)) {
            continue;
        }
        if (choice.nonzero && !has_matched(rule)) {
            ++left_out;
            continue;
        }
        chosen.push_back(rule);
    }
    stats["services"] = services_of(stats, choice);
    stats["rules"] = std::move(chosen);
    if (choice.nonzero) {
        stats["rules_left_out"] = left_out;
    }
    if (choice.rules_alone && !choice.rules.empty()) {
        erase_others(stats);
    }
    return {};
}

}  // namespace sluice

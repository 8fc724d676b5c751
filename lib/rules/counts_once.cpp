#include "lib/rules/counts_once.hpp"

#include <algorithm>

namespace sluice {
namespace {

// A limit of open connections counts SYNs, each once.
bool counts_of_connections_hold(const Rule& rule) noexcept {
    const auto counts_open = [](const MeteredLimit& limit) {
        return algorithm_of(limit.limit) == Algorithm::Concurrency;
    };
    return std::none_of(rule.limits.begin(), rule.limits.end(), counts_open) ||
           (rule.cost == 1 && rule.path_costs.empty() && !rule.rejected_spend &&
            std::all_of(rule.limits.begin(), rule.limits.end(), [&](const MeteredLimit& limit) {
                return !counts_open(limit) || limit.per == Per::Connection;
            }));
}

// A limit of different values has one field to read them of; each counts once.
bool counts_of_values_hold(const Rule& rule) noexcept {
    return std::all_of(rule.limits.begin(), rule.limits.end(), [&](const MeteredLimit& limit) {
        if (!needs_value(limit.limit)) {
            return limit.of.empty();
        }
        return limit.of.size() == 1 && limit.per != Per::Byte && rule.cost == 1 &&
               rule.path_costs.empty() && !rule.rejected_spend;
    });
}

}  // namespace

const char* fault_of_what_counts_once(const Rule& rule) noexcept {
    if (!counts_of_connections_hold(rule)) {
        return "what it counts is no open connection";
    }
    return counts_of_values_hold(rule) ? nullptr : "the values that it counts are none of a field";
}

}  // namespace sluice

#pragma once
#include "lib/policy/compile.hpp"

#include <string_view>

namespace sluice {

// How workers share the buckets of a rule's keys, in a word of the API. Empty: it has no limits.
[[nodiscard]] inline std::string_view placement_of(const RuleSummary& rule) {
    if (rule.limits.empty()) {
        return {};
    }
    const std::string_view scope = rule.limits.front().scope;
    return scope == "merged"  ? "merged"
           : scope == "asked" ? "shared"
           : scope == "owner" ? "handed_over"
                              : "local";
}

}  // namespace sluice

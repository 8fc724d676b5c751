#pragma once
#include "control/json.hpp"
#include "lib/policy/compile.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// The rows of GET /v1/find.
namespace sluice {

// Its members that all of them have: {"what":"key","rule":"dns","kind":"rule","mode":"enforce"}.
[[nodiscard]] Json finding_of(const RuleSummary& rule, std::string_view what);

// A rule that counts what is sought under a key of which nothing is known yet, or, where that is
// null, under keys of this form of which some may have no name.
[[nodiscard]] Json counting_of(const RuleSummary& rule, std::size_t tier, Json key,
                               std::string form);

// Rules that are asked one by one, in their order, as long as there is time; `cut`: there was none
// for all of them.
struct MetRules {
    Json ids = Json::array();
    bool cut = false;
};
[[nodiscard]] MetRules met_rules(const std::vector<RuleSummary>& rules,
                                 const std::function<bool(const RuleSummary&)>& meets,
                                 const std::function<bool()>& is_late);

// True if anything is known of a key: else a rule would merely count it.
[[nodiscard]] bool is_live(const Json& key);

}  // namespace sluice

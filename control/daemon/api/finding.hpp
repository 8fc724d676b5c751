#pragma once
#include "control/json.hpp"
#include "lib/policy/compile.hpp"

#include <cstddef>
#include <string>
#include <string_view>

// The rows of GET /v1/find.
namespace sluice {

// Its members that all of them have: {"what":"key","rule":"dns","kind":"rule","mode":"enforce"}.
[[nodiscard]] Json finding_of(const RuleSummary& rule, std::string_view what);

// A rule that counts what is sought under a key of which nothing is known yet, or, where that is
// null, under keys of this form of which some may have no name.
[[nodiscard]] Json counting_of(const RuleSummary& rule, std::size_t tier, Json key,
                               std::string form);

// True if anything is known of a key: else a rule would merely count it.
[[nodiscard]] bool is_live(const Json& key);

}  // namespace sluice

#pragma once
#include "control/daemon/api/listed_entries.hpp"
#include "control/daemon/api/sought.hpp"
#include "control/json.hpp"
#include "lib/policy/compile.hpp"

#include <functional>
#include <vector>

// Facts that GET /v1/find tells once, beside its findings.
namespace sluice {

struct KnownOfConditions {
    bool lists_read = false;  // else nothing is known of what lists say
    // The comparisons of a rule's condition that name what is sought.
    std::function<const Json&(const RuleSummary&)> named;
};
// Adds `everybody`, rules that judge what is sought as all others: none of their keys is it, and no
// condition names it; `everybody_as`, the side on which alone they do; and `unread`, rules of which
// a list would have to say it. True: there was no time for all of them, since lists can be long.
[[nodiscard]] bool add_everybody(Json& answer, const std::vector<RuleSummary>& rules,
                                 const Sought& sought, const KnownOfConditions& known);

// Services whose condition names it, each as a rule's is told.
[[nodiscard]] Json services_named(const std::vector<ServiceSummary>& services, const Sought& sought,
                                  ListedEntries& lists);

}  // namespace sluice

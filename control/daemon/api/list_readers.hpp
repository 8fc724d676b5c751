#pragma once
#include "control/daemon/http.hpp"
#include "control/daemon/nobody.hpp"
#include "control/daemon/rule_change.hpp"

namespace sluice {

// Lists were read with the rights of the user who applied them: root and that user alone are told
// what is in them, and sessions by links that they made.
[[nodiscard]] inline bool may_read_lists(const HttpRequest& request, const RuleView& view) {
    // Callers without a user of this machine are no single one.
    const bool has_applied = request.reads_as == view.applied_by && view.applied_by != kNobody;
    return view.lists.empty() || request.reads_as == 0 || has_applied;
}

}  // namespace sluice

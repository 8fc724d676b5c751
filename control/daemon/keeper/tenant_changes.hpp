#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/keeper/live_rules.hpp"
#include "control/daemon/rule_diff.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Changes of the rules of one tenant. All else of the set in force stays as it is: the operator's
// text and the other tenants', their modes, settings and buckets, and the generation by which
// operators know it. A set of the operator's that is on trial stays on trial, until the same
// instant, and takes nothing of a tenant along when it goes.
namespace sluice {

struct TenantApply {
    std::string tenant;
    std::string text;
    std::string file{};  // its name in problems
    std::optional<std::chrono::nanoseconds> confirm{};
    std::optional<std::string> in_place_of{};  // tag_of() the rules to be replaced
    Author from{};
    bool by_operator = false;  // and not by the tenant itself
};

// Names a tenant's rules as they stand; it differs where a comment does.
[[nodiscard]] std::string tag_of(const TenantRules& rules);
// How many rules a tenant's text has that is in force; those of its candidates are beside these.
[[nodiscard]] std::size_t rules_of_tenant(const RuleView& view, const std::string& tenant);

// The tenant's own problems alone are told, at places of its text. RuleChange::rules are its own.
[[nodiscard]] RuleChange apply_tenant(LiveRules& rules, const TenantApply& apply);

// The answer of apply_tenant() to a text now, and what would be others of the tenant's rules.
struct CheckedTenant {
    std::optional<Refusal> refusal{};
    std::size_t rules = 0;
    SetDiff diff{};
    std::vector<Problem> warnings{};
};
// Nothing changes, and the rest of the set is not asked.
[[nodiscard]] CheckedTenant check_tenant(const LiveRules& rules, const TenantApply& apply);

// A confirmation or rollback of a tenant's.
struct TenantTurn {
    std::string tenant;
    std::optional<std::string> in_place_of{};
    Author from{};
    bool by_operator = false;
};
[[nodiscard]] RuleChange confirm_tenant(LiveRules& rules, const TenantTurn& turn);
// Ends the tenant's trial; without one, the text of before takes the place of the present one.
[[nodiscard]] RuleChange rollback_tenant(LiveRules& rules, const TenantTurn& turn);

// A tenant that sluice.yaml has no more loses for good: its texts of now and of before, the modes
// of its rules, and the settings of their keys.
[[nodiscard]] RuleChange forget_tenant(LiveRules& rules, const TenantTurn& turn);

// Takes back the rules of tenants that were not confirmed in time.
class TenantTrials {
public:
    explicit TenantTrials(LiveRules& rules) noexcept : rules_{rules} {}

    // To be called often, from one thread.
    void tick();

private:
    void take_back(const std::vector<std::string>& over, std::int64_t now);

    LiveRules& rules_;
    std::int64_t retry_at_ = 0;  // when they could not be taken back
};

}  // namespace sluice

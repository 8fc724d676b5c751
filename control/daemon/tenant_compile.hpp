#pragma once
#include "control/daemon/rules_file.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/rules/tenant_options.hpp"

#include <map>
#include <string>
#include <vector>

namespace sluice {

// Tenants of sluice.yaml; set once, before anything is compiled.
[[nodiscard]] std::vector<TenantOptions>& tenant_options();
// nullptr: there is none of that name.
[[nodiscard]] const TenantOptions* find_tenant(const std::string& name);

// A tenant's rules as they are alone: what is wrong with them depends on nobody else's, and tells
// of nobody else's.
struct LoneTenant {
    bool is_sound = false;
    bool is_final = true;            // false: it was given up, and may be sound another time
    std::vector<Problem> problems;   // at places of its text
    std::vector<RuleSummary> rules;  // none: it is not sound
};
// A text to be compiled alone, and within which time.
struct LoneText {
    const std::string& text;
    std::string file{};  // its name in problems
    Nanoseconds time{};
};
[[nodiscard]] LoneTenant compile_alone(const TenantOptions& tenant, const LoneText& lone,
                                       const RssMapping& box);

// By the tenant's name.
using TenantsAside = std::map<std::string, std::string>;

// The tenants of a set whose rules cannot be a part of it, whatever else it has, and why:
// sluice.yaml has them no more, or their rules do not compile within what it gives them now.
[[nodiscard]] TenantsAside unfit_tenants(const TenantTexts& tenants, const RssMapping& box);

// The files of the set: the operator's, then those of its tenants but for the ones aside, each
// called like its tenant. None: it is the operator's one text.
[[nodiscard]] std::vector<RuleFilePart> joint_parts(const StoredRules& rules,
                                                    const TenantsAside& aside);

}  // namespace sluice

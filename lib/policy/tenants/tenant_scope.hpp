#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/scalar_places.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/rules/tenant_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

// The tree of one tenant's rule file.
struct TenantTree {
    const TenantOptions* tenant = nullptr;
    YamlNode root;
};

// The bounds within which a tenant's rules judge: what arrives for its networks, of the table its
// own part. What leaves them bears any source address that somebody inside writes, and is no
// tenant's.
struct TenantScope {
    const TenantOptions* tenant = nullptr;
    std::string when;               // `dir eq "in" and ip.dst in {…}`
    Expression condition;           // the same as a tree
    std::uint32_t table_share = 0;  // of each rule that says none
};

// The alternatives that a tenant's conditions may make, for each rule that it may have.
inline constexpr std::size_t kTenantClausesPerRule = 16;

// Reports shares of rules that are more than the tenant's together, or leave none for the others.
[[nodiscard]] TenantScope scope_of(const TenantTree& tree, Problems& problems);

// Makes the condition of one of its rules, as it was read and written, one of what both hold for.
// What stands in it has no say in how the two are joined.
void confine(const TenantScope& scope, Expression& condition, std::string& when);

// Reports what a tenant's condition asks of the operator's data.
void refuse_operators_data(const ParsedExpression& condition, const ScalarPlaces& places,
                           Problems& problems);
// The same of its keys, at `at`.
void refuse_operators_keys(const Rule& rule, Position at, Problems& problems);

}  // namespace sluice

#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace sluice {

inline constexpr std::string_view kOwnerDownAlone =
    "`owner_down` is for limits that boxes share: it needs `scope: cluster`";

// `scope` and `owner_down` of a rule or a limit, where they are given.
struct ScopeText {
    std::optional<ClusterScope> scope{};
    std::optional<OwnerDown> owner_down{};
    Position scope_at{};
    Position owner_down_at{};
};
[[nodiscard]] ScopeText read_scope(const MapReader& map);

// `owner_down` of a rule is for those of its limits that boxes share: reports one without any.
void check_owner_down(const ScopeText& of_rule, std::span<const LimitSummary> limits,
                      Problems& problems);

// A rule that decides on sight has no limits to share.
void refuse_scope_on_sight(const MapReader& rule, Problems& problems);

}  // namespace sluice

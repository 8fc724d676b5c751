#pragma once
#include "lib/policy/compile.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct RuleView;

// One setting of a rule that is another.
struct SettingDiff {
    std::string_view what;  // by its name in the language
    std::string from;
    std::string to;
};

// The changes of one limit's buckets. Changed: its numbers carry over. Reset: it starts anew, full.
struct LimitDiff {
    enum class Kind : std::uint8_t { Added, Removed, Changed, Reset };
    std::string name;
    Kind kind{};
    std::string from;
    std::string to;
    std::vector<std::string_view> because;  // of a reset: key, window, per, ...
};

struct RuleDiff {
    std::string id;
    std::vector<SettingDiff> settings;
    std::vector<LimitDiff> limits;
};

// Differences of services; the first that matches decides, so their order counts.
struct ServiceDiffs {
    std::vector<std::string> added;
    std::vector<std::string> removed;
    std::vector<RuleDiff> changed;  // without limits
    bool reordered = false;
    std::size_t unchanged = 0;
};

// Changes if one set took the place of another.
struct SetDiff {
    std::vector<std::string> added;
    std::vector<std::string> removed;
    std::vector<RuleDiff> changed;
    bool reordered = false;  // ties and `on_match` go by the order
    std::size_t unchanged = 0;
    ServiceDiffs services{};
};

// The rules alone.
[[nodiscard]] SetDiff diff_of(const std::vector<RuleSummary>& before,
                              const std::vector<RuleSummary>& after);
[[nodiscard]] ServiceDiffs diff_of(const std::vector<ServiceSummary>& before,
                                   const std::vector<ServiceSummary>& after);
// Both.
[[nodiscard]] SetDiff diff_of(const RuleView& before, const CompiledRules& after);

// The origin of a set, with the first names of what it added, removed and changed, in a line.
[[nodiscard]] std::string note_of(const std::string& call, const SetDiff& diff);

}  // namespace sluice

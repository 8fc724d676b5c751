#pragma once
#include "control/daemon/key_settings.hpp"
#include "lib/policy/compile.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

// nullptr: there is none of this id.
[[nodiscard]] const RuleSummary* find_rule(const std::vector<RuleSummary>& rules,
                                           const std::string& id);

// How many numbers of single keys are set for rules with `dynamic` and hold at `now` (UTC,
// seconds).
struct DynamicCount {
    std::map<std::string, std::size_t> by_rule;  // each rule with `dynamic`, those without any too
    std::size_t in_all = 0;
};
[[nodiscard]] DynamicCount count_dynamic(const KeySettings& settings,
                                         const std::vector<RuleSummary>& rules, std::int64_t now);

// How often numbers for a rule with `dynamic` were refused since sluiced started. It keeps the
// counts of rules in force, and is so bounded as they are.
class RefusedSets {
public:
    void count(const std::string& rule, const std::vector<RuleSummary>& rules);
    [[nodiscard]] std::uint64_t of(const std::string& rule) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::uint64_t> by_rule_;
};

}  // namespace sluice

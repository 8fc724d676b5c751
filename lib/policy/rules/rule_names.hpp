#pragma once
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace sluice {

// The ids of a file's rules and the identities of their limits, each of which stands for one thing.
class RuleNames {
public:
    // Reports an id or an identity that another rule of the file has.
    void add(const YamlNode& node, const Rule& rule, Problems& problems);

    // Limits and penalty boxes of all rules.
    [[nodiscard]] std::size_t limit_count() const noexcept { return limit_count_; }

private:
    std::map<std::string, Position> ids_;  // where each stands
    std::set<std::uint64_t> identities_;
    std::size_t limit_count_ = 0;
};

}  // namespace sluice

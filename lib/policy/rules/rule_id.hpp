#pragma once
#include "lib/rules/rule_set.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {

// Whether a rule, or a candidate of one, may be called so.
[[nodiscard]] inline bool is_rule_id(std::string_view id) noexcept {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !id.empty() && id.size() <= kMaxRuleIdSize && std::all_of(id.begin(), id.end(), good);
}

}  // namespace sluice

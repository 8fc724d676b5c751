#pragma once
#include "lib/base/ascii.hpp"
#include "lib/rules/rule_set.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {

// True if a rule, or a candidate of one, may be called so.
[[nodiscard]] inline bool is_rule_id(std::string_view id) noexcept {
    const auto good = [](char c) { return is_ascii_lower(c) || is_ascii_digit(c) || c == '-'; };
    return !id.empty() && id.size() <= kMaxRuleIdSize && std::all_of(id.begin(), id.end(), good);
}

}  // namespace sluice

#pragma once
#include "lib/policy/expression/expression.hpp"

#include <algorithm>

namespace sluice {

// True if a comparison of the condition is with a list's file.
[[nodiscard]] inline bool reads_list(const Expression& condition) {
    return condition.leaf.from_list || condition.text.from_list ||
           std::ranges::any_of(condition.parts, reads_list);
}

}  // namespace sluice

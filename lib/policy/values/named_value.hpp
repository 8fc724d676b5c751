#pragma once
#include "lib/policy/values/named_text.hpp"

#include <algorithm>
#include <vector>

namespace sluice {

// The text of this name; empty: there is none.
[[nodiscard]] inline std::string value_of(const std::vector<NamedText>& list,
                                          std::string_view name) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const NamedText& one) { return one.name == name; });
    return found == list.end() ? "" : found->value;
}

}  // namespace sluice

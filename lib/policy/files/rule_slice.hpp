#pragma once
#include "lib/policy/problems/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// One rule of a rule file as a text of its own, without the indentation that it has there.
struct RuleSlice {
    std::string text;
    std::uint32_t line = 1;    // of its first line in the file
    std::uint32_t column = 1;  // of its keys

    // The place in the file of a place in `text`.
    [[nodiscard]] Position in_file(Position at) const noexcept {
        return {at.line + line - 1, at.column + column - 1};
    }
};

// The rule that is called `id`. nullopt: the file has none, or the problems say what is wrong.
[[nodiscard]] std::optional<RuleSlice> rule_slice(std::string_view file, std::string_view id,
                                                  Problems& problems);

}  // namespace sluice

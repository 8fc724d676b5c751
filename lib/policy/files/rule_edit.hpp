#pragma once
#include "lib/base/result.hpp"
#include "lib/policy/files/lone_rule.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// Single rules of a rule file. All other bytes of its text stay as they are, and the file then says
// what it said, but for that rule: where a text is written so that this cannot be had (its rules in
// brackets), it is an error and nothing has changed.

struct RulePlace {
    enum class Where : std::uint8_t { End, Before, After };
    Where where = Where::End;
    std::string id{};  // of the rule that it stands before or after
};

// A text with a rule put into it, and where its lines are.
struct EditedText {
    std::string text;
    std::uint32_t first = 0;  // of the rule's lines, without comments above it
    std::uint32_t lines = 0;
    std::int64_t shift = 0;  // of its columns to the right
};

[[nodiscard]] Result<EditedText> add_rule(std::string_view text, const LoneRule& rule,
                                          const RulePlace& place);
// The one of the same id.
[[nodiscard]] Result<EditedText> replace_rule(std::string_view text, const LoneRule& rule);
[[nodiscard]] Result<std::string> delete_rule(std::string_view text, std::string_view id);

}  // namespace sluice

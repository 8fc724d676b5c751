#pragma once
#include "lib/policy/yaml/line_index.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The lines of one rule in a text: from that of its dash to the last of its content. Comments
// further in than the dash are its own, others are not.
struct RuleLines {
    std::string id;           // empty: it has none
    std::uint32_t first = 0;  // from 1 on
    std::uint32_t last = 0;
};

// A list of rules that is written as a block, an item a line or more.
struct RuleBlock {
    std::vector<RuleLines> rules;
    std::uint32_t dash = 1;     // column of the dashes
    std::uint32_t content = 3;  // of what follows them
};

// A line of a text, from 1 on, without its end.
[[nodiscard]] std::string_view line_at(const LineIndex& lines, std::uint32_t line) noexcept;
// The first byte of a line that is no space or tab; npos: it is blank.
[[nodiscard]] std::size_t indent_of(std::string_view line) noexcept;
[[nodiscard]] bool is_blank(std::string_view line) noexcept;
[[nodiscard]] bool is_comment(std::string_view line) noexcept;

// The lines of the items of a list that ends before the line `end`. nullopt: the list is empty, in
// brackets, or has an item that is no map.
[[nodiscard]] std::optional<RuleBlock> block_of(const LineIndex& lines, const YamlNode& list,
                                                std::uint32_t end);

// `rules` of a rule file, and the line where it ends: that of the next key, or one behind the text.
struct RuleListPlace {
    const YamlEntry* entry = nullptr;  // nullptr: the file has no rules
    std::uint32_t end = 0;
};
[[nodiscard]] RuleListPlace rules_of(const LineIndex& lines, const YamlNode& root);

// How many lines a text has; a last one that is empty is none.
[[nodiscard]] std::uint32_t line_count(const LineIndex& lines) noexcept;

// True if a rule file has `rules`.
[[nodiscard]] bool has_rules(std::string_view text);

// The lines of all rules of a rule file. Empty: it has none, or their lines cannot be told apart.
[[nodiscard]] std::vector<RuleLines> rule_lines(std::string_view text);

}  // namespace sluice

#include "lib/policy/files/rule_slice.hpp"

#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The line that what stands behind a rule begins in: the next rule, or the next key of the file.
std::uint32_t line_behind(const YamlNode& root, const YamlNode& rules, const YamlNode& rule) {
    std::uint32_t behind = UINT32_MAX;
    const auto take = [&](Position at) {
        if (at.line > rule.at.line) {
            behind = std::min(behind, at.line);
        }
    };
    for (const YamlNode& other : rules.items) {
        take(other.at);
    }
    for (const YamlEntry& entry : root.entries) {
        take(entry.key.at);
    }
    return behind;
}

std::string lines_of(std::string_view file, Position from, std::uint32_t to) {
    std::string text;
    std::uint32_t number = 0;
    while (!file.empty() && ++number < to) {
        const std::size_t end = std::min(file.find('\n'), file.size());
        std::string_view line = file.substr(0, end);
        file.remove_prefix(std::min(end + 1, file.size()));
        if (number < from.line) {
            continue;
        }
        const std::size_t indent = from.column - 1;
        const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
        line.remove_prefix(number == from.line ? std::min(indent, line.size())
                                               : std::min(indent, blanks));
        text.append(line).append("\n");
    }
    return text;
}

}  // namespace

std::optional<RuleSlice> rule_slice(std::string_view file, std::string_view id,
                                    Problems& problems) {
    const LineIndex lines{file};
    const std::optional<YamlNode> root = read_yaml(lines, problems);
    const YamlNode* const rules = root && root->is_map() ? value_of(*root, "rules") : nullptr;
    if (rules == nullptr || !rules->is_list()) {
        return std::nullopt;
    }
    for (const YamlNode& rule : rules->items) {
        const YamlNode* const name = rule.is_map() ? value_of(rule, "id") : nullptr;
        if (name != nullptr && name->text == id) {
            return RuleSlice{lines_of(file, rule.at, line_behind(*root, *rules, rule)),
                             rule.at.line, rule.at.column};
        }
    }
    return std::nullopt;
}

}  // namespace sluice

#include "lib/policy/files/rule_lines.hpp"

#include "lib/policy/yaml/map_reader.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The line of the dash before an item whose content begins at `at`. 0: there is none in the column
// of the dashes.
std::uint32_t dash_line(const LineIndex& lines, Position at, std::uint32_t dash,
                        std::uint32_t after) {
    for (std::uint32_t line = at.line; line > after; --line) {
        const std::string_view text = line_at(lines, line);
        if (indent_of(text) == dash - 1 && text[dash - 1] == '-') {
            return line;
        }
    }
    return 0;
}

// The last line of an item that ends before `end`, without comments and blank lines behind it.
std::uint32_t last_line(const LineIndex& lines, std::uint32_t first, std::uint32_t end,
                        std::uint32_t dash) {
    std::uint32_t last = end - 1;
    while (last > first) {
        const std::string_view text = line_at(lines, last);
        if (!is_blank(text) && (!is_comment(text) || indent_of(text) >= dash)) {
            break;
        }
        --last;
    }
    return last;
}

// The line behind the document: that of its end mark, or one behind the text.
std::uint32_t end_of(const LineIndex& lines) {
    const std::uint32_t end = line_count(lines) + 1;
    std::uint32_t line = end - 1;
    while (line > 0 && (is_blank(line_at(lines, line)) || is_comment(line_at(lines, line)))) {
        --line;
    }
    return line > 0 && line_at(lines, line).starts_with("...") ? line : end;
}

std::string id_of(const YamlNode& rule) {
    const YamlNode* id = rule.is_map() ? value_of(rule, "id") : nullptr;
    return id == nullptr ? std::string{} : id->text;
}

}  // namespace

std::string_view line_at(const LineIndex& lines, std::uint32_t line) noexcept {
    const std::string_view rest = lines.text().substr(lines.offset_of({line, 1}));
    const std::string_view text = rest.substr(0, rest.find('\n'));
    return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

std::size_t indent_of(std::string_view line) noexcept {
    return line.find_first_not_of(" \t");
}

bool is_blank(std::string_view line) noexcept {
    return indent_of(line) == std::string_view::npos;
}

bool is_comment(std::string_view line) noexcept {
    return !is_blank(line) && line[indent_of(line)] == '#';
}

std::uint32_t line_count(const LineIndex& lines) noexcept {
    const std::string_view text = lines.text();
    const Position end = lines.place_at(text.size());
    return text.empty() || text.back() == '\n' ? end.line - 1 : end.line;
}

std::optional<RuleBlock> block_of(const LineIndex& lines, const YamlNode& list, std::uint32_t end) {
    if (!list.is_list() || list.items.empty() ||
        !lines.text().substr(lines.offset_of(list.at)).starts_with('-')) {
        return std::nullopt;
    }
    RuleBlock block{.rules = {}, .dash = list.at.column, .content = list.items.front().at.column};
    if (block.content <= block.dash) {
        return std::nullopt;
    }
    std::uint32_t after = list.at.line - 1;
    for (const YamlNode& item : list.items) {
        // An item that is nothing has the place of what comes next.
        const std::uint32_t first =
            item.is_map() ? dash_line(lines, item.at, block.dash, after) : 0;
        if (first == 0) {
            return std::nullopt;
        }
        block.rules.push_back({id_of(item), first, 0});
        after = first;
    }
    for (std::size_t i = 0; i < block.rules.size(); ++i) {
        const std::uint32_t behind =
            i + 1 < block.rules.size() ? block.rules[i + 1].first : std::max(end, after + 1);
        block.rules[i].last = last_line(lines, block.rules[i].first, behind, block.dash);
    }
    return block;
}

RuleListPlace rules_of(const LineIndex& lines, const YamlNode& root) {
    RuleListPlace place;
    place.end = end_of(lines);
    for (const YamlEntry& entry : root.entries) {
        if (entry.key.text == "rules") {
            place.entry = &entry;
        } else if (place.entry != nullptr) {
            place.end = entry.key.at.line;
            break;
        }
    }
    return place;
}

bool has_rules(std::string_view text) {
    Problems ignored{""};
    return read_file(text, ignored,
                     [](const LineIndex& lines, const YamlNode& root) {
                         return rules_of(lines, root).entry == nullptr ? std::nullopt
                                                                       : std::optional{true};
                     })
        .has_value();
}

std::vector<RuleLines> rule_lines(std::string_view text) {
    Problems ignored{""};
    const auto block = read_file(
        text, ignored,
        [](const LineIndex& lines, const YamlNode& root) -> std::optional<RuleBlock> {
            const RuleListPlace place = rules_of(lines, root);
            return place.entry == nullptr ? std::nullopt
                                          : block_of(lines, place.entry->value, place.end);
        });
    return block ? block->rules : std::vector<RuleLines>{};
}

}  // namespace sluice

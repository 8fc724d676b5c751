#include "lib/policy/files/lone_rule.hpp"

#include "lib/policy/files/rule_lines.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kForms =
    "one rule is a map that begins with `id`, a list of one, or a rule file that has `version` and "
    "one rule";

// The place of a lone rule in its text.
struct Found {
    const YamlNode* rule = nullptr;  // nullptr: there is none
    std::uint32_t first = 0;         // line where it begins, its dash included
    std::uint32_t last = 0;
};

// Everything behind the first key, but blank lines at the end.
Found whole_map(const LineIndex& lines, const YamlNode& root) {
    std::uint32_t last = line_count(lines);
    while (last > root.at.line &&
           (is_blank(line_at(lines, last)) || line_at(lines, last).starts_with("..."))) {
        --last;
    }
    return {&root, root.at.line, last};
}

Found only_item(const LineIndex& lines, const YamlNode& list, std::uint32_t end) {
    const std::optional<RuleBlock> block = block_of(lines, list, end);
    if (!block || block->rules.size() != 1) {
        return {};
    }
    return {&list.items.front(), block->rules.front().first, block->rules.front().last};
}

// A key that a rule file with one rule has beside it, such as `services`; nullptr: nothing.
const YamlEntry* too_much(const YamlNode& root) {
    if (!root.is_map() || value_of(root, "rules") == nullptr) {
        return nullptr;
    }
    const auto entry = std::find_if(root.entries.begin(), root.entries.end(), [](const auto& one) {
        return one.key.text != "version" && one.key.text != "rules";
    });
    return entry == root.entries.end() ? nullptr : &*entry;
}

Found find(const LineIndex& lines, const YamlNode& root) {
    if (root.is_list()) {
        return only_item(lines, root, line_count(lines) + 1);
    }
    const YamlNode* rules = root.is_map() ? value_of(root, "rules") : nullptr;
    if (rules == nullptr) {
        return root.is_map() ? whole_map(lines, root) : Found{};
    }
    return too_much(root) == nullptr ? only_item(lines, *rules, rules_of(lines, root).end)
                                     : Found{};
}

// Comments that stand right above a line, or with blank lines in between.
std::vector<std::string> comments_above(const LineIndex& lines, std::uint32_t line) {
    std::vector<std::string> comments;
    while (--line > 0) {
        const std::string_view text = line_at(lines, line);
        if (is_comment(text)) {
            comments.emplace_back(text.substr(indent_of(text)));
        } else if (!is_blank(text)) {
            break;
        }
    }
    std::reverse(comments.begin(), comments.end());
    return comments;
}

std::optional<LoneRule> rule_in(const LineIndex& lines, const YamlNode& root, Problems& problems) {
    if (const YamlEntry* more = too_much(root)) {
        problems.error(more->key.at, "`" + more->key.text +
                                         "` is too much here: apply the whole file, or leave it "
                                         "out; " +
                                         std::string{kForms});
        return std::nullopt;
    }
    const Found found = find(lines, root);
    if (found.rule == nullptr || !found.rule->is_map()) {
        problems.error(root.at, std::string{kForms});
        return std::nullopt;
    }
    const YamlNode* id = value_of(*found.rule, "id");
    if (id == nullptr || !id->is_scalar() || id->text.empty()) {
        problems.error(found.rule->at, "the rule has no `id`; " + std::string{kForms});
        return std::nullopt;
    }
    LoneRule rule{.id = id->text,
                  .tree = *found.rule,
                  .comments = comments_above(lines, found.first),
                  .lines = {},
                  .line = found.rule->at.line,
                  .column = found.rule->at.column};
    for (std::uint32_t line = rule.line; line <= found.last; ++line) {
        rule.lines.emplace_back(line_at(lines, line));
    }
    return rule;
}

}  // namespace

std::optional<LoneRule> read_lone_rule(std::string_view text, Problems& problems) {
    return read_file(text, problems, [&](const LineIndex& lines, const YamlNode& root) {
        return rule_in(lines, root, problems);
    });
}

}  // namespace sluice

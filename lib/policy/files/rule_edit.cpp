#include "lib/policy/files/rule_edit.hpp"

#include "lib/policy/files/rule_lines.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace sluice {
namespace {

bool same(const YamlNode& a, const YamlNode& b) {
    const auto same_entries = [](const YamlEntry& one, const YamlEntry& other) {
        return same(one.key, other.key) && same(one.value, other.value);
    };
    return a.kind == b.kind && a.plain == b.plain && a.text == b.text &&
           std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same) &&
           std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                      same_entries);
}

// A rule file that is read to be changed.
class EditableRules {
public:
    [[nodiscard]] static Result<EditableRules> read(std::string_view text) {
        EditableRules file{text};
        Problems problems{"the rules"};
        std::optional<YamlNode> root = read_yaml(file.lines_, problems);
        if (!root) {
            return Error{Errc::BadSyntax, render(problems.list().front(), "")};
        }
        file.root_ = *std::move(root);
        const RuleListPlace place = rules_of(file.lines_, file.root_);
        if (place.entry == nullptr || !place.entry->value.is_list()) {
            return Error{Errc::BadSyntax, "the file has no `rules`"};
        }
        file.rules_ = static_cast<std::size_t>(place.entry - file.root_.entries.data());
        file.block_ = block_of(file.lines_, place.entry->value, place.end);
        if (!file.block_ && !file.list().items.empty()) {
            return Error{Errc::BadSyntax,
                         "its `rules` are not written as a list of lines, each rule behind a dash "
                         "of its own: write them so, or apply the whole file"};
        }
        return file;
    }

    [[nodiscard]] const LineIndex& lines() const noexcept { return lines_; }
    [[nodiscard]] const YamlEntry& entry() const noexcept { return root_.entries[rules_]; }
    [[nodiscard]] const YamlNode& list() const noexcept { return entry().value; }
    // nullopt: there is no rule.
    [[nodiscard]] const std::optional<RuleBlock>& block() const noexcept { return block_; }
    // The rule's number in the list; nullopt: there is none.
    [[nodiscard]] std::optional<std::size_t> number_of(std::string_view id) const {
        for (std::size_t i = 0; block_ && i < block_->rules.size(); ++i) {
            if (block_->rules[i].id == id) {
                return i;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::size_t offset_of_line(std::uint32_t line) const noexcept {
        return lines_.offset_of({line, 1});
    }
    // True if a text says what this one would with these rules.
    [[nodiscard]] bool becomes(const std::string& text, std::vector<YamlNode> rules) const {
        Problems problems{""};
        const LineIndex lines{text};
        const std::optional<YamlNode> now = read_yaml(lines, problems);
        if (!now || problems.has_errors()) {
            return false;
        }
        YamlNode wanted = root_;
        YamlNode& list = wanted.entries[rules_].value;
        list.kind = YamlNode::Kind::List;
        list.items = std::move(rules);
        return same(*now, wanted);
    }

private:
    explicit EditableRules(std::string_view text) : lines_{text} {}

    LineIndex lines_;
    YamlNode root_;
    std::size_t rules_ = 0;  // number of the entry
    std::optional<RuleBlock> block_;
};

constexpr std::string_view kCannot =
    "the rule cannot be changed in the text as it is written; apply the whole file";

// Lines of a rule as they stand behind a dash of a block.
std::vector<std::string> in_block(const LoneRule& rule, std::uint32_t dash, std::uint32_t content) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < rule.lines.size(); ++i) {
        const std::string& line = rule.lines[i];
        if (i == 0) {
            lines.push_back(std::string(dash - 1, ' ') + "-" +
                            std::string(content - dash - 1, ' ') + line.substr(rule.column - 1));
        } else if (is_blank(line)) {
            lines.emplace_back();
        } else if (content >= rule.column) {
            lines.push_back(std::string(content - rule.column, ' ') + line);
        } else {
            lines.push_back(line.substr(
                std::min<std::size_t>(rule.column - content, line.find_first_not_of(' '))));
        }
    }
    return lines;
}

// The bytes of a text that are replaced by what is put in.
struct Gap {
    std::size_t from = 0;
    std::size_t to = 0;
};

// Comments above, and the lines of the rule.
EditedText put_in(std::string_view text, Gap gap, const RuleBlock& block, const LoneRule& rule,
                  bool with_comments) {
    const std::string_view end = text.substr(0, text.find('\n')).ends_with('\r') ? "\r\n" : "\n";
    EditedText edited{.text = std::string{text.substr(0, gap.from)},
                      .shift = std::int64_t{block.content} - rule.column};
    if (!edited.text.empty() && edited.text.back() != '\n') {
        edited.text += end;
    }
    if (with_comments) {
        for (const std::string& comment : rule.comments) {
            edited.text.append(block.dash - 1, ' ').append(comment).append(end);
        }
    }
    edited.first =
        static_cast<std::uint32_t>(std::count(edited.text.begin(), edited.text.end(), '\n')) + 1;
    for (const std::string& line : in_block(rule, block.dash, block.content)) {
        edited.text.append(line).append(end);
        ++edited.lines;
    }
    edited.text += text.substr(gap.to);
    return edited;
}

// The first line of the comments that stand right above a line.
std::uint32_t with_comments_above(const LineIndex& lines, std::uint32_t line, std::uint32_t after) {
    while (line > after + 1 && is_comment(line_at(lines, line - 1))) {
        --line;
    }
    return line;
}

// True if the comments of a rule stand above a line already.
bool has_comments(const LineIndex& lines, std::uint32_t line, const LoneRule& rule) {
    if (line <= rule.comments.size()) {
        return rule.comments.empty();
    }
    for (std::size_t i = 0; i < rule.comments.size(); ++i) {
        const std::string_view there =
            line_at(lines, line - static_cast<std::uint32_t>(rule.comments.size() - i));
        if (!is_comment(there) || there.substr(indent_of(there)) != rule.comments[i]) {
            return false;
        }
    }
    return true;
}

// `rules: []` as `rules:`, so that lines can follow. nullopt: it is written another way.
std::optional<std::string> without_brackets(const EditableRules& file) {
    const std::string_view text = file.lines().text();
    const std::size_t open = file.lines().offset_of(file.list().at);
    const std::size_t close = text.find_first_not_of(" \t", open + 1);
    if (open >= text.size() || text[open] != '[' || close == std::string_view::npos ||
        text[close] != ']') {
        return std::nullopt;
    }
    const std::size_t begin = text.substr(0, open).find_last_not_of(" \t") + 1;
    return std::string{text.substr(0, begin)} + std::string{text.substr(close + 1)};
}

// Only what stands behind its key has changed in the text without brackets.
Result<EditedText> add_first(const EditableRules& file, const LoneRule& rule) {
    const std::optional<std::string> bare = without_brackets(file);
    if (!bare) {
        return Error{Errc::BadSyntax, std::string{kCannot}};
    }
    const Position key = file.entry().key.at;
    const std::size_t end = bare->find('\n', file.lines().offset_of(key));
    const std::size_t at = end == std::string::npos ? bare->size() : end + 1;
    const RuleBlock block{.rules = {}, .dash = key.column + 2, .content = key.column + 4};
    EditedText edited = put_in(*bare, {at, at}, block, rule, true);
    if (!file.becomes(edited.text, {rule.tree})) {
        return Error{Errc::BadSyntax, std::string{kCannot}};
    }
    return edited;
}

Error no_such_rule(std::string_view id) {
    return {Errc::OutOfRange, "there is no rule " + std::string{id}};
}

}  // namespace

Result<EditedText> add_rule(std::string_view text, const LoneRule& rule, const RulePlace& place) {
    const Result<EditableRules> file = EditableRules::read(text);
    if (!file) {
        return file.error();
    }
    const std::optional<std::size_t> beside = file->number_of(place.id);
    if (place.where != RulePlace::Where::End && !beside) {
        return no_such_rule(place.id);
    }
    if (!file->block()) {
        return add_first(*file, rule);
    }
    const std::vector<RuleLines>& known = file->block()->rules;
    const bool before = place.where == RulePlace::Where::Before;
    const std::size_t number = place.where == RulePlace::Where::End ? known.size()
                               : before                             ? *beside
                                                                    : *beside + 1;
    const std::uint32_t line = before ? with_comments_above(file->lines(), known[number].first,
                                                            number == 0 ? file->entry().key.at.line
                                                                        : known[number - 1].last)
                                      : known[number - 1].last + 1;
    const std::size_t at = file->offset_of_line(line);
    EditedText edited = put_in(text, {at, at}, *file->block(), rule, true);
    std::vector<YamlNode> rules = file->list().items;
    rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(number), rule.tree);
    if (!file->becomes(edited.text, std::move(rules))) {
        return Error{Errc::BadSyntax, std::string{kCannot}};
    }
    return edited;
}

Result<EditedText> replace_rule(std::string_view text, const LoneRule& rule) {
    const Result<EditableRules> file = EditableRules::read(text);
    if (!file) {
        return file.error();
    }
    const std::optional<std::size_t> number = file->number_of(rule.id);
    if (!number) {
        return no_such_rule(rule.id);
    }
    const RuleLines& old = file->block()->rules[*number];
    EditedText edited =
        put_in(text, {file->offset_of_line(old.first), file->offset_of_line(old.last + 1)},
               *file->block(), rule, !has_comments(file->lines(), old.first, rule));
    std::vector<YamlNode> rules = file->list().items;
    rules[*number] = rule.tree;
    if (!file->becomes(edited.text, std::move(rules))) {
        return Error{Errc::BadSyntax, std::string{kCannot}};
    }
    return edited;
}

Result<std::string> delete_rule(std::string_view text, std::string_view id) {
    const Result<EditableRules> file = EditableRules::read(text);
    if (!file) {
        return file.error();
    }
    const std::optional<std::size_t> number = file->number_of(id);
    if (!number) {
        return no_such_rule(id);
    }
    const RuleLines& old = file->block()->rules[*number];
    std::string edited{text.substr(0, file->offset_of_line(old.first))};
    edited += text.substr(file->offset_of_line(old.last + 1));
    std::vector<YamlNode> rules = file->list().items;
    rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(*number));
    if (rules.empty()) {
        // Nothing may be all that is left of a file that was cut: no rules are written [].
        const std::size_t colon = edited.find(':', file->lines().offset_of(file->entry().key.at));
        edited.insert(colon == std::string::npos ? edited.size() : colon + 1, " []");
    }
    if (!file->becomes(edited, std::move(rules))) {
        return Error{Errc::BadSyntax, std::string{kCannot}};
    }
    return edited;
}

}  // namespace sluice

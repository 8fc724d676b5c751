#include "control/daemon/keeper/edited_rules.hpp"

#include "control/daemon/dynamic_count.hpp"
#include "lib/policy/files/rule_lines.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {
namespace {

// One of the files of a set, by its place in the text.
struct FileAt {
    std::size_t number = 0;
    std::size_t offset = 0;
    std::string_view text;
    std::string name;
    std::vector<RuleLines> rules;
};

std::vector<FileAt> files_of(const StoredRules& rules) {
    if (rules.slices.empty()) {
        return {{0, 0, rules.text, rules.file, rule_lines(rules.text)}};
    }
    std::vector<FileAt> files;
    std::size_t offset = 0;
    for (const RuleFilePart& part : parts_of(rules)) {
        files.push_back(
            {files.size(), offset, part.text, std::string{part.file}, rule_lines(part.text)});
        offset += part.text.size();
    }
    return files;
}

void put(StoredRules& rules, const FileAt& file, const std::string& text) {
    const std::size_t size = file.text.size();
    rules.text.replace(file.offset, size, text);
    if (!rules.slices.empty()) {
        rules.slices[file.number].size = text.size();
    }
}

// The file with that rule; nullopt: none has it.
std::optional<FileAt> file_with(const std::vector<FileAt>& files, std::string_view id) {
    for (const FileAt& file : files) {
        if (std::any_of(file.rules.begin(), file.rules.end(),
                        [&](const RuleLines& rule) { return rule.id == id; })) {
            return file;
        }
    }
    return std::nullopt;
}

// The last file, of those of that name where there is one, that has `rules`: what stands last there
// stands last of all.
Result<EditedText> add_last(const std::vector<FileAt>& files, const LoneRule& rule,
                            const std::string& name, std::optional<FileAt>& into) {
    Result<EditedText> edited = Error{Errc::OutOfRange, "no file has `rules`"};
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
        if (!name.empty() && file->name != name) {
            continue;
        }
        edited = add_rule(file->text, rule, {});
        if (edited || has_rules(file->text)) {
            into = *file;
            return edited;
        }
    }
    return edited;
}

// The rule has no lines of its own: it runs, and stands in brackets, or there is none.
Refusal no_such_rule(const std::string& id, const StoredRules& rules, const RuleView& running) {
    const std::string tenant{tenant_of(id)};
    if (!tenant.empty()) {
        return {Refusal::Kind::NoSuchRule,
                "the rule " + id + " would be the tenant " + tenant +
                    "'s, whose rules are one text: change it as a whole (sluicectl tenant)",
                {}};
    }
    return {Refusal::Kind::NoSuchRule,
            find_rule(running.rules, id) == nullptr
                ? "there is no rule " + id + " in " + rules.file
                : "the rule " + id + " stands in brackets in " + rules.file +
                      ", and such rules cannot be changed one by one: apply the whole set",
            {}};
}

}  // namespace

Refusal not_in_place(const std::string& what) {
    return {Refusal::Kind::DoesNotCompile, what, {}};
}

std::variant<EditedRules, Refusal> edited(const StoredRules& now, const RuleEdit& edit,
                                          const LoneRule* rule, const RuleView& running) {
    const std::vector<FileAt> files = files_of(now);
    const bool is_add = edit.kind == RuleEdit::Kind::Add;
    const std::string& id = rule == nullptr ? edit.id : rule->id;
    if (is_add && file_with(files, id)) {
        return Refusal{Refusal::Kind::IsThere,
                       "there is a rule " + id + " already: replace it, or choose another id",
                       {}};
    }
    const bool at_end = is_add && edit.place.where == RulePlace::Where::End;
    const std::string& beside = is_add ? edit.place.id : id;
    std::optional<FileAt> file = at_end ? std::nullopt : file_with(files, beside);
    if (!at_end && !file) {
        return no_such_rule(beside, now, running);
    }
    Result<EditedText> text = Error{Errc::OutOfRange, ""};
    if (edit.kind == RuleEdit::Kind::Delete) {
        Result<std::string> without = delete_rule(file->text, id);
        text = without ? Result<EditedText>{EditedText{.text = *std::move(without)}}
                       : Result<EditedText>{without.error()};
    } else if (!is_add) {
        text = replace_rule(file->text, *rule);
    } else {
        text = at_end ? add_last(files, *rule, edit.into, file)
                      : add_rule(file->text, *rule, edit.place);
    }
    if (!text) {
        return not_in_place(text.error().what);
    }
    EditedRules result{.next = now, .file = file->name, .lines = {}};
    put(result.next, *file, text->text);
    text->text.clear();
    result.lines = *std::move(text);
    return result;
}

void show_in_its_file(std::vector<Problem>& problems, const EditedRules& edited,
                      const std::string& name, const LoneRule& rule) {
    for (Problem& problem : problems) {
        const std::uint32_t line = problem.at.line;
        if (problem.file == edited.file && line >= edited.lines.first &&
            line < edited.lines.first + edited.lines.lines) {
            problem.file = name;
            problem.at.line = line - edited.lines.first + rule.line;
            problem.at.column = static_cast<std::uint32_t>(
                std::max<std::int64_t>(1, problem.at.column - edited.lines.shift));
        }
    }
}

std::optional<LoneRule> read_edit(const RuleEdit& edit, Problems& problems) {
    std::optional<LoneRule> rule = read_lone_rule(edit.text, problems);
    if (rule && edit.kind == RuleEdit::Kind::Replace && rule->id != edit.id) {
        problems.error({rule->line, rule->column},
                       "the rule is called `" + rule->id + "`, not `" + edit.id + "`");
    }
    return problems.has_errors() ? std::nullopt : std::move(rule);
}

}  // namespace sluice

#include "control/daemon/keeper/rule_edits.hpp"

#include "control/daemon/dynamic_count.hpp"
#include "lib/policy/files/rule_lines.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {
namespace {

Refusal not_in_place(const std::string& what) {
    return {Refusal::Kind::DoesNotCompile, what, {}};
}

// The set that the change makes, and where the rule stands in it.
struct Edited {
    StoredRules next;
    std::string file;  // that it stands in, as problems name it
    EditedText lines;  // without its text
};

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

// The last file that has `rules`: what stands last there stands last of all.
Result<EditedText> add_last(const std::vector<FileAt>& files, const LoneRule& rule,
                            std::optional<FileAt>& into) {
    Result<EditedText> edited = Error{Errc::OutOfRange, "no file has `rules`"};
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
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
    return {Refusal::Kind::NoSuchRule,
            find_rule(running.rules, id) == nullptr
                ? "there is no rule " + id + " in " + rules.file
                : "the rule " + id + " stands in brackets in " + rules.file +
                      ", and such rules cannot be changed one by one: apply the whole set",
            {}};
}

// The text with the rule put in, replaced or deleted.
std::variant<Edited, Refusal> edited(const StoredRules& now, const RuleEdit& edit,
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
        text = at_end ? add_last(files, *rule, file) : add_rule(file->text, *rule, edit.place);
    }
    if (!text) {
        return not_in_place(text.error().what);
    }
    Edited result{.next = now, .file = file->name, .lines = {}};
    put(result.next, *file, text->text);
    text->text.clear();
    result.lines = *std::move(text);
    return result;
}

// Root leaves the lists with the rights of the user who applied the set, who may have named any
// path. For another user they are read anew, as on any apply, and what was sent along is nobody
// else's to see.
std::optional<Refusal> take_over(StoredRules& next, uid_t from) {
    if (from == 0 || next.applied_by == from) {
        return std::nullopt;
    }
    if (!next.sent.empty()) {
        return not_in_place("lists of these rules were sent along by uid " +
                            std::to_string(next.applied_by) +
                            ", who alone can go on with them; apply the whole set");
    }
    next.lists.clear();
    next.applied_by = from;
    return std::nullopt;
}

// Problems of the rule's lines as those of the file that it came in.
void show_in_its_file(std::vector<Problem>& problems, const Edited& edited, const RuleEdit& edit,
                      const LoneRule& rule) {
    for (Problem& problem : problems) {
        const std::uint32_t line = problem.at.line;
        if (problem.file == edited.file && line >= edited.lines.first &&
            line < edited.lines.first + edited.lines.lines) {
            problem.file = edit.name;
            problem.at.line = line - edited.lines.first + rule.line;
            problem.at.column = static_cast<std::uint32_t>(
                std::max<std::int64_t>(1, problem.at.column - edited.lines.shift));
        }
    }
}

std::string call_of(const RuleEdit& edit, const std::string& id) {
    const char* const word = edit.kind == RuleEdit::Kind::Add       ? "rule add "
                             : edit.kind == RuleEdit::Kind::Replace ? "rule replace "
                                                                    : "rule delete ";
    return word + id;
}

PushTerms terms_of(const RuleEdit& edit, const std::string& id, const AppliedRules& applied) {
    return {.force = edit.force,
            .strict = edit.strict,
            .remember = true,
            .confirm = edit.confirm,
            .end = applied.trial_end(),
            .in_place_of = edit.in_place_of,
            .call = call_of(edit, id)};
}

// The text is edited and compiled with no lock held, like what is applied. nullopt: other rules
// came meanwhile, and nothing was changed.
std::optional<RuleChange> try_edit(LiveRules& rules, const RuleEdit& edit, const LoneRule* rule) {
    AppliedRules& applied = rules.applied;
    const std::string& id = rule == nullptr ? edit.id : rule->id;
    std::unique_lock lock{rules.changing};
    if (applied.current() == nullptr) {
        return refused(0, {Refusal::Kind::NoSuchRule, "no rules were ever applied", {}});
    }
    if (std::optional<Refusal> others = rules.not_in_force(edit.in_place_of)) {
        return refused(applied.generation(), *std::move(others));
    }
    const StoredRules now = *applied.current();
    lock.unlock();
    const std::string tag = tag_of(now);
    std::variant<Edited, Refusal> made = edited(now, edit, rule, *rules.board.view());
    if (auto* refusal = std::get_if<Refusal>(&made)) {
        return refused(now.generation, std::move(*refusal));
    }
    auto& become = std::get<Edited>(made);
    StoredRules next = std::move(become.next);
    if (std::optional<Refusal> refusal = take_over(next, edit.from)) {
        return refused(now.generation, *std::move(refusal));
    }
    const bool reads_lists_anew = next.applied_by != now.applied_by;
    forget_ended(next.keys, applied.now());
    next.modes.erase(id);
    next.changed_at = applied.now();
    next.changed_by = edit.from;
    Compiled compiled = rules.compile_now(next, {.is_refused = true, .of = id});
    lock.lock();
    if (!rules.is_in_force(tag, now.lists) || !applied.renew_keys(next) ||
        !applied.renew_lives(next, compiled)) {
        return std::nullopt;
    }
    std::vector<Problem> ended;
    if (compiled.rules) {
        forget_other_rules(next.keys, compiled.rules->rules);
        ended = ended_rules(compiled.rules->rules, next.lives, next.file);
    }
    RuleChange change =
        rules.push(std::move(next), std::move(compiled), terms_of(edit, id, applied));
    if (!change.refusal) {
        change.warnings.insert(change.warnings.end(), ended.begin(), ended.end());
        if (reads_lists_anew) {
            rules.board.set_list_problem("");
        }
    }
    if (rule != nullptr) {
        show_in_its_file(change.warnings, become, edit, *rule);
        if (change.refusal) {
            show_in_its_file(change.refusal->problems, become, edit, *rule);
        }
    }
    return change;
}

}  // namespace

RuleChange edit_rule(LiveRules& rules, const RuleEdit& edit) {
    std::optional<LoneRule> rule;
    if (edit.kind != RuleEdit::Kind::Delete) {
        Problems problems{edit.name};
        rule = read_lone_rule(edit.text, problems);
        if (rule && edit.kind == RuleEdit::Kind::Replace && rule->id != edit.id) {
            problems.error({rule->line, rule->column},
                           "the rule is called `" + rule->id + "`, not `" + edit.id + "`");
        }
        if (problems.has_errors()) {
            return refused(rules.board.view()->generation, does_not_compile(problems.list()));
        }
    }
    const std::lock_guard lock{rules.editing};
    for (;;) {
        std::optional<RuleChange> done = try_edit(rules, edit, rule ? &*rule : nullptr);
        if (done) {
            return *std::move(done);
        }
    }
}

}  // namespace sluice

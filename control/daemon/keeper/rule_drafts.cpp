#include "control/daemon/keeper/rule_drafts.hpp"

#include "control/daemon/keeper/edited_rules.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace sluice {
namespace {

// Set in which the first rule of a box is written.
constexpr const char* kEmptyRules = "version: 1\nrules: []\n";

StoredRules set_in_force(LiveRules& rules) {
    const std::lock_guard lock{rules.changing};
    const StoredRules* const now = rules.applied.current();
    return now != nullptr ? *now
                          : StoredRules{.file = "rules.yaml", .text = kEmptyRules, .modes = {}};
}

bool has_file(const StoredRules& rules, const std::string& name) {
    const std::vector<RuleFilePart> parts = parts_of(rules);
    return parts.empty() ? rules.file == name
                         : std::any_of(parts.begin(), parts.end(),
                                       [&](const RuleFilePart& part) { return part.file == name; });
}

Refusal no_such_file(const std::string& name) {
    return {Refusal::Kind::NoSuchRule, "no file of the rules in force is called " + name, {}};
}

Refusal not_compiled(FairTurns::Refused why) {
    if (why == FairTurns::Refused::Crowded) {
        return {Refusal::Kind::Busy,
                "drafts of " + std::to_string(FairTurns::Terms{}.most_waiting) +
                    " others wait to be compiled, as many as may",
                {}};
    }
    return {Refusal::Kind::Superseded,
            "a newer draft of yours came while this one waited for others to be compiled",
            {}};
}

// Whoever writes a draft may not be allowed to read what the set's applicant could: of what is
// wrong in a list or a file of overrides the place is told, and not what stands there.
void hide_data(std::vector<Problem>& problems, const StoredRules& rules) {
    for (Problem& problem : problems) {
        if (!problem.file.empty() && !has_file(rules, problem.file)) {
            problem.message =
                "the line is not what the rules would read here; apply them to be told";
        }
    }
}

CheckedDraft not_sound(Problems problems, std::string id) {
    return {.id = std::move(id), .problems = problems.list()};
}

// Puts a whole file in its place. False: the set has several files, and none of that name.
bool put_file(StoredRules& rules, const RuleDraft& draft, std::string& file) {
    if (rules.slices.empty()) {
        rules.text = draft.text;
        file = rules.file;
        return draft.file.empty() || draft.file == file;
    }
    std::size_t offset = 0;
    for (FileSlice& slice : rules.slices) {
        if (slice.name == draft.file) {
            rules.text.replace(offset, slice.size, draft.text);
            slice.size = draft.text.size();
            file = slice.name;
            return true;
        }
        offset += slice.size;
    }
    return false;
}

Compiled compiled_draft(StoredRules& next, const LiveRules& rules, const std::string& id) {
    return compile_draft(next, rules.link.rss_mapping(), {.is_refused = true, .of = id});
}

std::variant<CheckedDraft, Refusal> check_file(StoredRules next, const RuleDraft& draft,
                                               const LiveRules& rules) {
    std::string file;
    if (!put_file(next, draft, file)) {
        return no_such_file(draft.file);
    }
    Compiled compiled = compiled_draft(next, rules, "");
    for (Problem& problem : compiled.problems) {
        problem.file = problem.file == file ? "" : problem.file;
    }
    hide_data(compiled.problems, next);
    return CheckedDraft{.rules = std::move(compiled.rules),
                        .problems = std::move(compiled.problems)};
}

std::variant<CheckedDraft, Refusal> check_rule(const StoredRules& now, const RuleDraft& draft,
                                               const LiveRules& rules) {
    const RuleEdit edit{.kind = draft.rule.empty() ? RuleEdit::Kind::Add : RuleEdit::Kind::Replace,
                        .id = draft.rule,
                        .text = draft.text,
                        .into = draft.file};
    Problems problems{""};
    const std::optional<LoneRule> rule = read_edit(edit, problems);
    if (!rule) {
        return not_sound(std::move(problems), "");
    }
    std::variant<EditedRules, Refusal> made = edited(now, edit, &*rule, *rules.board.view());
    if (auto* const refusal = std::get_if<Refusal>(&made)) {
        if (refusal->kind == Refusal::Kind::NoSuchRule) {
            return std::move(*refusal);
        }
        problems.error(value_of(rule->tree, "id")->at, refusal->what);
        return not_sound(std::move(problems), rule->id);
    }
    auto& become = std::get<EditedRules>(made);
    become.next.modes.erase(rule->id);
    Compiled compiled = compiled_draft(become.next, rules, rule->id);
    show_in_its_file(compiled.problems, become, "", *rule);
    hide_data(compiled.problems, become.next);
    CheckedDraft checked{.id = rule->id,
                         .rules = std::move(compiled.rules),
                         .problems = std::move(compiled.problems)};
    if (draft.alone && checked.rules) {
        become.next.modes[rule->id] = Mode::Monitor;
        become.next.lives.erase(rule->id);
        checked.alone = compile_alone(become.next, rules.link.rss_mapping(), rule->id).rules;
    }
    return checked;
}

}  // namespace

std::variant<CheckedDraft, Refusal> RuleDrafts::check(const RuleDraft& draft) {
    const std::variant<FairTurns::Turn, FairTurns::Refused> turn = turns_.enter(draft.from);
    if (const auto* const why = std::get_if<FairTurns::Refused>(&turn)) {
        return not_compiled(*why);
    }
    StoredRules now = set_in_force(rules_);
    if (now.generation == 0 && !draft.file.empty()) {
        now.file = draft.file;
    }
    if (draft.whole) {
        return check_file(std::move(now), draft, rules_);
    }
    return draft.file.empty() || has_file(now, draft.file) ? check_rule(now, draft, rules_)
                                                           : no_such_file(draft.file);
}

}  // namespace sluice

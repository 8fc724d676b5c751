#include "control/daemon/keeper/list_reload.hpp"

#include <utility>

namespace sluice {
namespace {

// The first of them, and how many more there are.
std::string first_error(const std::vector<Problem>& problems) {
    std::string first;
    std::size_t others = 0;
    for (const Problem& problem : problems) {
        if (problem.severity == Severity::Error) {
            others += first.empty() ? 0 : 1;
            first = first.empty() ? render(problem, "") : first;
        }
    }
    return others == 0 ? first : first + " (and " + std::to_string(others) + " more)";
}

// All lists as their files are now, but for those that were sent along. -> whether any is another.
Result<bool> read_again(StoredRules& rules) {
    bool same = true;
    for (auto& [path, text] : rules.lists) {
        if (rules.sent.contains(path)) {
            continue;
        }
        const Result<ListFile> file = read_list(rules, path);
        if (!file) {
            return file.error();
        }
        same = same && *file->text == *text;
        text = file->text;
    }
    return !same;
}

RuleChange push_reloaded(LiveRules& rules, StoredRules next, Compiled compiled) {
    RuleChange change = rules.push_edited(std::move(next), std::move(compiled));
    if (!change.refusal) {
        rules.board.set_list_problem("");
    } else if (change.refusal->kind == Refusal::Kind::DoesNotCompile) {
        rules.board.set_list_problem(first_error(change.refusal->problems));
    }
    return change;
}

}  // namespace

std::optional<RuleChange> reload_lists(LiveRules& rules) {
    AppliedRules& applied = rules.applied;
    CompileTries tries{rules.changing};
    for (;;) {
        tries.lock();
        if (applied.current() == nullptr || applied.current()->lists.empty()) {
            rules.board.set_list_problem("");
            return std::nullopt;
        }
        StoredRules next = *applied.current();
        const std::uint64_t edition = applied.edition();
        const bool is_alone = tries.begin_compile();
        const Result<bool> changed = read_again(next);
        Compiled compiled;
        if (changed && *changed) {
            next.changed_at = applied.now();
            compiled = rules.compile_now(next);
        }
        tries.lock();
        if ((!is_alone && applied.edition() != edition) || !applied.renew_lives(next, compiled)) {
            continue;  // other rules came meanwhile: it is their lists that count
        }
        if (!changed) {
            rules.board.set_list_problem(changed.error().what);
            return refused(applied.generation(),
                           {Refusal::Kind::DoesNotCompile, changed.error().what, {}});
        }
        if (!*changed) {
            rules.board.set_list_problem("");
            return std::nullopt;
        }
        return push_reloaded(rules, std::move(next), std::move(compiled));
    }
}

}  // namespace sluice

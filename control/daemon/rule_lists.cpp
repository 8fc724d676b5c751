#include "control/daemon/rule_keeper.hpp"

#include <spdlog/spdlog.h>

#include <utility>

// Lists whose files change.
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

// All lists as their files are now. -> whether any is another.
Result<bool> read_again(StoredRules& rules) {
    bool same = true;
    for (auto& [path, text] : rules.lists) {
        const Result<ListFile> file = read_list(rules, path);
        if (!file) {
            return file.error();
        }
        same = same && *file->text == *text;
        text = file->text;
    }
    return !same;
}

}  // namespace

std::optional<Change> RuleKeeper::reload_lists() {
    for (;;) {
        std::unique_lock lock{changing_};
        if (current() == nullptr || current()->lists.empty()) {
            set_list_problem("");
            return std::nullopt;
        }
        StoredRules next = *current();
        lock.unlock();
        const Result<bool> changed = read_again(next);
        Compiled compiled;
        if (changed && *changed) {
            next.changed_at = now_();
            compiled = compile_at(next, now_(), link_.spread());
        }
        lock.lock();
        if (!is_in_force(next) || !goes_on(next, compiled)) {
            continue;  // other rules came meanwhile: it is their lists that count
        }
        if (!changed) {
            set_list_problem(changed.error().what);
            return refused(generation(), {Refusal::Kind::DoesNotCompile, changed.error().what, {}});
        }
        if (!*changed) {
            set_list_problem("");
            return std::nullopt;
        }
        return take_lists(std::move(next), std::move(compiled));
    }
}

// On trial the set stays on trial, until the same instant.
Change RuleKeeper::take_lists(StoredRules next, Compiled compiled) {
    Change change =
        push(std::move(next), std::move(compiled),
             {.force = true, .end = trial_ ? std::optional{trial_->end} : std::nullopt});
    if (!change.refusal) {
        set_list_problem("");
    } else if (change.refusal->kind == Refusal::Kind::DoesNotCompile) {
        set_list_problem(first_error(change.refusal->problems));
    }
    return change;
}

// Said in the log once, and to everybody who looks at the rules while it lasts.
void RuleKeeper::set_list_problem(std::string problem) {
    if (problem == list_problem_) {
        return;
    }
    if (problem.empty()) {
        spdlog::info("the lists and databases are good again");
    } else {
        spdlog::error("a list or database has changed and is not in force, the old one goes on: {}",
                      problem);
    }
    list_problem_ = std::move(problem);
    const std::lock_guard lock{looking_};
    RuleView next = *view_;
    next.list_problem = list_problem_;
    view_ = std::make_shared<const RuleView>(std::move(next));
}

}  // namespace sluice

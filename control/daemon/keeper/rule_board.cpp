#include "control/daemon/keeper/rule_board.hpp"

#include "control/daemon/tenant_compile.hpp"
#include "control/list_folder.hpp"
#include "control/visible_text.hpp"
#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostToldProblems = 10;  // in the log

std::string line_of(const Problem& problem) {
    return problem.at.line == 0 ? fmt::format("{}: {}", problem.file, problem.message)
                                : fmt::format("{}:{}:{}: {}", problem.file, problem.at.line,
                                              problem.at.column, problem.message);
}

// With a large list a condition is large, and readers of the view have the text of its lists.
void forget_lists(Expression& condition) {
    if (condition.leaf.from_list) {
        condition.leaf = {.field = condition.leaf.field,
                          .negated = condition.leaf.negated,
                          .numbers = {},
                          .v4 = {},
                          .v6 = {},
                          .from_list = true};
    }
    if (condition.text.from_list) {
        condition.text.texts = {};
    }
    for (Expression& part : condition.parts) {
        forget_lists(part);
    }
}

using Asked = std::map<std::string_view, const NotifyTerms*>;

// Rules that ask for notices, and for which.
Asked asked_by(const std::vector<RuleSummary>& rules) {
    Asked asked;
    for (const RuleSummary& rule : rules) {
        if (rule.notify && rule.mode != Mode::Off) {
            asked.emplace(rule.id, &*rule.notify);
        }
    }
    return asked;
}

// True if rules ask for notices that they did not ask for before.
bool ask_more(const std::vector<RuleSummary>& rules, const std::vector<RuleSummary>& before) {
    const Asked asked = asked_by(before);
    for (const auto& [id, terms] : asked_by(rules)) {
        const auto old = asked.find(id);
        for (std::size_t i = 0; i < kNotifyEventCount; ++i) {
            if (terms->on[i] && (old == asked.end() || !old->second->on[i])) {
                return true;
            }
        }
    }
    return false;
}

// True if some rule is judged otherwise, or is new or gone.
bool have_turned(const std::vector<RuleSummary>& rules, const std::vector<RuleSummary>& before) {
    using Judged = std::tuple<Mode, Exceeding>;
    std::map<std::string_view, Judged> former;
    for (const RuleSummary& rule : before) {
        former.emplace(rule.id, Judged{rule.mode, rule.exceeding});
    }
    return rules.size() != before.size() ||
           std::ranges::any_of(rules, [&](const RuleSummary& rule) {
               const auto found = former.find(rule.id);
               return found == former.end() || found->second != Judged{rule.mode, rule.exceeding};
           });
}

// The modes that the file gives its rules and services, beside those that run.
void note_file_modes(const StoredRules& rules, RuleView& view) {
    Problems ignored{rules.file};
    const std::vector<RuleFilePart> parts = joint_parts(rules, view.aside);
    const std::optional<CompiledRules> as_written =
        modes_in_force(rules.modes, rules.lives).empty()
            ? std::nullopt
            : compile_rules({.file = rules.file,
                             .text = rules.text,
                             .patterns = &pattern_cache(),
                             .parts = parts},
                            Purpose::Check, {}, ignored);
    view.file_modes.clear();
    for (const RuleSummary& rule : as_written ? as_written->rules : view.rules) {
        view.file_modes.push_back(rule.mode);
    }
    view.service_file_modes.clear();
    for (const ServiceSummary& service : as_written ? as_written->services : view.services) {
        view.service_file_modes.push_back(service.mode);
    }
}

}  // namespace

std::shared_ptr<const RuleView> RuleBoard::view() const {
    const std::lock_guard lock{reading_};
    return view_;
}

void RuleBoard::publish(RuleView next) {
    auto view = std::make_shared<const RuleView>(std::move(next));
    const std::lock_guard lock{reading_};
    view_ = std::move(view);
}

void RuleBoard::note_sending() {
    sent_ = std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
}

namespace {

void log_aside(const std::map<std::string, std::string>& before,
               const std::map<std::string, std::string>& now) {
    for (const auto& [tenant, why] : now) {
        if (!before.contains(tenant)) {
            spdlog::warn("the rules of {} stand aside: {}", tenant, visible_line(why));
        }
    }
    for (const auto& [tenant, why] : before) {
        if (!now.contains(tenant)) {
            spdlog::info("the rules of {} stand aside no more", tenant);
        }
    }
}

}  // namespace

void RuleBoard::show(const AppliedRules& applied, CompiledRules* compiled) {
    const StoredRules& rules = *applied.current();
    RuleView next{.generation = rules.generation,
                  .file = rules.file,
                  .text = rules.text,
                  .slices = rules.slices,
                  .tag = tag_of(rules),
                  .rules = {},
                  .file_modes = {},
                  .modes = rules.modes,
                  .lives = rules.lives,
                  .keys = rules.keys,
                  .changed_at = rules.changed_at,
                  .changed_by = rules.changed_by,
                  .since = 0,
                  .note = rules.note,
                  .tenants = rules.tenants,
                  .aside = {},
                  .unconfirmed = applied.unconfirmed(),
                  .sent = rules.sent,
                  .lists = rules.lists,
                  .directory = rules.directory,
                  .applied_by = rules.applied_by,
                  .list_problem = list_problem_,
                  .returns = returns_,
                  .reverts = reverts_,
                  .put_aside = put_aside_};
    if (compiled != nullptr) {
        next.aside = std::move(compiled->aside);
        next.rules = std::move(compiled->rules);
        next.services = std::move(compiled->services);
        next.list_summaries = std::move(compiled->lists);
    }
    const std::shared_ptr<const RuleView> before = view();
    log_aside(before->aside, next.aside);
    next.turns = before->turns + (have_turned(next.rules, before->rules) ? 1 : 0);
    next.since = ask_more(next.rules, before->rules) ? sent_ : before->since;
    for (const auto& [path, text] : rules.lists) {
        if (!rules.sent.contains(path)) {
            next.list_files.insert(list_path(rules.directory, path));
        }
    }
    for (RuleSummary& rule : next.rules) {
        rule.sees_all = true;
        forget_lists(rule.condition);
    }
    for (ServiceSummary& service : next.services) {
        service.condition = {};
    }
    note_file_modes(rules, next);
    publish(std::move(next));
}

std::size_t RuleBoard::show_confirmed() {
    RuleView next = *view();
    next.unconfirmed.reset();
    const auto on = std::ranges::count_if(next.rules, [](const RuleSummary& rule) {
        return rule.mode != Mode::Off && tenant_of(rule.id).empty();
    });
    publish(std::move(next));
    return static_cast<std::size_t>(on);
}

void RuleBoard::count_put_aside(std::uint64_t files) {
    put_aside_ += files;
    RuleView next = *view();
    next.put_aside = put_aside_;
    publish(std::move(next));
}

void RuleBoard::set_problem(const std::vector<Problem>& problems) {
    RuleView next = *view();
    next.problem.clear();
    std::size_t told = 0;
    for (const Problem& problem : problems) {
        if (problem.severity != Severity::Error || told == kMostToldProblems) {
            continue;
        }
        ++told;
        const std::string text = line_of(problem);
        spdlog::error("the rules in force: {}", text);
        next.problem = next.problem.empty() ? text : next.problem;
    }
    publish(std::move(next));
}

void RuleBoard::set_list_problem(std::string problem) {
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
    RuleView next = *view();
    next.list_problem = list_problem_;
    publish(std::move(next));
}

}  // namespace sluice

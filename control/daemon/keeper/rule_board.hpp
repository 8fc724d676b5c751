#pragma once
#include "control/daemon/keeper/applied_rules.hpp"
#include "control/daemon/rule_change.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

// The rules in force as others see them. Reading never waits for a change that is under way;
// everything else is called by the one that makes the change.
class RuleBoard {
public:
    RuleBoard() { note_sending(); }

    [[nodiscard]] std::shared_ptr<const RuleView> view() const;

    // The set in force, with the summaries that compiling it gave, which it takes. nullptr: it does
    // not compile.
    void show(const AppliedRules& applied, CompiledRules* compiled);
    // The set that was on trial is confirmed. -> how many of its rules are on.
    std::size_t show_confirmed();
    // Why lists that have changed are not in force; empty: they are. Logged once, and part of the
    // view while it lasts.
    void set_list_problem(std::string problem);

    // Called before a dataplane is given a set that show() has to show next.
    void note_sending();

    void count_return() noexcept { ++returns_; }
    void count_revert() noexcept { ++reverts_; }
    // The set does not compile, and is not shown therefore: until show() is called again.
    void set_problem(const std::vector<Problem>& problems);
    // Counts files that could not be read.
    void count_put_aside(std::uint64_t files);

private:
    void publish(RuleView next);

    std::int64_t sent_;  // UTC, nanoseconds: the last set sent, or the start
    std::string list_problem_;
    std::uint64_t returns_ = 0;
    std::uint64_t reverts_ = 0;
    std::uint64_t put_aside_ = 0;
    mutable std::mutex reading_;  // of the view
    std::shared_ptr<const RuleView> view_ = std::make_shared<const RuleView>();
};

}  // namespace sluice

#pragma once
#include "control/daemon/fair_turns.hpp"
#include "control/daemon/keeper/live_rules.hpp"

#include <string>
#include <variant>
#include <vector>

namespace sluice {

// A text that somebody writes: one rule that is to stand in the set in force, or a whole file of
// it.
struct RuleDraft {
    std::string text;
    bool whole = false;
    std::string file{};  // of the set; empty: the only one, or the last that has rules
    std::string rule{};  // that one rule is to replace; empty: it is new
    std::string from{};  // who asks, in words that no other asker has
    bool alone = false;  // the one rule is compiled by itself, too
};

// A draft as it would be if it were applied. Of problems that stand in the draft `file` is empty
// and the place is the draft's; others stand in files of the set.
struct CheckedDraft {
    std::string id{};                      // of one rule; empty: of a whole file, or unreadable
    std::optional<CompiledRules> rules{};  // nullopt: there is an error among the problems
    std::vector<Problem> problems{};
    std::optional<CompiledRules> alone{};  // the rule by itself, active whatever its mode and times
};

// Drafts, compiled against the set in force. Nothing changes by it and no file is read.
class RuleDrafts {
public:
    explicit RuleDrafts(LiveRules& rules) noexcept : rules_{rules} {}

    // One is compiled at a time, of each asker the newest, the askers in turn. Refusal::Kind::
    // Superseded: the asker's next draft came before this one was compiled. Busy: too many others
    // wait. NoSuchRule: the rule or file that the draft is for is not there.
    [[nodiscard]] std::variant<CheckedDraft, Refusal> check(const RuleDraft& draft);

private:
    LiveRules& rules_;
    FairTurns turns_;
};

}  // namespace sluice

#pragma once
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/rule_counts.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sluice {

// The counts of a rule, over all workers.
struct RuleTotals {
    RuleCounts counts;
    // Packets that each limit of a rule with several has refused, by their order in it.
    std::array<std::uint64_t, kMaxLimitsPerRule> refused{};
};

// Assigns rows of the workers' rule counters to rule ids. A rule keeps its row over reloads, and
// while it is off or gone, until another rule finds no row but that; so its counters go on. Rows
// are never zeroed, since only workers write them: a row that is given out anew remembers what it
// held, and that is subtracted.
class RuleRows {
public:
    // Reads the counts that the workers have written to a row so far, all of them together.
    using ReadRow = std::function<RuleTotals(std::uint32_t row)>;

    RuleRows();

    // Gives every rule of the set its row; where none is free, that of the rule that is gone
    // longest.
    void assign(LoadedSet& set, const ReadRow& read);

    // The counts of a rule since it came.
    [[nodiscard]] RuleTotals totals(const LoadedRule& rule, const ReadRow& read) const;

private:
    struct Row {
        std::uint32_t index = 0;
        RuleTotals before;
        std::vector<std::string> limits;  // their names; what others of them refused is not theirs
    };
    static void adopt_limits(const LoadedRule& rule, Row& row, const ReadRow& read);
    void note_gone(const LoadedSet& set);
    [[nodiscard]] std::uint32_t take_row();

    std::map<std::string, Row> by_id_;
    std::deque<std::string>
        gone_;  // of these, rules that are not in the set: the first one longest
    std::deque<std::uint32_t> free_;
};

}  // namespace sluice

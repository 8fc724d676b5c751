#pragma once
#include "lib/policy/clauses/clause_overlap.hpp"
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/compile.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

// One limit while scopes are decided.
struct ScopedLimit {
    LimitSummary& summary;
    MeteredLimit* limit = nullptr;  // in the set; nullptr: its rule is off, or it is not built
    LimitScope scope = LimitScope::Local;
    bool can_merge = false;
    const char* why = nullptr;  // it cannot be merged
};

// And one rule with limits.
struct ScopedRule {
    RuleSummary& summary;
    Rule* rule = nullptr;                          // in the set; nullptr: it is off
    const std::vector<Clause>* clauses = nullptr;  // that it matches; nullptr: not known
    std::vector<ScopedLimit> limits;
    const ScopedRule* handed_by = nullptr;  // whose packets it has in common, so it is not local
    std::size_t group = 0;                  // that it is of, while they are united
    bool reads_units = false;               // its condition or keys do, or its limits count them
    // Packets that it judges may have units that some rule reads: they stay where they come, since
    // what is remembered of their connection does.
    bool stays = false;

    // True if a limit that is in the set has this scope.
    [[nodiscard]] bool has(LimitScope scope) const noexcept;
};

// Rules whose packets are handed over, and what that does to the others.
class OwnerGroups {
public:
    OwnerGroups(std::vector<ScopedRule>& rules, const SetPool& pool)
        : rules_{rules}, pool_{pool}, overlap_{pool} {}

    // Limits at owners whose packets stay where they come are asked there.
    void ask();
    // Limits that are local no more are merged, or at owners too.
    void spread();
    // Puts into the set what each group's keys have in common, and the group's number into its
    // rules.
    void write(RuleSet& set);

private:
    [[nodiscard]] std::vector<const std::vector<Clause>*> clauses_of_rules() const;
    void meet(ScopedRule& handed, ScopedRule& other);
    void unite(std::size_t a, std::size_t b);
    [[nodiscard]] std::size_t root_of(std::size_t rule);
    [[nodiscard]] bool may_meet(const ScopedRule& a, const ScopedRule& b);

    void spread_from(std::size_t handed, const std::vector<std::size_t>& others);

    std::vector<ScopedRule>& rules_;
    const SetPool& pool_;
    ClauseOverlap overlap_;
    std::vector<std::size_t> handed_;  // rules with limits at owners, in the order they were found
};

}  // namespace sluice

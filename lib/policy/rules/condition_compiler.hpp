#pragma once
#include "lib/policy/clauses/clause_order.hpp"
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/rules/rule_reader.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

#include <string>
#include <vector>

namespace sluice {

// For a condition that makes more clauses than kMaxClausesPerRule.
[[nodiscard]] std::string too_many_alternatives(const Expression& when);

// The conditions of a file's rules as clauses, and the classifier that these compile to.
class ConditionCompiler {
public:
    ConditionCompiler(const LineIndex& lines, Problems& problems) noexcept
        : lines_{lines}, problems_{problems} {}

    // The rule that `compiled` gets next. One that is off is checked like the others, and leaves
    // nothing behind. Reports a condition with too many alternatives, or one that never holds.
    void add(const YamlNode& node, const ReadRule& read, const CompiledRules& compiled);

    // Beside each rule of the set.
    [[nodiscard]] const std::vector<PlacedRule>& placed() const noexcept { return placed_; }
    // Alternatives of all conditions so far.
    [[nodiscard]] std::size_t clause_count() const noexcept { return clauses_.size(); }
    [[nodiscard]] SetPool& sets() noexcept { return sets_; }

    // Compiles all of them once, into the classifier of the set; `rules` is where they stand in the
    // file. Reports what is too large, patterns that are refused, and those that cost much.
    void compile(const YamlNode& rules, PatternCache* patterns, CompiledRules& compiled);

private:
    void report_impossible(Position at, const ReadRule& read, const std::vector<Clause>& clauses,
                           const TextNames& names);
    [[nodiscard]] Position place_of(const YamlNode& rules, const CompiledRules& compiled,
                                    const PatternRefusal& refusal) const;
    void warn_of_costs(const YamlNode& rules, const ScanCosts& costs, const TextNames& names) const;

    const LineIndex& lines_;
    Problems& problems_;
    SetPool sets_;
    std::vector<RuleClause> clauses_;
    std::vector<PlacedRule> placed_;
    std::vector<const YamlNode*> nodes_;  // that CompiledRules::rules were read from
};

}  // namespace sluice

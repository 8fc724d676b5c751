#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/column_test.hpp"
#include "lib/match/dimension.hpp"
#include "lib/match/rule_matches.hpp"
#include "lib/packet/header_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// The clauses of a small rule set as tests over whole columns: each distinct test is decided once
// for a burst, a clause is the AND of its tests' row masks, cheapest first, and ends as soon as no
// row is left. The result is by rule, so there is nothing to transpose.
class ClauseProgram {
public:
    // More clauses are not worth trying.
    static constexpr std::size_t kMaxProgramClauses = 2 * kBlockBits;
    static constexpr std::size_t kMaxTests = 1024;

    // Empty: such a rule set goes through the index.
    ClauseProgram() = default;
    // The parts are sound; `dimensions` are made from them and have their strides. Empty where the
    // index of bit sets is cheaper, by estimate, or the clauses are too many.
    [[nodiscard]] static ClauseProgram make(const ClassifierParts& parts,
                                            std::span<const Dimension> dimensions);
    // The same, however expensive, if it can be made at all: for tests and measurements.
    [[nodiscard]] static ClauseProgram make_anyway(const ClassifierParts& parts,
                                                   std::span<const Dimension> dimensions);

    [[nodiscard]] bool empty() const noexcept { return !ready_; }

    // Fills matched() and pending(), whose clauses are noted for match_texts(). `dimensions`: those
    // it was made for.
    void match(const HeaderColumns& columns, RowMask rows, const ClassifierParts& parts,
               std::span<const Dimension> dimensions, RuleMatches& matches) const noexcept;

    // The pending clauses of these rows, as match() has noted them, become candidates.
    static void list_candidates(RowMask rows, RuleMatches& matches) noexcept;

private:
    friend class ClauseProgramBuilder;
    class Run;

    struct Clause {
        std::uint32_t number = 0;  // in the parts
        std::uint32_t first_term = 0;
        std::uint32_t past_terms = 0;
    };
    // All clauses of one rule: those that headers decide come first.
    struct RuleClauses {
        std::uint32_t rule = 0;
        std::uint32_t first = 0;
        std::uint32_t first_with_text = 0;
        std::uint32_t past = 0;
        bool always = false;
    };

    bool ready_ = false;
    std::vector<ColumnTest> tests_;
    std::vector<std::uint16_t> terms_;  // tests, clause by clause
    std::vector<Clause> clauses_;
    std::vector<RuleClauses> rules_;  // ascending
};

}  // namespace sluice

#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/clause_planes.hpp"
#include "lib/match/clause_program.hpp"
#include "lib/match/dimension.hpp"
#include "lib/match/rule_matches.hpp"
#include "lib/match/text_matcher.hpp"
#include "lib/packet/frame_columns.hpp"
#include "lib/packet/header_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// Finds the rules that match a packet, at a cost hardly dependent on their number. Every dimension
// of some rule is looked up once per packet and leads to a row of bits, one per clause; the AND of
// the rows is the answer; dimensions of few rows are multiplied out beforehand. A summary, one bit
// per 512 clauses, excludes the blocks whose AND is zero. (Lakshman and Stiliadis, SIGCOMM 1998;
// with aggregation, Baboescu and Varghese, SIGCOMM 2001.) Never changed once it is used.
class Classifier {
public:
    // For no rules at all.
    Classifier() = default;
    // The parts are sound: see are_sound().
    explicit Classifier(ClassifierParts parts, Lookups lookups = Lookups::Fast);

    // Before packets come in numbers; of one that is fast already nothing changes.
    void make_fast();

    // The rules that every packet satisfies, in order.
    [[nodiscard]] std::span<const std::uint32_t> always() const noexcept { return parts_.always; }
    // True if there are no others.
    [[nodiscard]] bool asks_nothing() const noexcept {
        return dimensions_.empty() && texts_.asks_nothing();
    }
    // True if a rule tests a text, so that match_texts() has work.
    [[nodiscard]] bool asks_text() const noexcept { return !texts_.asks_nothing(); }
    [[nodiscard]] const TextMatcher& texts() const noexcept { return texts_; }

    // Matching a burst in columns, in two steps. First: which of `rows`, all of them well-formed,
    // match which rules by their headers, and which rules are left to the texts. Small rule sets go
    // clause by clause over whole columns, large ones through the index of bit sets: the cheaper by
    // an estimate made with the tables, and the result is the same.
    void match_headers(const HeaderColumns& columns, RowMask rows,
                       RuleMatches& matches) const noexcept;
    // Second, after match_headers() of the same columns: reads the texts of those of `rows` in
    // which a rule is pending, each once, and adds the rules that they satisfy to matched(). These
    // rows are no longer pending.
    void match_texts(const FrameColumns& frames, const HeaderColumns& columns, RowMask rows,
                     TextScratch& scratch, RuleMatches& matches) const noexcept;

    // True if match_headers() goes clause by clause, and not through the index.
    [[nodiscard]] bool is_by_clause() const noexcept { return !program_.empty(); }
    // Overrides the estimate, if the clauses are not too many: for tests and measurements.
    enum class Way : std::uint8_t { ByClause, ByIndex };
    void choose(Way way);

    // The parts that it was made from.
    [[nodiscard]] const ClassifierParts& parts() const noexcept { return parts_; }
    // With fast look-ups, whichever it has.
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    void match_without_texts(RowMask bare, RuleMatches& matches) const noexcept;
    void match_without_texts(const TextCandidates::Candidate& candidate,
                             RuleMatches& matches) const noexcept;
    void set_strides();
    void finish_lookups(Lookups lookups);
    void find_rows(const HeaderColumns& columns, RowMask valid,
                   ClausePlanes::Rows& rows) const noexcept;
    void match_by_index(const HeaderColumns& columns, RowMask valid,
                        RuleMatches& matches) const noexcept;
    void split_open(const ClausePlanes::Search& search, RowMask valid,
                    RuleMatches& matches) const noexcept;
    void list_pending(RuleMatches& matches) const noexcept;
    ClassifierParts parts_;
    Lookups lookups_ = Lookups::Fast;
    std::vector<Dimension> dimensions_;
    ClausePlanes planes_;
    TextMatcher texts_;
    std::vector<Block> text_clauses_;  // by block: the clauses over a text
    ClauseProgram program_;            // empty: the index is cheaper
};

}  // namespace sluice

#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/match/found_rules.hpp"
#include "lib/match/rule_bits.hpp"
#include "lib/match/rule_hits.hpp"
#include "lib/match/text_candidates.hpp"
#include "lib/packet/row_mask.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The packets of a burst that match one rule.
struct RuleMatch {
    std::uint32_t rule = 0;
    RowMask rows = 0;

    [[nodiscard]] constexpr bool operator==(const RuleMatch&) const noexcept = default;
};

// The matches that Classifier::match_headers() and match_texts() find in a burst, and their working
// memory, all allocated once: one per worker.
class RuleMatches {
public:
    // Every rule that some packet matches, once, by ascending number; none without a row.
    [[nodiscard]] std::span<const RuleMatch> matched() const noexcept {
        return {matched_.get(), matched_count_};
    }
    // Rules that a text may still add, in the same form. The rows are those in which the headers
    // satisfy a clause of the rule, less those that match it by another clause; in a large rule set
    // other rows of pending_rows() may be among them. match_texts() removes the rows that it
    // decides.
    [[nodiscard]] std::span<const RuleMatch> pending() const noexcept {
        return {pending_.get(), pending_count_};
    }
    // The rows in which some rule is pending, whose texts match_texts() would read.
    [[nodiscard]] RowMask pending_rows() const noexcept { return pending_rows_; }

    // Leaves those rules alone that `stays` holds for, of all that were found so far.
    template <typename Stays>
    void keep(Stays&& stays) noexcept {
        const auto left_of = [&](RuleMatch* matches, std::size_t count) {
            RuleMatch* const end =
                std::remove_if(matches, matches + count,
                               [&](const RuleMatch& match) { return !stays(match.rule); });
            return static_cast<std::size_t>(end - matches);
        };
        matched_count_ = left_of(matched_.get(), matched_count_);
        pending_count_ = left_of(pending_.get(), pending_count_);
        RowMask rows = 0;
        for (const RuleMatch& match : pending()) {
            rows |= match.rows;
        }
        pending_rows_ &= rows;
    }

private:
    friend class Classifier;
    friend class ClauseProgram;

    // A clause of a ClauseProgram that a text decides.
    struct PendingClause {
        std::uint32_t number = 0;
        RowMask rows = 0;
    };

    void clear() noexcept {
        matched_count_ = pending_count_ = pending_clause_count_ = 0;
        pending_rows_ = 0;
        candidates_.clear();
    }
    void add_matched(std::uint32_t rule, RowMask rows) noexcept {
        matched_[matched_count_] = {rule, rows};
        matched_count_ += rows != 0 ? 1 : 0;
    }
    void add_pending(std::uint32_t rule, RowMask rows) noexcept {
        pending_[pending_count_] = {rule, rows};
        pending_count_ += rows != 0 ? 1 : 0;
    }
    void add_pending_clause(std::uint32_t number, RowMask rows) noexcept {
        pending_clauses_[pending_clause_count_] = {number, rows};
        pending_clause_count_ += rows != 0 ? 1 : 0;
        pending_rows_ |= rows;
    }
    [[nodiscard]] std::span<const PendingClause> pending_clauses() const noexcept {
        return {pending_clauses_.get(), pending_clause_count_};
    }
    // The rules of hits_ join matched(); the rows are pending no longer.
    void settle_texts(RowMask rows) noexcept;

    // Behind the last is room for one that does not count.
    LazyArray<RuleMatch> matched_ = uninitialized_array<RuleMatch>(RuleBits::kSize + 1);
    LazyArray<RuleMatch> pending_ = uninitialized_array<RuleMatch>(RuleBits::kSize + 1);
    LazyArray<PendingClause> pending_clauses_ = uninitialized_array<PendingClause>(kMaxClauses + 1);
    std::size_t matched_count_ = 0;
    std::size_t pending_count_ = 0;
    std::size_t pending_clause_count_ = 0;
    RowMask pending_rows_ = 0;
    FoundRules found_;  // clauses that the index finds, packet by packet
    RuleHits hits_;
    RuleBits pending_marks_;
    TextCandidates candidates_;
};

}  // namespace sluice

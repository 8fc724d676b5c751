#pragma once
#include "lib/match/found_rules.hpp"
#include "lib/match/rule_bits.hpp"
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice {

// The packets of a burst that match one rule.
struct RuleRows {
    std::uint32_t rule = 0;
    RowMask rows = 0;

    [[nodiscard]] constexpr bool operator==(const RuleRows&) const noexcept = default;
};

// What Classifier::match_headers() and match_texts() find of a burst, and their working memory, all
// allocated once: one per worker.
class RuleMatches {
public:
    // Every rule that some packet matches, once, by ascending number; none without a row.
    [[nodiscard]] std::span<const RuleRows> matched() const noexcept {
        return {matched_.get(), matched_count_};
    }
    // Rules that only a text still decides, the same way: in these rows a clause has all that it
    // asks of headers, and no other clause of the rule is satisfied. match_texts() takes the rows
    // that it looks at out of it.
    [[nodiscard]] std::span<const RuleRows> pending() const noexcept {
        return {pending_.get(), pending_count_};
    }
    // All rows of pending().
    [[nodiscard]] RowMask pending_rows() const noexcept { return pending_rows_; }

private:
    friend class Classifier;
    friend class ClauseProgram;
    friend class TextCandidates;

    using Rows = std::unique_ptr<RuleRows[]>;

    Rows matched_ = std::make_unique_for_overwrite<RuleRows[]>(RuleBits::kSize + 1);
    Rows pending_ = std::make_unique_for_overwrite<RuleRows[]>(RuleBits::kSize + 1);
    std::size_t matched_count_ = 0;
    std::size_t pending_count_ = 0;
    RowMask pending_rows_ = 0;
};

}  // namespace sluice

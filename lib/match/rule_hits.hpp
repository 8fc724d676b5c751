#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/match/rule_bits.hpp"
#include "lib/packet/row_mask.hpp"

#include <cstdint>

namespace sluice {

// The rows of each rule, added in any order and taken out by ascending rule. Empty again
// afterwards, so that it is cleared once in its life, and costs nothing for rules without a row.
class RuleHits {
public:
    void add(std::uint32_t rule, RowMask rows) noexcept {
        rows_[rule] |= rows;
        marked_.mark(rule);
    }
    [[nodiscard]] RowMask rows_of(std::uint32_t rule) const noexcept { return rows_[rule]; }

    // Calls take(rule, rows) for each rule that has been added.
    template <typename Take>
    void drain(Take&& take) noexcept {
        marked_.drain([&](std::uint32_t rule) {
            const RowMask rows = rows_[rule];
            rows_[rule] = 0;
            take(rule, rows);
        });
    }

private:
    LazyArray<RowMask> rows_ = zeroed_array<RowMask>(RuleBits::kSize);
    RuleBits marked_;
};

}  // namespace sluice

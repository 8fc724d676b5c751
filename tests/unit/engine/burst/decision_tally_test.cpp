#include "lib/engine/burst/decision_tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace sluice::decision_tally_test {
namespace {

struct Counts {
    std::array<Counter, kVerdictCount> by_verdict;
    std::array<Counter, kVerdictCount> bytes_by_verdict;
    std::array<Counter, kReasonCount> by_reason;
};

// The same as one by one, whatever the mixture and however many.
TEST(DecisionTally, CountsAsOneByOneDoes) {
    std::mt19937_64 random{5};
    for (std::size_t rows = 0; rows <= kMaxBurst; ++rows) {
        for (const std::uint64_t kinds : {1U, 2U, 40U}) {
            DecisionTally tally;
            Counts counts;
            std::array<std::uint64_t, kVerdictCount> verdicts{};
            std::array<std::uint64_t, kReasonCount> reasons{};
            std::array<std::uint64_t, kVerdictCount> bytes{};
            std::array<std::uint32_t, kMaxBurst> lengths;
            std::generate(lengths.begin(), lengths.end(),
                          [&] { return static_cast<std::uint32_t>(random() % 9'000); });
            RowMask noted = 0;
            for (std::size_t row = 0; row < rows; ++row) {
                const std::uint64_t kind = random() % kinds;
                if (random() % 8 == 0) {
                    continue;  // one that is not counted
                }
                noted |= row_bit(row);
                const Decision decision{
                    .verdict = Verdict{static_cast<std::uint8_t>(kind * 3 % kVerdictCount)},
                    .reason = Reason{static_cast<std::uint8_t>(kind * 5 % kReasonCount)}};
                tally.note(row, decision);
                ++verdicts[static_cast<std::size_t>(decision.verdict)];
                ++reasons[static_cast<std::size_t>(decision.reason)];
                bytes[static_cast<std::size_t>(decision.verdict)] += lengths[row];
            }
            tally.count(noted, lengths, counts);
            for (std::size_t i = 0; i < kVerdictCount; ++i) {
                EXPECT_EQ(counts.by_verdict[i].read(), verdicts[i]) << rows << ' ' << i;
                EXPECT_EQ(counts.bytes_by_verdict[i].read(), bytes[i]) << rows << ' ' << i;
            }
            for (std::size_t i = 0; i < kReasonCount; ++i) {
                EXPECT_EQ(counts.by_reason[i].read(), reasons[i]) << rows << ' ' << i;
            }
        }
    }
}

}  // namespace
}  // namespace sluice::decision_tally_test

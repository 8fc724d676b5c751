#include "lib/match/rule_bits.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace sluice::rule_bits_test {
namespace {

TEST(RuleBits, GivesInOrderAndOnceWhatWasMarkedAndIsEmptyThen) {
    RuleBits bits;
    std::mt19937 random{3};
    for (const std::size_t count : {0U, 1U, 2U, 70U, 5000U}) {
        std::set<std::uint32_t> want;
        for (std::size_t i = 0; i < count; ++i) {
            const auto rule = static_cast<std::uint32_t>(random() % RuleBits::kSize);
            want.insert(rule);
            bits.mark(rule);
            bits.mark(rule);
        }
        std::vector<std::uint32_t> got;
        bits.drain([&](std::uint32_t rule) { got.push_back(rule); });
        EXPECT_EQ(got, std::vector<std::uint32_t>(want.begin(), want.end()));
        bits.drain([](std::uint32_t rule) { ADD_FAILURE() << rule << " was left behind"; });
    }
    bits.mark(0);
    bits.mark(RuleBits::kSize - 1);
    std::vector<std::uint32_t> ends;
    bits.drain([&](std::uint32_t rule) { ends.push_back(rule); });
    EXPECT_EQ(ends, (std::vector<std::uint32_t>{0, RuleBits::kSize - 1}));
}

}  // namespace
}  // namespace sluice::rule_bits_test

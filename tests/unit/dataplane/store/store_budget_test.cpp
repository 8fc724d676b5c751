#include "dataplane/store/store_budget.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Taken = StoreBudget::Answer;

// What limits have to tell, in keys a second, and what of it is told in ten seconds. Each
// millisecond those that flood come first.
struct Telling {
    LimitSlot limit;
    std::uint64_t keys;  // a second
};
std::map<LimitSlot, std::map<Taken, std::uint64_t>> told(std::uint64_t budget,
                                                         const std::vector<Telling>& telling) {
    StoreBudget shares{budget};
    std::map<LimitSlot, std::map<Taken, std::uint64_t>> answers;
    std::map<LimitSlot, std::uint64_t> owed;  // in 1/1000
    for (Nanoseconds now = 100s; now < 110s; now += 1ms) {
        for (const Telling& each : telling) {
            owed[each.limit] += each.keys;
            for (; owed[each.limit] >= 1000; owed[each.limit] -= 1000) {
                const Taken answer = shares.take(each.limit, now);
                ++answers[each.limit][answer];
                if (answer == Taken::NotYet) {
                    break;  // it is asked again
                }
            }
        }
    }
    return answers;
}

TEST(StoreBudget, ALimitAloneHasAllOfIt) {
    auto answers = told(1000, {{7, 50'000}});
    EXPECT_GE(answers[7][Taken::Told], 9'900U);
    EXPECT_LE(answers[7][Taken::Told], 10'100U);
    EXPECT_GT(answers[7][Taken::BeyondPart], 0U);
}

TEST(StoreBudget, AFloodOfOneLimitLeavesOthersTheirPart) {
    auto answers = told(1000, {{7, 50'000}, {8, 300}, {9, 30}});
    EXPECT_GE(answers[8][Taken::Told], 2'990U);
    EXPECT_EQ(answers[8][Taken::BeyondPart], 0U);
    EXPECT_GE(answers[9][Taken::Told], 299U);
    EXPECT_EQ(answers[9][Taken::BeyondPart], 0U);
    const std::uint64_t all =
        answers[7][Taken::Told] + answers[8][Taken::Told] + answers[9][Taken::Told];
    EXPECT_LE(all, 10'100U);
    EXPECT_GE(answers[7][Taken::Told], 6'000U) << "what others leave is the flood's";
}

TEST(StoreBudget, TwoFloodsHaveHalfEach) {
    auto answers = told(1000, {{7, 50'000}, {8, 50'000}});
    EXPECT_NEAR(static_cast<double>(answers[7][Taken::Told]), 5'000, 300);
    EXPECT_NEAR(static_cast<double>(answers[8][Taken::Told]), 5'000, 300);
}

TEST(StoreBudget, OneKeyASecondIsTold) {
    auto answers = told(1, {{7, 50'000}});
    EXPECT_GE(answers[7][Taken::Told], 9U);
    EXPECT_LE(answers[7][Taken::Told], 11U);
}

}  // namespace
}  // namespace sluice

#include "control/daemon/api/condition_turns.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <vector>

namespace sluice::condition_turns_test {
namespace {

using namespace std::chrono_literals;

TEST(ConditionTurns, OneIsInsideAndTheNextFollows) {
    ConditionTurns turns;
    std::optional<ConditionTurns::Turn> first;
    first.emplace(turns, "ada");
    ASSERT_TRUE(*first);
    auto other = std::async(std::launch::async, [&] {
        const ConditionTurns::Turn turn{turns, "bob"};
        return static_cast<bool>(turn);
    });
    first.reset();
    EXPECT_TRUE(other.get());
}

TEST(ConditionTurns, WhoWaitsForTooLongHasNone) {
    ConditionTurns turns{1ms};
    const ConditionTurns::Turn first{turns, "ada"};
    ASSERT_TRUE(first);
    EXPECT_FALSE((ConditionTurns::Turn{turns, "bob"}));
    EXPECT_FALSE((ConditionTurns::Turn{turns, "ada"}));
}

// However many one asker sends, a place to wait is left to another.
TEST(ConditionTurns, ManyOfOneAskerHoldOnePlaceToWait) {
    ConditionTurns turns;
    std::optional<ConditionTurns::Turn> first;
    first.emplace(turns, "mallory");
    std::vector<std::future<bool>> theirs;
    for (std::size_t i = 0; i < 2 * ConditionTurns::kMostWaiting; ++i) {
        theirs.push_back(std::async(std::launch::async, [&] {
            const ConditionTurns::Turn turn{turns, "mallory"};
            return static_cast<bool>(turn);
        }));
    }
    auto other = std::async(std::launch::async, [&] {
        const ConditionTurns::Turn turn{turns, "oscar"};
        return static_cast<bool>(turn);
    });
    first.reset();
    EXPECT_TRUE(other.get());
    for (std::future<bool>& one : theirs) {
        EXPECT_TRUE(one.get());
    }
}

}  // namespace
}  // namespace sluice::condition_turns_test

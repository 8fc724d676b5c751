#include "control/daemon/api/explain_turns.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace sluice::explain_turns_test {
namespace {

constexpr std::chrono::hours kLong{24};

// Refused at once: who waited would do so for a day.
TEST(ExplainTurns, NobodyWaitsWithoutAPlace) {
    ExplainTurns turns{1, kLong};
    ExplainTurns::Turn turn = turns.take();
    EXPECT_TRUE(turn);
    EXPECT_FALSE(turns.take());
    turn.reset();
    EXPECT_TRUE(turns.take());
}

TEST(ExplainTurns, PlacesComeBackWhenPatienceEnds) {
    ExplainTurns turns{2, std::chrono::milliseconds{0}};
    ExplainTurns::Turn turn = turns.take();
    EXPECT_TRUE(turn);
    EXPECT_FALSE(turns.take());
    EXPECT_FALSE(turns.take());
    turn.reset();
    EXPECT_TRUE(turns.take());
}

TEST(ExplainTurns, WhoWaitsIsNext) {
    ExplainTurns turns{2, kLong};
    ExplainTurns::Turn turn = turns.take();
    bool was_served = false;
    std::thread other{[&] { was_served = turns.take() != nullptr; }};
    turn.reset();
    other.join();
    EXPECT_TRUE(was_served);
}

}  // namespace
}  // namespace sluice::explain_turns_test

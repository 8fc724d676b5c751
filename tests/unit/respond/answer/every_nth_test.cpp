#include "lib/respond/answer/every_nth.hpp"

#include <gtest/gtest.h>

namespace sluice::every_nth_test {
namespace {

TEST(EveryNth, TakesThatPart) {
    for (std::uint32_t every = 0; every < 6; ++every) {
        EveryNth slip;
        unsigned taken = 0;
        for (unsigned i = 1; i <= 60; ++i) {
            taken += slip.take(every) ? 1 : 0;
            EXPECT_EQ(taken, every == 0 ? 0 : i / every);
        }
    }
}

TEST(EveryNth, GoesOnWhenTheNumberChanges) {
    EveryNth slip;
    EXPECT_FALSE(slip.take(3));
    EXPECT_FALSE(slip.take(3));
    EXPECT_TRUE(slip.take(2));
    EXPECT_FALSE(slip.take(2));
}

}  // namespace
}  // namespace sluice::every_nth_test

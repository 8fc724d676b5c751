#include "keeper_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice::link_keeper_test {
namespace {

class LookedFor : public Keeper {};

TEST_F(LookedFor, ADataplaneThatStartsAnewIsMetAtTheNextTick) {
    start_dataplane();
    start_daemon();
    for (int round = 0; round < 2; ++round) {
        tick(100ms);
        EXPECT_TRUE(connected());
        stop_dataplane();
        for (int tries = 0; tries < 10; ++tries) {
            tick(100ms);
            EXPECT_FALSE(connected());
        }
        start_dataplane();
        tick(100ms);
        EXPECT_TRUE(connected());
    }
}

TEST_F(LookedFor, ADataplaneThatHasBeenAwayForLongIsMetInHalfASecond) {
    start_daemon();
    EXPECT_FALSE(connected());
    start_dataplane();
    tick(400ms);
    EXPECT_FALSE(connected());
    tick(100ms);
    EXPECT_TRUE(connected());
    stop_dataplane();
    tick(6s);
    start_dataplane();
    tick(499ms);
    EXPECT_FALSE(connected());
    tick(1ms);
    EXPECT_TRUE(connected());
}

TEST_F(LookedFor, ADataplaneThatDiesAsSoonAsItIsMetIsNotMetAtEveryTick) {
    start_daemon();
    for (int round = 0; round < 3; ++round) {
        start_dataplane();
        tick(499ms);
        EXPECT_FALSE(connected());
        tick(1ms);
        EXPECT_TRUE(connected());
        stop_dataplane();
    }
}

}  // namespace
}  // namespace sluice::link_keeper_test

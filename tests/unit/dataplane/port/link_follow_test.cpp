#include "dataplane/port/link_follow.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::link_follow_test {
namespace {

using Action = LinkFollow::Action;

struct Row {
    LinkFollow::Side outside;
    LinkFollow::Side inside;
    Action want;
};

TEST(LinkFollow, OneSideFollowsTheOther) {
    const Row rows[] = {
        {{true, false}, {true, false}, Action::None},
        {{false, false}, {true, false}, Action::HoldInside},
        {{true, false}, {false, false}, Action::HoldOutside},
        {{false, false}, {false, false}, Action::HoldInside},
        {{false, false}, {false, true}, Action::None},
        {{true, false}, {false, true}, Action::FreeInside},
        {{false, true}, {true, false}, Action::FreeOutside},
        {{false, true}, {false, false}, Action::None},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(LinkFollow::next(row.outside, row.inside), row.want);
    }
}

TEST(LinkSettling, SilenceSaysNothingUntilCarrierWasSeenOrPatienceEnds) {
    using namespace std::chrono_literals;
    const LinkSettling::Clock::time_point start{1h};
    LinkSettling link;
    EXPECT_FALSE(link.counts_as_up(false, start));  // nobody brought it up
    link.begin(start);
    EXPECT_TRUE(link.counts_as_up(false, start + 4999ms));
    EXPECT_FALSE(link.counts_as_up(false, start + 5s));
    link.begin(start);
    EXPECT_TRUE(link.counts_as_up(true, start + 1s));
    EXPECT_FALSE(link.counts_as_up(false, start + 2s));  // it had carrier, and lost it
}

// Far ends come and go at random. While one of them is away the other side must be down; once both
// are back, both sides must come up, whatever happened before.
TEST(LinkFollow, NeverLocksItself) {
    std::mt19937 random{5};
    bool held_outside = false;
    bool held_inside = false;
    bool far_outside = true;
    bool far_inside = true;
    const auto settle = [&] {
        for (int step = 0; step < 8; ++step) {
            // A side that is held down shows no carrier, whatever its far end does.
            switch (LinkFollow::next({far_outside && !held_outside, held_outside},
                                     {far_inside && !held_inside, held_inside})) {
                case Action::HoldOutside:
                    held_outside = true;
                    break;
                case Action::HoldInside:
                    held_inside = true;
                    break;
                case Action::FreeOutside:
                    held_outside = false;
                    break;
                case Action::FreeInside:
                    held_inside = false;
                    break;
                default:
                    return;
            }
        }
        FAIL() << "does not settle";
    };
    for (int round = 0; round < 1000; ++round) {
        far_outside = random() % 2 == 0;
        far_inside = random() % 2 == 0;
        settle();
        ASSERT_FALSE(held_outside && held_inside);
        if (far_outside != far_inside) {
            ASSERT_EQ(held_inside, !far_outside);
            ASSERT_EQ(held_outside, !far_inside);
        }
        far_outside = far_inside = true;
        settle();
        ASSERT_FALSE(held_outside || held_inside) << round;
    }
}

}  // namespace
}  // namespace sluice::link_follow_test

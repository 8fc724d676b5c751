#include "lib/respond/shape/held_order.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{1h};

TEST(HeldOrder, KnowsNobodyAtFirst) {
    const HeldOrder order{8};
    EXPECT_FALSE(order.any(kNow));
    EXPECT_EQ(order.not_before(7, kNow), kNow);
}

TEST(HeldOrder, KeepsTheLatestInstantOfEachKeyUntilItHasCome) {
    HeldOrder order{8};
    EXPECT_TRUE(order.note(7, kNow + 3s, kNow));
    EXPECT_TRUE(order.note(7, kNow + 2s, kNow));
    EXPECT_TRUE(order.note(8, kNow + 1s, kNow));
    EXPECT_EQ(order.not_before(7, kNow), kNow + 3s);
    EXPECT_EQ(order.not_before(8, kNow), kNow + 1s);
    EXPECT_EQ(order.not_before(9, kNow), kNow);
    EXPECT_TRUE(order.any(kNow + 2s));
    EXPECT_FALSE(order.any(kNow + 3s));
}

TEST(HeldOrder, APlaceIsFreeOnceItsInstantHasCome) {
    HeldOrder order{1};  // one line: four places
    for (std::uint64_t id = 1; id <= 4; ++id) {
        EXPECT_TRUE(order.note(id, kNow + 1s, kNow));
    }
    EXPECT_TRUE(order.note(5, kNow + 9s, kNow + 1s));
    EXPECT_EQ(order.not_before(5, kNow + 1s), kNow + 9s);
}

TEST(HeldOrder, InAFullLineTheNextToComeGivesWayAndThatIsSaid) {
    HeldOrder order{1};
    for (std::uint64_t id = 1; id <= 4; ++id) {
        EXPECT_TRUE(order.note(id, kNow + std::chrono::seconds{10 - id}, kNow));
    }
    EXPECT_FALSE(order.note(5, kNow + 20s, kNow));
    EXPECT_EQ(order.not_before(4, kNow), kNow);
    EXPECT_EQ(order.not_before(1, kNow), kNow + 9s);
    EXPECT_EQ(order.not_before(5, kNow), kNow + 20s);
}

}  // namespace
}  // namespace sluice

#include "lib/respond/answer/closed_quic.hpp"

#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::closed_quic_test {
namespace {

constexpr std::uint32_t kNow = 5000;
const test::Octets kId(20, std::byte{7});

TEST(ClosedQuic, KnowsTheFirstIdForAsLongAsClientsRepeat) {
    ClosedQuic closed;
    EXPECT_EQ(closed.find(3, kNow), nullptr);
    EXPECT_FALSE(closed.add(3, kId, kNow));
    ASSERT_NE(closed.find(3, kNow + kClosedQuicSeconds), nullptr);
    EXPECT_TRUE(std::ranges::equal(closed.find(3, kNow)->dcid.bytes(), kId));
    EXPECT_EQ(closed.find(3, kNow + kClosedQuicSeconds + 1), nullptr);
    EXPECT_EQ(closed.find(4, kNow), nullptr);
}

TEST(ClosedQuic, OneThatIsClosedAnewIsAnotherOne) {
    ClosedQuic closed;
    EXPECT_FALSE(closed.add(3, kId, kNow));
    closed.find(3, kNow)->repeats = 8;
    EXPECT_FALSE(closed.add(3, {}, kNow));
    EXPECT_EQ(closed.find(3, kNow)->repeats, 0);
    EXPECT_TRUE(closed.find(3, kNow)->dcid.bytes().empty());
}

TEST(ClosedQuic, ALaterOneTakesItsPlaceAndSaysSo) {
    ClosedQuic closed;
    EXPECT_FALSE(closed.add(3, kId, kNow));
    EXPECT_TRUE(closed.add(3 + kClosedQuic, kId, kNow));
    EXPECT_EQ(closed.find(3, kNow), nullptr);
    EXPECT_NE(closed.find(3 + kClosedQuic, kNow), nullptr);
    EXPECT_FALSE(closed.add(3, kId, kNow + kClosedQuicSeconds + 1)) << "nobody repeats it any more";
}

}  // namespace
}  // namespace sluice::closed_quic_test

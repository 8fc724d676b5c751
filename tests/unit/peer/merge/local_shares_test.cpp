#include "lib/peer/merge/local_shares.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice::local_shares_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};

// Accounts of one set of places.
Account account(std::uint64_t number) {
    return {.hash = (number << 32) + 8, .slot = 1};
}

TEST(LocalShares, APlaceIsKeptUntilWhatItHasIsToldOrPaidBack) {
    LocalShares shares{true};
    for (std::uint64_t i = 1; i <= 4; ++i) {
        LocalShare* share = shares.note(account(i), 10, {}, {}, kStart);
        ASSERT_NE(share, nullptr);
        share->over = kStart + std::chrono::seconds{i};
    }
    EXPECT_EQ(shares.note(account(5), 10, {}, {}, kStart), nullptr);
    EXPECT_EQ(shares.note(account(5), 10, {}, {}, kStart + 999ms), nullptr);
    // A source that never comes back is told of by nobody, and holds no place for good.
    EXPECT_NE(shares.note(account(5), 10, {}, {}, kStart + 1s), nullptr);
    EXPECT_EQ(shares.find(account(1)), nullptr);
    EXPECT_NE(shares.find(account(2)), nullptr);
    shares.find(account(2))->units = 0;
    EXPECT_NE(shares.note(account(6), 10, {}, {}, kStart + 1s), nullptr);
}

TEST(LocalShares, UnitsAddUpFromTheFirstCopyOn) {
    LocalShares shares{true};
    BucketState first;
    first.version = 1;
    BucketState later;
    later.version = 2;
    (void)shares.note(account(1), 10, first, first, kStart);
    const LocalShare* share = shares.note(account(1), 5, later, later, kStart);
    ASSERT_NE(share, nullptr);
    EXPECT_EQ(share->units, 15U);
    EXPECT_EQ(share->before.version, 1U);
}

}  // namespace
}  // namespace sluice::local_shares_test

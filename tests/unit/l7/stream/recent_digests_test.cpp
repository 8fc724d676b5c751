#include "lib/l7/stream/recent_digests.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sluice::recent_digests_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{std::chrono::hours{1}};

TEST(RecentDigests, ForgetNothingWithinTheirTime) {
    RecentDigests recent{60s};
    std::mt19937_64 random{1};
    std::vector<std::pair<std::uint64_t, Instant>> noted;
    for (int i = 0; i < 2000; ++i) {
        const Instant now = kNow + i * 300ms;
        noted.emplace_back(random(), now);
        recent.note(noted.back().first, now);
        for (const auto& [digest, at] : noted) {
            ASSERT_TRUE(now - at >= 60s || recent.may_have(digest, now));
        }
    }
}

TEST(RecentDigests, ForgetAllWithinTwiceOfIt) {
    RecentDigests recent{60s};
    EXPECT_FALSE(recent.may_have(7, kNow));
    recent.note(7, kNow);
    EXPECT_TRUE(recent.may_have(7, kNow + 59s));
    recent.note(8, kNow + 60s);
    EXPECT_TRUE(recent.may_have(7, kNow + 119s));
    EXPECT_FALSE(recent.may_have(7, kNow + 120s));
    EXPECT_TRUE(recent.may_have(8, kNow + 120s));
    EXPECT_FALSE(recent.may_have(8, kNow + 300s));
}

TEST(RecentDigests, AreMistakenAsSeldomAsTheySay) {
    RecentDigests recent{60s};
    std::mt19937_64 random{2};
    for (int i = 0; i < 50'000; ++i) {
        recent.note(random(), kNow);
    }
    int mistaken = 0;
    for (int i = 0; i < 100'000; ++i) {
        mistaken += recent.may_have(random(), kNow) ? 1 : 0;
    }
    EXPECT_GT(mistaken, 50);
    EXPECT_LT(mistaken, 500);
}

// More that come than one has room for shorten the time, to `least` and no further.
TEST(RecentDigests, OfTooManyEachLastsForTheLeastTime) {
    RecentDigests recent{60s, {.most = 1000, .least = 10s}};
    std::mt19937_64 random{3};
    std::vector<std::pair<std::uint64_t, Instant>> noted;
    for (int i = 0; i < 4000; ++i) {
        const Instant now = kNow + i * 5ms;
        noted.emplace_back(random(), now);
        recent.note(noted.back().first, now);
        for (const auto& [digest, at] : noted) {
            ASSERT_TRUE(now - at >= 10s || recent.may_have(digest, now));
        }
    }
    // In twenty seconds two generations were full, and the first of them is gone.
    EXPECT_FALSE(recent.may_have(noted.front().first, kNow + 20s));
    RecentDigests few{60s, {.most = 1000, .least = 10s}};
    for (int i = 0; i < 999; ++i) {
        few.note(random(), kNow);
    }
    few.note(7, kNow + 59s);
    few.note(8, kNow + 59s);
    EXPECT_TRUE(few.may_have(7, kNow + 118s));
}

}  // namespace
}  // namespace sluice::recent_digests_test

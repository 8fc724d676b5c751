#include "control/daemon/notify/delivery_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::delivery_queue_test {
namespace {

using std::chrono::seconds;
using Outcome = DeliveryQueue::Outcome;

constexpr DeliveryQueue::Clock::time_point kStart{std::chrono::hours{1}};

DeliveryQueue::Waiting notice(const std::string& id, bool once = false) {
    return {.id = id, .body = "{}", .once = once};
}

std::string begun(DeliveryQueue& queue, DeliveryQueue::Clock::time_point now) {
    const DeliveryQueue::Waiting* const first = queue.begin(now);
    return first == nullptr ? "" : first->id;
}

TEST(DeliveryQueue, NoticesGoOneAfterTheOther) {
    DeliveryQueue queue;
    EXPECT_EQ(begun(queue, kStart), "");
    EXPECT_FALSE(queue.due());
    queue.push(notice("a"));
    queue.push(notice("b"));
    EXPECT_EQ(begun(queue, kStart), "a");
    EXPECT_EQ(begun(queue, kStart), "") << "one is under way";
    EXPECT_FALSE(queue.due());
    queue.end(Outcome::Sent, kStart);
    EXPECT_EQ(begun(queue, kStart), "b");
    queue.end(Outcome::Refused, kStart);
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.counts().sent, 1U);
    EXPECT_EQ(queue.counts().failed, 1U);
    EXPECT_EQ(queue.counts().retried, 0U);
}

TEST(DeliveryQueue, GapsGrowAndTheyEnd) {
    DeliveryQueue queue;
    queue.push(notice("a"));
    std::vector<std::int64_t> gaps;
    DeliveryQueue::Clock::time_point now = kStart;
    for (unsigned attempt = 1; attempt < DeliveryQueue::kMostAttempts; ++attempt) {
        ASSERT_EQ(begun(queue, now), "a");
        queue.end(Outcome::TryAgain, now);
        ASSERT_TRUE(queue.due());
        gaps.push_back(std::chrono::duration_cast<seconds>(*queue.due() - now).count());
        EXPECT_EQ(begun(queue, *queue.due() - std::chrono::milliseconds{500}), "");
        now = *queue.due();
    }
    EXPECT_EQ(gaps, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 60}));
    EXPECT_EQ(begun(queue, now), "a");
    queue.end(Outcome::TryAgain, now);
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.counts().failed, 1U);
    EXPECT_EQ(queue.counts().retried, DeliveryQueue::kMostAttempts - 1U);
}

TEST(DeliveryQueue, TheOldestThatIsNotUnderWayGoesForTheNewest) {
    DeliveryQueue queue;
    queue.push(notice("first"));
    EXPECT_EQ(begun(queue, kStart), "first");
    for (std::size_t i = 0; i < DeliveryQueue::kMost + 4; ++i) {
        queue.push(notice(std::to_string(i)));
        EXPECT_LE(queue.size(), DeliveryQueue::kMost);
    }
    EXPECT_EQ(queue.counts().dropped, 5U);
    queue.end(Outcome::Sent, kStart);
    EXPECT_EQ(begun(queue, kStart), "5");
}

TEST(DeliveryQueue, ATestTakesNoNoticesPlace) {
    DeliveryQueue queue;
    for (std::size_t i = 0; i < DeliveryQueue::kMost; ++i) {
        queue.push(notice(std::to_string(i)));
    }
    for (std::size_t i = 0; i < DeliveryQueue::kMostOnce; ++i) {
        queue.push(notice("test" + std::to_string(i), true));
        EXPECT_EQ(queue.counts().dropped, 0U) << i;
    }
    EXPECT_EQ(queue.size(), DeliveryQueue::kMost + DeliveryQueue::kMostOnce);
    // One more goes for the oldest test, and one more notice for the oldest notice.
    queue.push(notice("late", true));
    queue.push(notice("newest"));
    EXPECT_EQ(queue.counts().dropped, 2U);
    EXPECT_EQ(queue.size(), DeliveryQueue::kMost + DeliveryQueue::kMostOnce);
    for (const char* const id : {"test1", "test2", "test3", "late", "1"}) {
        EXPECT_EQ(begun(queue, kStart), id);
        queue.end(Outcome::Sent, kStart);
    }
}

TEST(DeliveryQueue, ATestGoesFirstAndOnce) {
    DeliveryQueue queue;
    queue.push(notice("a"));
    queue.push(notice("b"));
    EXPECT_EQ(begun(queue, kStart), "a");
    queue.push(notice("test", true));
    queue.end(Outcome::TryAgain, kStart);
    // The first one waits for its next attempt, and all behind it do.
    EXPECT_EQ(begun(queue, kStart), "");
    queue.push(notice("now", true));
    EXPECT_EQ(begun(queue, kStart), "now");
    queue.end(Outcome::TryAgain, kStart);
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_EQ(queue.counts().failed, 1U);
}

}  // namespace
}  // namespace sluice::delivery_queue_test

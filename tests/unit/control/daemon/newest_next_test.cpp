#include "control/daemon/newest_next.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace sluice::newest_next_test {
namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 30s;

// Somebody who enters in a thread of his own; true: he was let in.
std::future<bool> enter(NewestNext& way) {
    return std::async(std::launch::async, [&way] { return way.enter().has_value(); });
}

void wait_for_waiting(const NewestNext& way) {
    for (int i = 0; i < 30'000 && !way.has_waiting(); ++i) {
        std::this_thread::sleep_for(1ms);
    }
    ASSERT_TRUE(way.has_waiting());
}

TEST(NewestNext, OneAfterAnother) {
    NewestNext way;
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(way.enter());
        EXPECT_FALSE(way.has_waiting());
    }
}

TEST(NewestNext, OneWaitsForTheOneInside) {
    NewestNext way;
    auto inside = way.enter();
    std::future<bool> second = enter(way);
    wait_for_waiting(way);
    EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
    inside.reset();
    ASSERT_EQ(second.wait_for(kPatience), std::future_status::ready);
    EXPECT_TRUE(second.get());
}

TEST(NewestNext, WhoWaitsIsSentAwayByTheNext) {
    NewestNext way;
    auto inside = way.enter();
    std::future<bool> before = enter(way);
    wait_for_waiting(way);
    for (int i = 0; i < 10; ++i) {
        std::future<bool> next = enter(way);
        // At once, while the one inside still works.
        ASSERT_EQ(before.wait_for(kPatience), std::future_status::ready);
        EXPECT_FALSE(before.get());
        before = std::move(next);
    }
    inside.reset();
    ASSERT_EQ(before.wait_for(kPatience), std::future_status::ready);
    EXPECT_TRUE(before.get()) << "the newest is served";
}

TEST(NewestNext, NeverTwoInsideAndTheLastIsNeverLost) {
    NewestNext way;
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::atomic<int> served = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                if (const auto turn = way.enter()) {
                    most = std::max(most.load(), ++inside);
                    std::this_thread::yield();
                    --inside;
                    ++served;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(most, 1);
    EXPECT_GE(served, 1);
    EXPECT_TRUE(way.enter()) << "nobody has kept a turn";
}

}  // namespace
}  // namespace sluice::newest_next_test

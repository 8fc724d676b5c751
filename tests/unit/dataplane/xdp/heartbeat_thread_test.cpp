#include "dataplane/xdp/heartbeat_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>

namespace sluice::heartbeat_thread_test {
namespace {

using namespace std::chrono_literals;

// The policy of whatever runs the beat, once it has beaten so often.
int policy_after(int beats) {
    std::atomic<int> count{0};
    std::atomic<int> policy{-1};
    const auto thread = HeartbeatThread::start(
        [&] {
            policy = ::sched_getscheduler(0);
            ++count;
        },
        1ms);
    EXPECT_TRUE(thread.has_value());
    count = 0;  // it beats as it will from here on
    while (thread && count < beats) {
        std::this_thread::sleep_for(1ms);
    }
    return policy;
}

TEST(HeartbeatThread, BeatsAgainAndAgainBeforeWhatIsScheduledInTurn) {
    sched_param priority{};
    priority.sched_priority = ::sched_get_priority_min(SCHED_FIFO);
    const int own = ::sched_getscheduler(0);
    // Whether the kernel lets this process do so.
    const bool allowed = ::sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    if (allowed) {
        priority.sched_priority = 0;
        ASSERT_EQ(::sched_setscheduler(0, own, &priority), 0);
    }
    EXPECT_EQ(policy_after(20), allowed ? SCHED_FIFO : own);
}

}  // namespace
}  // namespace sluice::heartbeat_thread_test

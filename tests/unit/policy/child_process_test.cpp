#include "lib/policy/child_process.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <chrono>
#include <ctime>

namespace sluice::child_process_test {
namespace {

using namespace std::chrono_literals;

constexpr std::array kWord{std::byte{'o'}, std::byte{'k'}};
constexpr std::size_t kMost = 100;

using Output = std::optional<std::vector<std::byte>>;

std::chrono::nanoseconds computed() {
    timespec used{};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

TEST(ChildProcess, GivesWhatItWroteHoweverItEnds) {
    EXPECT_EQ(run_in_child([](const ChildOutput& out) { out.put(kWord); }, kMost),
              Output(std::in_place, kWord.begin(), kWord.end()));
    const auto killed = [](const ChildOutput& out) {
        out.put(kWord);
        (void)raise(SIGKILL);
    };
    EXPECT_EQ(run_in_child(killed, kMost), Output(std::in_place, kWord.begin(), kWord.end()));
    EXPECT_EQ(run_in_child([](const ChildOutput& out) { out.put(kWord); }, 1)->size(), 1U);
}

// Both sleep for good: one at once, the other in small parts, as whoever waits for a lock does.
TEST(ChildProcess, OneThatWaitsForGoodIsEnded) {
    const auto sleeps = [](const ChildOutput& out) {
        out.put(kWord);
        while (true) {
            (void)pause();
        }
    };
    EXPECT_EQ(run_in_child(sleeps, kMost, 200ms),
              Output(std::in_place, kWord.begin(), kWord.end()));
    const auto looks = [](const ChildOutput& out) {
        out.put(kWord);
        while (true) {
            (void)usleep(500'000);
        }
    };
    EXPECT_EQ(run_in_child(looks, kMost, 2s), Output(std::in_place, kWord.begin(), kWord.end()));
}

TEST(ChildProcess, OneThatComputesInSilenceIsNot) {
    const auto computes = [](const ChildOutput& out) {
        while (computed() < 1s) {
        }
        out.put(kWord);
    };
    EXPECT_EQ(run_in_child(computes, kMost, 500ms),
              Output(std::in_place, kWord.begin(), kWord.end()));
}

// A child that is never idle, and in no hurry, ends by the time that it gave itself.
TEST(ChildProcess, OneThatComputesNowAndThenHasItsRealTime) {
    const auto dawdles = [](const ChildOutput& out) {
        set_timer(ITIMER_REAL, 500'000);
        set_timer(ITIMER_PROF, 3'600'000'000);
        out.put(kWord);
        for (auto next = computed();; next = computed()) {
            while (computed() < next + 5ms) {
            }
            (void)usleep(10'000);
        }
    };
    EXPECT_EQ(run_in_child(dawdles, kMost, 1s), Output(std::in_place, kWord.begin(), kWord.end()));
}

}  // namespace
}  // namespace sluice::child_process_test

#include "control/replay/replay_clock.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace sluice::replay_clock_test {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kYear = 24h * 365;

std::unique_ptr<LoadedSet> set_of(Nanoseconds longest_debt,
                                  std::initializer_list<Nanoseconds> windows) {
    auto set = std::make_unique<LoadedSet>();
    set->longest_debt = longest_debt;
    LoadedRule& rule = set->rules.emplace_back();
    for (const Nanoseconds window : windows) {
        rule.limits.push_back(
            {MeteredLimit{.limit = SlidingWindowLimit{*make_window_numbers(Units{1}, window)}}});
    }
    return set;
}

std::int64_t ns(Now now) {
    return now.at.time_since_epoch().count();
}

TEST(ReplayClock, CountsFromTheFirstFrame) {
    const auto set = set_of(2min, {1min});
    ReplayClock clock{*set};
    const Instant begin{54 * kYear};
    for (const Nanoseconds into :
         {0ns, 1ns, Nanoseconds{1s}, Nanoseconds{1min}, Nanoseconds{3min}}) {
        const Now now = clock.at(begin + into);
        EXPECT_EQ(now.at, Instant{into});
        EXPECT_EQ(now.utc(), 54 * kYear + into);
    }
}

// A pause takes at least the longest debt, and windows lie as if all of it had passed.
TEST(ReplayClock, LeavesOutWholeCyclesOfAPause) {
    const auto set = set_of(2h, {7min, 1h});  // 7 h together
    ReplayClock clock{*set};
    Nanoseconds captured{};
    std::int64_t before = ns(clock.at(Instant{captured}));
    for (const Nanoseconds pause :
         {Nanoseconds{1h}, Nanoseconds{2h}, Nanoseconds{9h + 1ns}, kYear, 31 * kYear + 17ns}) {
        captured += pause;
        const Now now = clock.at(Instant{captured});
        const Nanoseconds passed{ns(now) - before};
        EXPECT_LT(passed, 9h);
        EXPECT_GE(passed, std::min<Nanoseconds>(pause, 2h));
        EXPECT_EQ(ns(now) % Nanoseconds{7h}.count(), captured.count() % Nanoseconds{7h}.count());
        EXPECT_EQ(now.utc(), captured);
        before = ns(now);
    }
    EXPECT_FALSE(clock.stopped());
}

// Of what is remembered of fragments and connections, nothing is good for longer than it would be.
TEST(ReplayClock, LetsPassWhatOutlastsTheDebts) {
    const auto set = set_of(20s, {10s});
    ReplayClock clock{*set, 30s};
    const std::int64_t before = ns(clock.at(Instant{}));
    const std::int64_t after = ns(clock.at(Instant{40s}));
    EXPECT_GT(after - before, Nanoseconds{30s}.count());
    const std::int64_t later = ns(clock.at(Instant{kYear}));
    EXPECT_GT(later - after, Nanoseconds{30s}.count());
    EXPECT_LT(later - after, Nanoseconds{60s}.count());
}

// As often as it may be: each time within the instants, aligned as if all had passed.
TEST(ReplayClock, BeginsAnewInLatePauses) {
    const auto set = set_of(2 * kYear, {kYear, 1h});
    ReplayClock clock{*set};
    Instant captured{};
    (void)clock.at(captured);
    unsigned anew = 0;
    for (unsigned i = 0; i < 20; ++i) {
        captured += 11 * kYear + 17ns;
        const Now now = clock.at(captured);
        anew += clock.begins_anew() ? 1 : 0;
        EXPECT_LE(now.at, kEndOfInstants - 2 * kYear);
        EXPECT_EQ(ns(now) % kYear.count(), captured.time_since_epoch().count() % kYear.count());
        EXPECT_EQ(clock.at(captured).at, now.at);
        EXPECT_FALSE(clock.begins_anew());
    }
    EXPECT_GE(anew, 5U);
    EXPECT_FALSE(clock.stopped());
}

TEST(ReplayClock, StandsStillWhereInstantsEndAndSaysSo) {
    const auto set = set_of(kLongestDebt, {});
    ReplayClock clock{*set};
    Instant captured{};
    (void)clock.at(captured);
    const Instant end = kEndOfInstants - kLongestDebt;
    while (captured + kYear <= end) {
        captured += kYear;
        EXPECT_EQ(clock.at(captured).at, captured);
    }
    EXPECT_FALSE(clock.stopped());
    EXPECT_EQ(clock.at(captured + kYear).at, end);
    EXPECT_TRUE(clock.stopped());
}

}  // namespace
}  // namespace sluice::replay_clock_test

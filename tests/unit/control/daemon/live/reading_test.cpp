#include "control/daemon/live/reading.hpp"

#include <gtest/gtest.h>

namespace sluice::reading_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Pairs of readings of a counter, and its rate.
struct CounterCase {
    const char* name;
    std::uint64_t before_ns;
    std::uint64_t now_ns;
    std::uint64_t before;
    std::uint64_t now;
    LiveRate rate;
};
const CounterCase kCounterCases[] = {
    {"a second", kSecond, 2 * kSecond, 100, 350, 250.0},
    {"a longer time", kSecond, 3 * kSecond, 100, 350, 125.0},
    {"none came", kSecond, 2 * kSecond, 100, 100, 0.0},
    {"it goes back", kSecond, 2 * kSecond, 350, 100, std::nullopt},
    {"the clock goes back", 9 * kSecond, kSecond, 100, 350, std::nullopt},
    {"the clock stands", kSecond, kSecond, 100, 5'000'000, std::nullopt},
    {"too soon to divide by", kSecond, kSecond + 1'000, 100, 200, std::nullopt},
};

TEST(ReadingTime, HasRatesThatAreNeverNegativeOrASpike) {
    for (const CounterCase& one : kCounterCases) {
        SCOPED_TRACE(one.name);
        EXPECT_EQ(ReadingTime::between(one.before_ns, one.now_ns).rate(one.before, one.now),
                  one.rate);
    }
}

Reading reading(std::uint64_t uptime_ns, std::uint32_t pid = 7, std::uint64_t origin = 3) {
    auto view = std::make_shared<RuleView>();
    Reading made{.stats = {}, .pid = pid, .origin = origin, .view = view};
    made.stats.uptime_ns = uptime_ns;
    made.stats.workers.resize(2);
    return made;
}

TEST(TimeBetween, OfTwoDataplanesThereIsNone) {
    const Reading before = reading(10 * kSecond);
    EXPECT_EQ(time_between(&before, reading(11 * kSecond)).seconds, 1.0);
    EXPECT_EQ(time_between(nullptr, reading(11 * kSecond)).seconds, 0);
    EXPECT_EQ(time_between(&before, reading(9 * kSecond)).seconds, 0) << "it began anew";
    EXPECT_EQ(time_between(&before, reading(11 * kSecond, 8)).seconds, 0) << "another process";
    EXPECT_EQ(time_between(&before, reading(11 * kSecond, 7, 4)).seconds, 0)
        << "another start, where processes have the same number";
}

std::shared_ptr<const RuleView> rules(std::initializer_list<std::pair<const char*, Mode>> list) {
    auto view = std::make_shared<RuleView>();
    for (const auto& [id, mode] : list) {
        view->rules.push_back({.id = id, .mode = mode});
        view->rules.back().limits.push_back({.name = "1", .scope = "merged"});
    }
    return view;
}

void count(Reading& reading, const char* rule, std::uint64_t admitted, std::uint64_t exceeded) {
    RuleStats stats{.id = rule};
    stats.counts.admitted = admitted;
    stats.counts.exceeded = exceeded;
    stats.counts.exceeded_bytes = exceeded * 100;
    stats.entries = 5;
    reading.stats.rules.push_back(stats);
}

TEST(LiveRules, HaveRatesOfWhatTheyWereBothTimes) {
    Reading before = reading(kSecond);
    before.view = rules({{"gone", Mode::Enforce},
                         {"turned", Mode::Enforce},
                         {"acts", Mode::Enforce},
                         {"tries", Mode::Monitor},
                         {"back", Mode::Enforce}});
    count(before, "gone", 1, 1);
    count(before, "turned", 10, 10);
    count(before, "acts", 100, 40);
    count(before, "tries", 100, 40);
    count(before, "back", 5'000'000, 0);
    Reading now = reading(2 * kSecond);
    now.view = rules({{"new", Mode::Enforce},
                      {"turned", Mode::Monitor},
                      {"acts", Mode::Enforce},
                      {"tries", Mode::Monitor},
                      {"back", Mode::Enforce},
                      {"off", Mode::Off}});
    count(now, "acts", 150, 60);
    count(now, "tries", 150, 60);
    count(now, "turned", 20, 20);
    count(now, "back", 3, 0);
    count(now, "new", 5'000'000, 0);
    now.stats.workers[0].table_slots = 50;
    const std::vector<LiveRule> rows = live_rules(&before, &now, *now.view);
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(rows[0].matched.pps, std::nullopt) << "new";
    EXPECT_EQ(rows[1].refused, std::nullopt) << "its mode was another";
    EXPECT_EQ(rows[1].would_refuse.pps, std::nullopt);
    EXPECT_EQ(rows[2].matched.pps, 70.0);
    EXPECT_EQ(rows[2].refused, 20.0);
    EXPECT_EQ(rows[2].would_refuse.pps, 0.0);
    EXPECT_EQ(rows[3].refused, 0.0);
    EXPECT_EQ(rows[3].would_refuse.pps, 20.0);
    EXPECT_EQ(rows[3].would_refuse.bps, 16'000.0);
    EXPECT_EQ(rows[4].matched.pps, std::nullopt) << "its counter went back";
    EXPECT_EQ(rows[5].matched.pps, std::nullopt) << "nobody counts a rule that is off";
    EXPECT_EQ(rows[2].table_share, 0.1);
    EXPECT_EQ(rows[2].placement, "merged");
    EXPECT_EQ(rows[5].live_keys, std::nullopt);
}

TEST(LiveRules, OfABoxThatNobodyCountsHaveNoNumbers) {
    const auto view = rules({{"acts", Mode::Enforce}});
    const std::vector<LiveRule> rows = live_rules(nullptr, nullptr, *view);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].matched.pps, std::nullopt);
    EXPECT_EQ(rows[0].live_keys, std::nullopt);
    EXPECT_EQ(rows[0].table_share, std::nullopt);
}

void judge(Reading& reading, Verdict verdict, std::uint64_t packets) {
    WorkerStats& worker = reading.stats.workers[1];
    worker.by_verdict[static_cast<std::size_t>(verdict)] = packets;
    worker.bytes_by_verdict[static_cast<std::size_t>(verdict)] = packets * 100;
}

TEST(LiveRates, AreOfferedPassedRefusedAndAnswered) {
    Reading before = reading(kSecond);
    Reading now = reading(2 * kSecond);
    judge(now, Verdict::Pass, 100);
    judge(now, Verdict::Tag, 10);
    judge(now, Verdict::Shape, 1);
    judge(now, Verdict::Reset, 20);
    judge(now, Verdict::Drop, 300);
    LiveRule early{.id = "a", .early = 1'000.0};
    early.would_refuse = {7.0, 5'600.0};
    const std::optional<LiveRates> rates = live_rates(&before, now, {early, LiveRule{.id = "b"}});
    ASSERT_TRUE(rates);
    EXPECT_EQ(rates->offered.pps, 1'431.0) << "with those that the kernel drops";
    EXPECT_EQ(rates->passed.pps, 111.0);
    EXPECT_EQ(rates->passed.bps, 88'800.0);
    EXPECT_EQ(rates->refused.pps, 1'320.0);
    EXPECT_EQ(rates->answered.pps, 20.0);
    EXPECT_EQ(rates->would_refuse.pps, 7.0);
    EXPECT_EQ(rates->would_refuse.bps, 5'600.0);
    now.stats.workers[0].would_refuse[0] = 3;
    EXPECT_EQ(live_rates(&before, now, {early})->would_refuse.pps, 10.0);
    EXPECT_EQ(live_rates(&before, now, {early})->would_refuse.bps, std::nullopt)
        << "nobody counts bytes of what services would refuse";
    EXPECT_FALSE(live_rates(nullptr, now, {}));
}

}  // namespace
}  // namespace sluice::reading_test

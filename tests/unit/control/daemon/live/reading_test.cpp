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
    EXPECT_EQ(time_between(&before, reading(13 * kSecond)).seconds, 3.0);
    EXPECT_EQ(time_between(&before, reading(13 * kSecond + 1)).seconds, 0) << "the mean of a gap";
    EXPECT_EQ(time_between(nullptr, reading(11 * kSecond)).seconds, 0);
    EXPECT_EQ(time_between(&before, reading(9 * kSecond)).seconds, 0) << "it began anew";
    EXPECT_EQ(time_between(&before, reading(11 * kSecond, 8)).seconds, 0) << "another process";
    EXPECT_EQ(time_between(&before, reading(11 * kSecond, 7, 4)).seconds, 0)
        << "another start, where processes have the same number";
}

std::shared_ptr<const RuleView> rules(std::initializer_list<std::pair<const char*, Mode>> list,
                                      std::uint64_t turns = 0) {
    auto view = std::make_shared<RuleView>();
    view->turns = turns;
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
                      {"off", Mode::Off}},
                     1);
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

// The row of a rule that exceeded 20 packets in a second, between two views of the rules.
LiveRule between(const std::shared_ptr<RuleView>& first, const std::shared_ptr<RuleView>& second,
                 std::uint64_t generation = 0) {
    Reading before = reading(kSecond);
    before.view = first;
    count(before, "a", 100, 40);
    Reading now = reading(2 * kSecond);
    now.stats.generation = generation;
    now.view = second;
    count(now, "a", 150, 60);
    return live_rules(&before, &now, *now.view).at(0);
}
std::shared_ptr<RuleView> one_rule(Mode mode, std::uint64_t turns = 0,
                                   Exceeding exceeding = Exceeding::KeptBack) {
    auto view = std::make_shared<RuleView>();
    view->turns = turns;
    view->rules.push_back({.id = "a", .mode = mode, .exceeding = exceeding});
    return view;
}

TEST(LiveRules, SayNothingOfASecondInWhichTheyWereJudgedOtherwise) {
    EXPECT_EQ(between(one_rule(Mode::Enforce), one_rule(Mode::Enforce)).refused, 20.0);
    EXPECT_EQ(between(one_rule(Mode::Enforce, 1), one_rule(Mode::Enforce, 2)).refused, 20.0)
        << "another rule has turned";
    const LiveRule twice = between(one_rule(Mode::Enforce, 1), one_rule(Mode::Enforce, 3));
    EXPECT_EQ(twice.refused, std::nullopt) << "to monitor and back within the second";
    EXPECT_EQ(twice.would_refuse.pps, std::nullopt);
    EXPECT_EQ(twice.matched.pps, 70.0) << "whatever its mode was";
    EXPECT_EQ(
        between(one_rule(Mode::Enforce, 1), one_rule(Mode::Enforce, 2, Exceeding::LetOn)).refused,
        std::nullopt)
        << "it began to tag";
    const LiveRule ahead = between(one_rule(Mode::Enforce), one_rule(Mode::Enforce), 7);
    EXPECT_EQ(ahead.refused, std::nullopt) << "the dataplane counts by rules that nobody shows yet";
    EXPECT_EQ(ahead.matched.pps, 70.0);
}

TEST(LiveRules, GoByTheFateOfWhatExceedsThem) {
    const auto of = [](Mode mode, Exceeding exceeding) {
        return between(one_rule(mode, 0, exceeding), one_rule(mode, 0, exceeding));
    };
    for (const Mode mode : {Mode::Enforce, Mode::Monitor}) {
        const LiveRule tags = of(mode, Exceeding::LetOn);
        EXPECT_EQ(tags.refused, 0.0);
        EXPECT_EQ(tags.would_refuse.pps, 0.0);
        EXPECT_TRUE(tags.is_summed);
        const LiveRule shapes = of(mode, Exceeding::Either);
        EXPECT_EQ(shapes.refused, std::nullopt);
        EXPECT_EQ(shapes.would_refuse.pps, std::nullopt);
        EXPECT_FALSE(shapes.is_summed) << "nor can it ever say";
    }
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
    const std::optional<LiveRates> rates =
        live_rates(&before, now, {early, LiveRule{.id = "b", .is_summed = false}});
    ASSERT_TRUE(rates);
    EXPECT_EQ(rates->offered.pps, 1'431.0) << "with those that the kernel drops";
    EXPECT_EQ(rates->passed.pps, 111.0);
    EXPECT_EQ(rates->passed.bps, 88'800.0);
    EXPECT_EQ(rates->refused.pps, 1'320.0);
    EXPECT_EQ(rates->answered.pps, 20.0);
    EXPECT_EQ(rates->would_refuse.pps, 7.0);
    EXPECT_EQ(rates->would_refuse.bps, 5'600.0);
    EXPECT_EQ(live_rates(&before, now, {early, LiveRule{.id = "new"}})->would_refuse.pps,
              std::nullopt)
        << "without one that could be of it, the sum would be too small";
    EXPECT_EQ(
        live_rates(&before, now, {LiveRule{.id = "off", .is_summed = false}})->would_refuse.pps,
        0.0);
    now.stats.workers[0].would_refuse[0] = 3;
    EXPECT_EQ(live_rates(&before, now, {early})->would_refuse.pps, 10.0);
    EXPECT_EQ(live_rates(&before, now, {early})->would_refuse.bps, std::nullopt)
        << "nobody counts bytes of what services would refuse";
    EXPECT_FALSE(live_rates(nullptr, now, {}));
}

}  // namespace
}  // namespace sluice::reading_test

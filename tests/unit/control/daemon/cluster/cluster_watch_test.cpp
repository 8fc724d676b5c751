#include "control/daemon/api/event_json.hpp"
#include "control/daemon/cluster/box_watch.hpp"
#include "control/daemon/cluster/store_watch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::cluster_watch_test {
namespace {

using std::chrono::seconds;
using Clock = StoreWatch::Clock;

constexpr Clock::time_point kBegin{std::chrono::hours{1}};
constexpr std::int64_t kUtc = 1'764'000'000'000'000'000;

std::vector<std::string> kinds_of(const ClusterLog& log) {
    std::vector<std::string> kinds;
    for (const ClusterEvent& event : log.read(0).events) {
        kinds.emplace_back(kClusterEvents[static_cast<std::size_t>(event.kind)].name);
    }
    return kinds;
}
using Kinds = std::vector<std::string>;

StoreLinkStats linked(StoreLinkState state, bool down = false, std::string why = "") {
    return {.in_cluster = true,
            .state = static_cast<std::uint8_t>(state),
            .why = std::move(why),
            .down = down};
}

TEST(ClusterLog, NumbersGoOnFromTheTimeAndTheOldestGoForTheNewest) {
    ClusterLog log{kUtc};
    const std::uint64_t first = log.read(0).next;
    EXPECT_EQ(first, static_cast<std::uint64_t>(kUtc / 1000));
    for (std::size_t i = 0; i < ClusterLog::kMostEvents + 3; ++i) {
        log.add({.kind = ClusterEventKind::StoreGap, .count = i});
    }
    const ClusterLog::Slice all = log.read(first + 1);
    EXPECT_EQ(all.missed, 2U);
    EXPECT_EQ(all.events.size(), ClusterLog::kMostEvents);
    EXPECT_EQ(all.events.front().count, 3U);
    EXPECT_TRUE(log.read(all.next).events.empty());
    EXPECT_EQ(log.read(all.next - 1).events.size(), 1U);
    EXPECT_EQ(log.counts()[static_cast<std::size_t>(ClusterEventKind::StoreGap)],
              ClusterLog::kMostEvents + 3);
    // Numbers of another sluiced: from before this one, and from a clock that was ahead.
    EXPECT_EQ(log.read(1).missed, 0U);
    EXPECT_EQ(log.read(all.next + 5).events.size(), ClusterLog::kMostEvents);
}

TEST(ClusterLog, TextsOfOthersAreBounded) {
    ClusterLog log{kUtc};
    log.add({.kind = ClusterEventKind::StoreRefused, .why = std::string(5000, 'x')});
    EXPECT_EQ(log.read(0).events[0].why.size(), ClusterLog::kMostWhy);
}

TEST(StoreWatch, ABoxInNoClusterTellsNothing) {
    ClusterLog log{kUtc};
    StoreWatch watch{log};
    StoreLinkStats stats = linked(StoreLinkState::Fenced);
    stats.in_cluster = false;
    watch.see(stats, kBegin, kUtc);
    EXPECT_EQ(kinds_of(log), Kinds{});
}

TEST(StoreWatch, TellsTheStatesOfTheLinkAndWhy) {
    ClusterLog log{kUtc};
    StoreWatch watch{log};
    watch.see(linked(StoreLinkState::Ready), kBegin, kUtc);
    EXPECT_EQ(kinds_of(log), Kinds{});  // as it should be: nothing to tell
    watch.see(linked(StoreLinkState::Away, false, "no route"), kBegin, kUtc);
    EXPECT_EQ(kinds_of(log), Kinds{});  // for less than it takes to be away
    watch.see(linked(StoreLinkState::Away, true, "no route"), kBegin, kUtc + 1);
    watch.see(linked(StoreLinkState::Ready), kBegin + seconds{5}, kUtc);
    watch.see(linked(StoreLinkState::Ready, true), kBegin + seconds{10}, kUtc);
    watch.see(linked(StoreLinkState::Fenced, true, "another box has joined as a since"),
              kBegin + seconds{15}, kUtc);
    watch.see(linked(StoreLinkState::Refused, true, "NOPERM"), kBegin + seconds{20}, kUtc);
    EXPECT_EQ(kinds_of(log),
              (Kinds{"store_down", "store_up", "store_down", "store_fenced", "store_refused"}));
    const std::vector<ClusterEvent> told = log.read(0).events;
    EXPECT_EQ(told[0].why, "no route");
    EXPECT_EQ(told[0].utc_ns, kUtc + 1);
    EXPECT_NE(told[2].why.find("no answer"), std::string::npos);
    EXPECT_EQ(event_json(told[3])["why"], "another box has joined as a since");
}

TEST(StoreWatch, ALinkThatFlapsIsToldOfOnceInAWhileAndAsItIs) {
    ClusterLog log{kUtc};
    StoreWatch watch{log};
    for (int i = 0; i < 20; ++i) {
        const bool down = i % 2 == 0;
        watch.see(linked(down ? StoreLinkState::Away : StoreLinkState::Ready, down),
                  kBegin + std::chrono::milliseconds{100 * i}, kUtc);
    }
    EXPECT_EQ(kinds_of(log), Kinds{"store_down"});
    watch.see(linked(StoreLinkState::Ready), kBegin + seconds{3}, kUtc);
    EXPECT_EQ(kinds_of(log), (Kinds{"store_down", "store_up"}));
}

TEST(StoreWatch, TellsClocksThatDifferByMoreThanTheWayToTheStoreTakes) {
    ClusterLog log{kUtc};
    StoreWatch watch{log};
    StoreLinkStats stats = linked(StoreLinkState::Ready);
    const auto see = [&](std::int64_t off_us, std::uint64_t rtt_us, int second) {
        stats.clock_off_us = off_us;
        stats.rtt_us = rtt_us;
        watch.see(stats, kBegin + seconds{second}, kUtc);
    };
    see(-100'000, 0, 0);
    see(140'000, 100'000, 5);
    EXPECT_EQ(kinds_of(log), Kinds{});
    see(-3'600'000'000, 400, 10);
    see(90'000, 400, 15);  // in between
    EXPECT_EQ(kinds_of(log), Kinds{"clock_off"});
    EXPECT_EQ(event_json(log.read(0).events[0])["offset_s"], -3600.0);
    see(1'000, 400, 20);
    EXPECT_EQ(kinds_of(log), (Kinds{"clock_off", "clock_right"}));
}

TEST(StoreWatch, TellsWindowsThatGoByLocalShare) {
    ClusterLog log{kUtc};
    StoreWatch watch{log};
    StoreLinkStats stats = linked(StoreLinkState::Ready);
    stats.windows_apart = true;
    watch.see(stats, kBegin, kUtc);
    stats.windows_apart = false;
    watch.see(stats, kBegin + seconds{60}, kUtc);
    EXPECT_EQ(kinds_of(log), (Kinds{"windows_apart", "windows_shared"}));
}

TEST(StoreWatch, CountsWhatWasLostOnceInAWhileAndOfADataplaneThatWasStartedAnew) {
    ClusterLog log{kUtc};
    StoreWatch watch{log};
    StoreLinkStats stats = linked(StoreLinkState::Ready);
    stats.lost = 7;  // before this sluiced
    watch.see(stats, kBegin, kUtc);
    EXPECT_EQ(kinds_of(log), Kinds{});
    for (int i = 1; i <= 64; ++i) {
        stats.lost = 7 + static_cast<std::uint64_t>(i);
        watch.see(stats, kBegin + std::chrono::milliseconds{10 * i}, kUtc);
    }
    watch.see(stats, kBegin + seconds{11}, kUtc);
    stats.lost = 2;
    stats.gaps = 1;
    stats.skewed = 3;
    watch.see(stats, kBegin + seconds{22}, kUtc);
    const std::vector<ClusterEvent> told = log.read(0).events;
    ASSERT_EQ(kinds_of(log), (Kinds{"partition_lost", "partition_lost", "window_skewed",
                                    "partition_lost", "store_gap"}));
    EXPECT_EQ(told[0].count, 1U);
    EXPECT_EQ(told[1].count, 63U);
    EXPECT_EQ(told[2].count, 3U);
    EXPECT_EQ(told[3].count, 2U);
}

class OfABox : public testing::Test {
protected:
    void see(std::optional<bool> passes = false) {
        now_ += seconds{5};
        watch_.see(status_, passes, now_, kUtc);
    }
    static HeadSet set(std::uint64_t generation) {
        return {.set = {.sum = "ab"}, .generation = generation, .by = "ann@desk"};
    }
    ClusterLog log_{kUtc};
    BoxWatch watch_{log_, "a"};
    FleetStatus status_{.record = {.in_force = set(4), .rules = "1"}};
    Clock::time_point now_ = kBegin;
};

TEST_F(OfABox, TellsItsPlace) {
    see();
    status_.membership = Membership::Member;
    status_.record.slot = 2;
    see();
    status_.membership = Membership::Away;
    status_.why = "etcd is away";
    see();
    status_.membership = Membership::Member;
    see();
    status_.membership = Membership::Refused;
    status_.why = "all of its 3 slots are taken";
    see();
    EXPECT_EQ(kinds_of(log_), (Kinds{"box_joined", "etcd_down", "etcd_up", "box_left"}));
    EXPECT_EQ(log_.read(0).events[0].why, "slot 2");
    EXPECT_EQ(log_.read(0).events[3].why, "all of its 3 slots are taken");
}

TEST_F(OfABox, TellsARolloutThatIsPromotedAndOneThatGoesBack) {
    see();
    NodeRecord& record = status_.record;
    record.staged = {.rollout = "r5", .is_good = true};
    see();
    record.in_force = set(5);
    record.is_trial = true;
    see();
    record.is_trial = false;
    see();
    EXPECT_EQ(kinds_of(log_), (Kinds{"rollout_staged", "rollout_trial", "rollout_promoted"}));
    EXPECT_EQ(log_.read(0).events[2].generation, 5U);
    EXPECT_EQ(log_.read(0).events[2].why, "by ann@desk");
    record.in_force = set(6);
    record.is_trial = true;
    see();
    record.in_force = set(5);
    record.is_trial = false;
    see();
    record.in_force = set(7);  // at once
    see();
    EXPECT_EQ(kinds_of(log_), (Kinds{"rollout_staged", "rollout_trial", "rollout_promoted",
                                     "rollout_trial", "rollout_ended", "rollout_promoted"}));
    EXPECT_EQ(log_.read(0).events[4].generation, 6U);
}

TEST_F(OfABox, TellsRefusalsDriftAndPanicAndNothingOfBeforeItsStart) {
    NodeRecord& record = status_.record;
    record.panic = 3;
    see();
    EXPECT_EQ(kinds_of(log_), Kinds{});
    record.staged = {.rollout = "r5", .is_good = false, .why = "rules.yaml:2:1: unknown field"};
    see();
    record.is_detached = true;
    see();
    record.is_detached = false;
    see();
    record.panic = 4;
    see(true);
    record.panic = 5;
    see(false);
    EXPECT_EQ(kinds_of(log_), (Kinds{"rollout_refused", "drift", "drift_over", "cluster_panic",
                                     "cluster_resumed"}));
    EXPECT_EQ(log_.read(0).events[0].why, "rules.yaml:2:1: unknown field");
}

TEST_F(OfABox, TellsOtherBoxesThatComeAndGo) {
    FleetReading reading{.nodes = {{.node = "a"}, {.node = "b"}}, .was_read = true};
    watch_.see(reading, kUtc);
    EXPECT_EQ(kinds_of(log_), Kinds{});
    reading.nodes = {{.node = "b"}, {.node = "c"}};
    watch_.see(reading, kUtc);
    reading.problem = "etcd is away";
    reading.nodes.clear();
    watch_.see(reading, kUtc);  // says nothing of boxes
    reading.problem.clear();
    reading.nodes = {{.node = "c"}};
    watch_.see(reading, kUtc);
    EXPECT_EQ(kinds_of(log_), (Kinds{"member_joined", "member_left"}));
    EXPECT_EQ(log_.read(0).events[0].node, "c");
    EXPECT_EQ(log_.read(0).events[1].node, "b");
}

}  // namespace
}  // namespace sluice::cluster_watch_test

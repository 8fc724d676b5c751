#include "control/daemon/live/live_sampler.hpp"

#include "tests/unit/control/daemon/keeper_fixture.hpp"

#include <algorithm>

namespace sluice::live_sampler_test {
namespace {

// A box of one port, whose worker runs.
Stats running() {
    Stats stats;
    stats.generation = 7;
    stats.ports.resize(1);
    stats.workers.resize(1);
    return stats;
}
RuleView on(Mode mode) {
    RuleView view;
    view.generation = 7;
    view.rules.push_back({.id = "a", .mode = mode});
    return view;
}

TEST(StateNow, IsWhatBecomesOfPackets) {
    const RuleView view = on(Mode::Monitor);
    Stats stats = running();
    EXPECT_EQ(state_now(&stats, view, "", false).state, LiveState::Judging);
    EXPECT_EQ(state_now(&stats, view, "", false).why, "");
    EXPECT_EQ(state_now(&stats, on(Mode::Off), "", false).state, LiveState::NoRules);
    stats.panic = true;
    EXPECT_EQ(state_now(&stats, view, "", false).state, LiveState::Panic);
    stats.panic = false;
    stats.generation = 0;
    EXPECT_EQ(state_now(&stats, view, "", false).state, LiveState::NoRules);
    stats = running();
    stats.ports[0].kernel = {
        .attached = true, .fail_open = true, .heartbeat_ns = 5, .beat_age_ns = 6};
    EXPECT_EQ(state_now(&stats, view, "", false).state, LiveState::Bridged);
    const StateNow gone = state_now(nullptr, view, "nobody is there", false);
    EXPECT_EQ(gone.state, LiveState::NoDataplane);
    EXPECT_EQ(gone.why, "nobody is there");
    EXPECT_EQ(state_now(nullptr, view, "gone", true).state, LiveState::Bridged);
}

class Sampled : public Keeper {
protected:
    static constexpr std::int64_t kUtc = 1'764'000'000'000'000'000;

    void start(std::uint64_t rate) {
        start_dataplane();
        dataplane().count(rate);
        start_daemon();
        (void)apply(kOne);
    }
    const LiveSnapshot& second(std::int64_t number) {
        EXPECT_TRUE(sampler().tick(number, kUtc + number * 1'000'000'000));
        shown_ = board_.newest();
        return shown_->snapshot();
    }
    LiveSampler& sampler() {
        if (!sampler_) {
            sampler_.emplace(rules(), link(), notices_, board_);
        }
        return *sampler_;
    }

    NoticeSender notices_{{}};
    LiveBoard board_{{.run = "1", .name = "box"}, true};
    std::optional<LiveSampler> sampler_;
    LiveBoard::Shown shown_;
};

TEST_F(Sampled, ADeadDataplaneHasNoNumbersAndANewOneNoSpike) {
    start(1'000'000);
    EXPECT_FALSE(second(0).rates) << "nobody knows a rate of one reading";
    EXPECT_EQ(shown_->snapshot().since, "");
    std::this_thread::sleep_for(std::chrono::nanoseconds{ReadingTime::kLeastNs});
    ASSERT_TRUE(second(1).rates);
    EXPECT_NEAR(shown_->snapshot().rates->offered.pps.value_or(0), 1'000'000, 100);
    EXPECT_EQ(shown_->snapshot().events.size(), std::min(kKeyEventKindCount, LiveSampler::kEvents));
    EXPECT_GT(shown_->snapshot().events[0]["seq"], shown_->snapshot().events[1]["seq"]);
    stop_dataplane();
    EXPECT_FALSE(second(2).rates);
    EXPECT_EQ(shown_->snapshot().state.state, LiveState::NoDataplane);
    EXPECT_EQ(shown_->snapshot().since, "2025-11-24T16:00:02.000000000Z");
    EXPECT_EQ(shown_->snapshot().generation, std::nullopt);
    EXPECT_FALSE(shown_->snapshot().rules.at(0).matched.pps);
    EXPECT_EQ(shown_->snapshot().problems.at(0).name, "no_dataplane");
    start_dataplane();
    dataplane().count(5'000'000);
    tick();
    EXPECT_FALSE(second(3).rates) << "the one before counted otherwise";
    EXPECT_FALSE(shown_->snapshot().rules.at(0).matched.pps);
}

TEST_F(Sampled, ACounterIsAProblemForAMinuteAfterItGrew) {
    ProblemFinder finder;
    Stats stats = running();
    stats.ports[0].link_up = true;
    stats.state.survives = true;
    const RuleView view = on(Mode::Enforce);
    const StateNow state{LiveState::Judging, ""};
    const auto names = [&](std::int64_t second, bool anew = false) {
        std::string found;
        for (const LiveProblem& one : finder.find({&stats, view, state, {}}, second, anew)) {
            found += std::string{one.name} + " ";
        }
        return found;
    };
    stats.ports[0].rx_missed = 1'000;
    EXPECT_EQ(names(1), "") << "nobody knows when that was";
    stats.ports[0].rx_missed = 1'001;
    EXPECT_EQ(names(2), "receive_ring_full ");
    EXPECT_EQ(names(2 + ProblemFinder::kHolds), "receive_ring_full ");
    EXPECT_EQ(names(3 + ProblemFinder::kHolds), "");
    stats.ports[0].rx_missed = 9'999;
    EXPECT_EQ(names(100, true), "") << "another dataplane counts";
    stats.ports[0].link_up = false;
    stats.panic = true;
    EXPECT_EQ(names(101), "panic links_down ");
}

TEST_F(Sampled, ProblemsOfOtherChangesAreToldOnceTheyLast) {
    ProblemFinder finder;
    Stats stats = running();
    stats.ports[0].link_up = true;
    stats.state.survives = true;
    const RuleView view = on(Mode::Enforce);
    const StateNow state{LiveState::Judging, ""};
    const auto names = [&](std::int64_t second, bool anew = false) {
        std::string found;
        for (const LiveProblem& one : finder.find({&stats, view, state, {}}, second, anew)) {
            found += std::string{one.name} + " ";
        }
        return found;
    };
    stats.generation = 8;
    EXPECT_EQ(names(1), "") << "rules are being applied";
    stats.generation = 7;
    EXPECT_EQ(names(9), "");
    stats.generation = 8;
    EXPECT_EQ(names(10), "") << "once more";
    EXPECT_EQ(names(19), "");
    EXPECT_EQ(names(20), "rules_behind ");
    stats.generation = 7;
    EXPECT_EQ(names(21), "");
    stats.ports[0].kernel.bridged_packets = 5;
    EXPECT_EQ(names(22, true), "kernel_bridging ") << "the kernel counts on between dataplanes";
}

TEST(LiveBoard, WhoWaitsIsAnsweredByTheNextSecondAndWhenItEnds) {
    using namespace std::chrono_literals;
    LiveBoard board{{}, true};
    EXPECT_EQ(board.wait(0, 0ms), nullptr);
    board.publish({.number = 1});
    EXPECT_EQ(board.wait(0, 1h)->snapshot().number, 1U);
    EXPECT_EQ(board.wait(9, 1h)->snapshot().number, 1U) << "a number of another sluiced";
    EXPECT_EQ(board.wait(1, 1ms)->snapshot().number, 1U) << "there is no newer one in time";
    {
        const std::jthread waiting{[&] { EXPECT_EQ(board.wait(1, 1h)->snapshot().number, 2U); }};
        board.publish({.number = 2});
    }
    const std::jthread waiting{[&] { EXPECT_EQ(board.wait(2, 1h)->snapshot().number, 2U); }};
    board.stop();
}

TEST(LiveBoard, SleepsUntilSomebodyAsks) {
    using namespace std::chrono_literals;
    LiveBoard board{{}, false};
    const std::jthread reading{[&](const std::stop_token& stop) {
        (void)board.sleep_until_wanted(stop);
        board.publish({.number = 1});
    }};
    EXPECT_EQ(board.wait(0, 1h)->snapshot().number, 1U);
    EXPECT_FALSE(board.sleep_until_wanted({})) << "it was asked just now";
    EXPECT_EQ(board.stats().snapshots, 1U);
    EXPECT_EQ(board.stats().clients, 0U);
}

TEST(LiveBoard, ShowsNobodyAgainWhatWasReadBeforeItSlept) {
    using namespace std::chrono_literals;
    LiveBoard board{{}, false};
    std::stop_source ended;
    ended.request_stop();
    board.publish({.number = 1});
    EXPECT_TRUE(board.sleep_until_wanted(ended.get_token())) << "nobody has asked";
    EXPECT_EQ(board.wait(0, 0ms), nullptr);
    EXPECT_EQ(board.series("", 10, 0ms).until, nullptr);
    board.publish({.number = 2});
    EXPECT_EQ(board.wait(0, 1h)->snapshot().number, 2U);
    EXPECT_TRUE(board.series("", 10, 0ms).columns);
    EXPECT_FALSE(board.series("none", 10, 0ms).columns);
}

}  // namespace
}  // namespace sluice::live_sampler_test

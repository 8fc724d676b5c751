#include "dataplane/worker/worker_fleet.hpp"

#include "tests/unit/dataplane/box/portless_box.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <variant>

// Workers in threads of their own, without ports: from when they are made until they have ended.
namespace sluice::worker_fleet_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWorkers = 2;

// Waits for what other threads do, far longer than they take.
template <typename Done>
[[nodiscard]] bool comes_true(const Done& done) {
    for (const auto end = std::chrono::steady_clock::now() + 60s; !done();) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

class WorkerFleetTest : public testing::Test {
protected:
    void SetUp() override {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
        GTEST_SKIP() << "the threads are DPDK's, whose library tells nobody that it waits for them";
#endif
#endif
        test::start_eal_once();
        folder.box.idle_sleep = 100us;
    }

    [[nodiscard]] bool take_turns(test::PortlessBox& box) {
        std::uint64_t before[kWorkers];
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            before[worker] = box.workers.rounds(worker);
        }
        return comes_true([&] {
            return box.workers.rounds(0) > before[0] + 2 && box.workers.rounds(1) > before[1] + 2;
        });
    }

    test::BoxFolder folder{"worker_fleet"};
};

TEST_F(WorkerFleetTest, IsMadeOnce) {
    test::PortlessBox box{folder.box, kWorkers};
    WorkerFleet& fleet = box.workers;
    EXPECT_EQ(fleet.size(), kWorkers);
    EXPECT_FALSE(fleet.is_made());
    EXPECT_EQ(fleet.settled(), 0U);
    box.make_workers();
    ASSERT_TRUE(fleet.is_made());
    EXPECT_EQ(fleet.samplers().size(), kWorkers);
    EXPECT_EQ(fleet.events().size(), kWorkers);
    EXPECT_TRUE(fleet.new_bans().empty()) << "nobody reads them";
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        const WorkerStats stats = fleet.stats(worker);
        EXPECT_EQ(stats.lcore, fleet.lcore(worker));
        EXPECT_GE(stats.table_slots, folder.box.table_keys / kWorkers);
        EXPECT_EQ(stats.bursts, 0U);
    }
    fleet.stop();
    EXPECT_FALSE(fleet.is_made());
}

// All of them adopt a set that is published, and the one before is freed; then they end.
TEST_F(WorkerFleetTest, WorkersAdoptRulesUntilTheyAreStopped) {
    test::PortlessBox box{folder.box, kWorkers};
    box.make_workers();
    box.workers.launch();
    EXPECT_TRUE(take_turns(box));
    for (const char* name : {"first", "second"}) {
        const std::weak_ptr<const LoadedRules> before = box.publisher.shared();
        ASSERT_TRUE(std::holds_alternative<Applied>(
            box.publisher.take(test::deny_all(name), RulePublisher::Keep::Yes)));
        EXPECT_TRUE(comes_true([&] {
            box.publisher.tick(std::chrono::steady_clock::now());
            return before.expired();
        }));
        EXPECT_TRUE(take_turns(box));
    }
    box.workers.stop();
    const std::uint64_t rounds = box.workers.rounds(0);
    EXPECT_FALSE(box.workers.is_made());
    EXPECT_GT(rounds, 0U) << "counters stay";
    EXPECT_EQ((*RulesStore{folder.box.state_dir}.load())->source, "second");
}

// Each worker answers by the rules that it acts on, and says where the question is about others.
TEST_F(WorkerFleetTest, WorkersAnswerQuestions) {
    test::PortlessBox box{folder.box, kWorkers};
    box.make_workers();
    ApplyRules limited = test::deny_all("limited");
    Rule& rule = limited.rules.rules.front();
    rule.on_match = OnMatch::Meter;
    rule.keys = {GroupingKey{}};
    rule.limits = {
        {.identity = 7,
         .name = "1",
         .limit = TokenBucketLimit{*Limit::make({.units = Units{1}, .period = 1h}, Units{10})}}};
    ASSERT_TRUE(std::holds_alternative<Applied>(
        box.publisher.take(std::move(limited), RulePublisher::Keep::No)));
    box.workers.launch();
    for (const std::uint64_t stale : {0U, 1U}) {
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            DpdkWorker::KeyMailbox& mailbox = box.workers.keys(worker);
            ASSERT_TRUE(mailbox.post({.load = box.publisher.loaded().set().load + stale}));
            KeyAnswer answer;
            ASSERT_TRUE(comes_true([&] { return mailbox.take(answer); }));
            EXPECT_EQ(answer.known, stale == 0) << worker;
            EXPECT_EQ(answer.limits().size(), stale == 0 ? 1U : 0U);
            EXPECT_TRUE(stale != 0 || answer.limits()[0].most == Units{10});
        }
    }
    box.workers.stop();
}

}  // namespace
}  // namespace sluice::worker_fleet_test

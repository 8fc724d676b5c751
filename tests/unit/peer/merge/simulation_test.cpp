#include "tests/rounds.hpp"
#include "tests/unit/peer/merge/adversary.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// The bound of lib/peer/merge/DESIGN.md holds at every charge, for any order of arrivals and stalls
// of any worker.
namespace sluice::simulation_test {
namespace {

using namespace std::chrono_literals;

Limit limit_of(std::uint64_t units, Nanoseconds period, std::uint64_t burst) {
    return *Limit::make({Units{units}, period}, Units{burst});
}

Workers workers_of(const Scenario& scenario, std::uint64_t burst) {
    const Limit limit =
        scenario.fractional ? limit_of(70'001, 997ms, burst) : limit_of(20'000, 1s, burst);
    return {{.limit = TokenBucketLimit{limit}, .max_unsynced = Adversary::kMaxUnsynced},
            {.workers = scenario.workers,
             .ring = scenario.ring,
             .records = scenario.records,
             .longest = scenario.longest}};
}

class Simulation : public testing::TestWithParam<Scenario> {};

TEST_P(Simulation, NoWindowIsBeyondThePromiseAndNoAmountIsLost) {
    const Scenario scenario = GetParam();
    const std::uint64_t burst = std::max<std::uint64_t>(2 * 9 * scenario.workers, 64);
    for (std::uint64_t seed = 1; seed <= (scenario.workers > 16 ? 2U : 6U); ++seed) {
        Workers workers = workers_of(scenario, burst);
        Adversary adversary{workers, scenario, seed};
        for (int step = 0; step < test::rounds(3'000); ++step) {
            adversary.step();
            if (testing::Test::HasFatalFailure()) {
                FAIL() << scenario.name << " seed " << seed << " step " << step;
            }
        }
        Instant now = adversary.now();
        settle(workers, scenario, now);
        ASSERT_TRUE(workers.synced());
        EXPECT_TRUE(workers.owners_know_all(now));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Courses, Simulation,
    testing::Values(
        Scenario{.name = "alone", .workers = 1}, Scenario{.name = "two", .workers = 2},
        Scenario{.name = "three_fractional", .workers = 3, .fractional = true},
        Scenario{.name = "four", .workers = 4}, Scenario{.name = "seven", .workers = 7},
        Scenario{.name = "sixteen", .workers = 16}, Scenario{.name = "sixty_four", .workers = 64},
        Scenario{.name = "one_key", .workers = 4, .keys = 1},
        Scenario{.name = "stalls", .workers = 4, .stalled = 2},
        Scenario{.name = "all_but_one_stall", .workers = 8, .keys = 8, .stalled = 7},
        Scenario{.name = "slow", .workers = 4, .slow = 50},
        Scenario{.name = "full_rings", .workers = 4, .ring = 2, .keys = 40},
        Scenario{
            .name = "full_rings_and_stalls", .workers = 5, .ring = 1, .keys = 60, .stalled = 2},
        Scenario{.name = "few_records", .workers = 4, .records = 3, .keys = 50},
        Scenario{.name = "waits", .workers = 4, .longest = 3ms},
        Scenario{.name = "many_wait", .workers = 3, .records = 64, .keys = 60, .longest = 3ms},
        Scenario{.name = "killed", .workers = 3, .restarts = true},
        Scenario{.name = "killed_while_it_waits", .workers = 3, .restarts = true, .longest = 3ms},
        Scenario{.name = "killed_with_full_rings",
                 .workers = 4,
                 .ring = 2,
                 .records = 16,
                 .keys = 20,
                 .fractional = true,
                 .restarts = true}),
    [](const auto& scenario) { return scenario.param.name; });

// Offered steadily, worker after worker. From the beginning on, at every packet: what was admitted
// is no less than the rate gives or than was offered.
struct Steady {
    std::size_t workers;
    std::uint64_t gap_ns;   // between packets
    unsigned stay;          // packets in a row at one worker
    std::uint64_t turn_ns;  // between turns
};

void offer_steadily(const Steady& steady, const Limit& limit, std::uint64_t max_unsynced) {
    Workers workers{{.limit = TokenBucketLimit{limit}, .max_unsynced = max_unsynced},
                    {.workers = steady.workers}};
    const Instant start{1s};
    Instant turned = start;
    std::uint64_t admitted = 0;
    // The burst is spent after five thousand at the latest where more are offered than the rate
    // gives by far.
    const auto packets = static_cast<std::uint64_t>(std::max(test::rounds(60'000), 10'000));
    for (std::uint64_t i = 0; i < packets; ++i) {
        const Instant now = start + Nanoseconds{static_cast<std::int64_t>(i * steady.gap_ns)};
        for (; turned <= now; turned += Nanoseconds{static_cast<std::int64_t>(steady.turn_ns)}) {
            for (std::size_t worker = 0; worker < steady.workers; ++worker) {
                workers.poll(worker, turned);
            }
        }
        admitted += workers.offer((i / steady.stay) % steady.workers, 0, 1, now) ? 1 : 0;
        const std::uint64_t earned = i * steady.gap_ns * limit.parts() / limit.period();
        ASSERT_GE(admitted + 1, std::min(i + 1, earned)) << "packet " << i;
        ASSERT_LE(workers.worst_overshoot(), workers.promised_overshoot());
    }
}

TEST(SimulationSteady, AdmitsWhatTheRateGives) {
    const Limit limit = limit_of(100'000, 1s, 4'000);
    // There and back takes a merge interval and two turns.
    const std::uint64_t max_unsynced = 2 * 100'000 * 11 / 10 / 1'000 + 1;
    for (const std::size_t workers : {1U, 2U, 4U, 8U}) {
        for (const std::uint64_t gap : {2'000U, 9'000U, 10'000U, 11'000U, 20'000U}) {
            for (const unsigned stay : {1U, 7U, 500U, 60'000U}) {
                SCOPED_TRACE(testing::Message()
                             << workers << " workers, " << gap << " ns, " << stay);
                offer_steadily({workers, gap, stay, 20'000}, limit, max_unsynced);
            }
        }
    }
}

// What is refused for want of credit alone, a worker whose owner stalls says, and goes on when the
// owner does.
TEST(SimulationStall, CreditEndsAndComesBack) {
    Workers workers{{.limit = TokenBucketLimit{limit_of(1'000, 1s, 1'000)}, .max_unsynced = 10},
                    {.workers = 2}};
    const std::uint64_t key = 0;
    const std::size_t owner = workers.owner(key);
    const std::size_t other = 1 - owner;
    const Instant now{1s};
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(workers.offer(other, key, 1, now));
        workers.poll(other, now);
    }
    EXPECT_FALSE(workers.offer(other, key, 1, now + 1ms));
    EXPECT_EQ(workers.refused_for_credit(), 1U);
    workers.poll(other, now + 2ms);
    workers.poll(owner, now + 2ms);
    workers.poll(other, now + 2ms);
    EXPECT_TRUE(workers.offer(other, key, 10, now + 2ms));
    EXPECT_FALSE(workers.offer(other, key, 1, now + 2ms));
}

// What comes back is the total and what has been spent here since: no more, and no less.
TEST(SimulationStall, ACopyOwesTheTotalAndWhatIsUnsynced) {
    Workers workers{{.limit = TokenBucketLimit{limit_of(1'000, 1s, 100)}, .max_unsynced = 10},
                    {.workers = 2}};
    const std::size_t owner = workers.owner(0);
    const std::size_t other = 1 - owner;
    const Instant now{1s};
    EXPECT_TRUE(workers.offer(other, 0, 5, now));  // half of what may be unsynced: sent
    EXPECT_TRUE(workers.offer(owner, 0, 20, now));
    EXPECT_TRUE(workers.offer(other, 0, 2, now));
    workers.poll(owner, now);
    EXPECT_EQ(workers.debt_at(owner, 0, now), 25 * workers.limit().period());
    EXPECT_EQ(workers.debt_at(other, 0, now), 7 * workers.limit().period());
    workers.poll(other, now);
    EXPECT_EQ(workers.debt_at(other, 0, now), 27 * workers.limit().period());
    EXPECT_EQ(workers.most_unsynced(0), 2U);
    // Nobody else has spent: the mark is enough, and no total is told.
    EXPECT_EQ(workers.sum(LedgerEvent::Answered), 1U);
    EXPECT_TRUE(workers.offer(other, 0, 3, now));  // half again, with the two
    workers.poll(owner, now);
    workers.poll(other, now);
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 2U);
    EXPECT_EQ(workers.sum(LedgerEvent::Answered), 1U);
    EXPECT_TRUE(workers.synced());
}

// What is far from its limit waits for half of U, or for half of the longest wait and no longer
// than that; what comes near is told within a merge interval, with what has waited.
TEST(SimulationWait, WhileItIsFarFromItsLimit) {
    Workers workers{{.limit = TokenBucketLimit{limit_of(1, 1s, 100)}, .max_unsynced = 40},
                    {.workers = 2}};
    const std::size_t owner = workers.owner(0);
    const std::size_t other = 1 - owner;
    Instant now{1s};
    const auto turns = [&](Nanoseconds time) {
        for (Nanoseconds passed{0}; passed < time; passed += 500us) {
            now += 500us;
            workers.poll(other, now);
            workers.poll(owner, now);
        }
    };
    EXPECT_TRUE(workers.offer(other, 0, 3, now));
    turns(Ledger::kLongestWait / 2);
    EXPECT_TRUE(workers.offer(other, 0, 4, now)) << "which does not make it wait longer";
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 0U);
    turns(Ledger::kLongestWait / 2 + 12ms);
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 1U);
    EXPECT_TRUE(workers.owners_know_all(now));
    EXPECT_TRUE(workers.offer(other, 0, 19, now));
    turns(100ms);
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 1U);
    EXPECT_TRUE(workers.offer(other, 0, 1, now)) << "half of U";
    turns(1ms);
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 2U);
    EXPECT_TRUE(workers.offer(other, 0, 10, now));
    turns(100ms);
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 2U);
    EXPECT_TRUE(workers.offer(owner, 0, 40, now));
    EXPECT_TRUE(workers.offer(other, 0, 15, now))
        << "half of U: it is told what the owner has spent";
    turns(3ms);
    EXPECT_TRUE(workers.offer(other, 0, 1, now)) << "near now";
    turns(3ms);
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 4U);
    EXPECT_TRUE(workers.synced());
    EXPECT_EQ(workers.sum(LedgerEvent::Early), 0U);
    EXPECT_LE(workers.worst_overshoot(), 0U);
}

// What has waited is told within an interval once the same copy comes near.
TEST(SimulationWait, UntilItComesNear) {
    Workers workers{{.limit = TokenBucketLimit{limit_of(1, 1s, 20)}, .max_unsynced = 30},
                    {.workers = 2}};
    const std::size_t other = 1 - workers.owner(0);
    Instant now{1s};
    EXPECT_TRUE(workers.offer(other, 0, 9, now));
    now += 50ms;
    workers.poll(other, now);
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 0U);
    EXPECT_TRUE(workers.offer(other, 0, 2, now));
    workers.poll(other, now + 500us);
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 0U);
    workers.poll(other, now + 1100us);
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 1U);
    workers.poll(1 - other, now + 1100us);
    EXPECT_EQ(workers.debt_at(1 - other, 0, now + 1100us), 11 * workers.limit().period());
}

// When records get few, nothing waits longer than a merge interval, so nobody is refused for want
// of one.
TEST(SimulationWait, NotWhenRecordsAreFew) {
    Workers workers{{.limit = TokenBucketLimit{limit_of(1, 1s, 1'000)}, .max_unsynced = 100},
                    {.workers = 2, .records = 64}};
    Instant now{1s};
    for (std::uint64_t key = 0; key < 900; ++key) {
        EXPECT_TRUE(workers.offer(1 - workers.owner(key), key, 1, now)) << key;
        now += 100us;
        workers.poll(0, now);
        workers.poll(1, now);
    }
    EXPECT_EQ(workers.refused_for_credit(), 0U);
    EXPECT_GT(workers.sum(LedgerEvent::Early), 500U);
    EXPECT_TRUE(workers.owners_know_all(now + 10s)) << "or it is paid back";
    Scenario scenario{.name = "", .workers = 2};
    settle(workers, scenario, now);
    EXPECT_TRUE(workers.synced());
    EXPECT_TRUE(workers.owners_know_all(now));
}

// Whoever is killed while amounts wait has them told soon afterwards.
TEST(SimulationWait, NotBeyondAKill) {
    Workers workers{{.limit = TokenBucketLimit{limit_of(1, 1h, 1'000)}, .max_unsynced = 100},
                    {.workers = 3}};
    Instant now{1s};
    for (std::uint64_t key = 0; key < 20; ++key) {
        for (std::size_t worker = 0; worker < 3; ++worker) {
            EXPECT_TRUE(workers.offer(worker, key, 7, now));
        }
    }
    for (int i = 0; i < 100; ++i, now += 1ms) {
        workers.poll(static_cast<std::size_t>(i) % 3, now);
    }
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 0U);
    EXPECT_FALSE(workers.owners_know_all(now));
    workers.restart_all(now);
    for (int i = 0; i < 10; ++i, now += 1ms) {
        for (std::size_t worker = 0; worker < 3; ++worker) {
            workers.poll(worker, now);
        }
    }
    EXPECT_TRUE(workers.synced());
    EXPECT_TRUE(workers.owners_know_all(now));
}

// With the policy `open` the copy alone decides, and what it admits is still told.
TEST(SimulationStall, OpenGoesOnAndOwes) {
    Workers workers{
        {.limit = TokenBucketLimit{limit_of(1, 1s, 100)}, .max_unsynced = 10, .open = true},
        {.workers = 2}};
    const std::size_t other = 1 - workers.owner(0);
    Instant now{1s};
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(workers.offer(other, 0, 1, now));
    }
    EXPECT_FALSE(workers.offer(other, 0, 1, now));
    for (int i = 0; i < 10; ++i, now += 1ms) {
        workers.poll(other, now);
        workers.poll(1 - other, now);
    }
    EXPECT_TRUE(workers.synced());
    EXPECT_FALSE(workers.offer(1 - other, 0, 1, now));
}

}  // namespace
}  // namespace sluice::simulation_test

#include "dataplane/store/store_batches.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"
#include "tests/unit/dataplane/store/tiny_store.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

// Boxes of one or several workers that share a limit by a store: what they admit of a key together,
// and what each does while the store is away.
namespace sluice::cluster_packets_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{1h};

constexpr const char* kBucket =
    "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n"
    "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1000}]\n";
constexpr const char* kWindow =
    "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n"
    "    limits: [{algorithm: fixed_window, count: 1000, window: 60s}]\n";
// Of a cluster by UTC, which those of one box are not.
constexpr const char* kPerKey =
    "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n    scope: cluster\n"
    "    limits: [{algorithm: fixed_window, count: 1000, window: 60s, phase: per_key}]\n";
constexpr const char* kSliding =
    "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n    scope: cluster\n"
    "    limits: [{algorithm: sliding_window, count: 1000, window: 60s}]\n";

std::vector<std::byte> frame() {
    return test::udp().src("10.0.0.1").dst("192.0.2.1").dport(53).bytes();
}

struct Shape {
    std::size_t boxes = 2;
    std::size_t workers = 1;
    OwnerDown down = OwnerDown::LocalShare;
};

class Cluster {
public:
    explicit Cluster(const char* rules, const Shape& shape = {}) {
        for (std::size_t i = 0; i < shape.boxes; ++i) {
            boxes_.push_back(std::make_unique<Box>(rules, shape));
        }
    }
    // So many packets, one after the other, at every box in turn or at one of them.
    std::uint64_t pass(std::size_t packets, Nanoseconds gap = 10us, int box = -1) {
        std::uint64_t passed = 0;
        for (std::size_t i = 0; i < packets; ++i) {
            now_ += gap;
            const std::size_t at = box < 0 ? i % boxes_.size() : static_cast<std::size_t>(box);
            const std::size_t worker = i / boxes_.size() % boxes_[at]->workers.size();
            passed += boxes_[at]->workers.judge(worker, frame(), now_).verdict == Verdict::Pass;
            talk();
        }
        return passed;
    }
    // So many connections to one host begin, each at the next box or at one of them.
    std::uint64_t open(std::size_t connections, Nanoseconds gap, int box = -1) {
        std::uint64_t opened = 0;
        for (std::size_t i = 0; i < connections; ++i) {
            now_ += gap;
            const std::size_t at = box < 0 ? i % boxes_.size() : static_cast<std::size_t>(box);
            opened += begin(at).verdict == Verdict::Pass;
        }
        return opened;
    }
    Decision begin(std::size_t at, bool talks = true) {
        const auto syn = test::tcp()
                             .src("10.0.0.1")
                             .dst("192.0.2.1")
                             .sport(++port_)
                             .dport(80)
                             .flags(0x02)
                             .bytes();
        const Decision decision = boxes_[at]->workers.judge(0, syn, now_);
        if (talks) {
            talk();
        }
        return decision;
    }
    // What a box says of that host's key.
    KeyBucket show(std::size_t at) {
        return boxes_[at]->workers.show(0, "192.0.2.1", now_).buckets[0];
    }
    void wait(Nanoseconds time) {
        for (const Instant until = now_ + time; now_ < until; now_ += 10ms) {
            talk();
        }
    }
    // The store hears and answers nobody.
    void set_away(bool away) {
        away_ = away;
        for (const auto& box : boxes_) {
            box->workers.lanes().store_down().raise(away);
        }
    }
    // The store answers, and the budget has no room for what the boxes have to tell.
    void exhaust_budget() {
        away_ = true;
        for (const auto& box : boxes_) {
            box->workers.lanes().store_over_budget().raise(true);
        }
    }
    void set_windows_apart(std::size_t box, bool apart) {
        boxes_[box]->workers.lanes().windows_apart().raise(apart);
    }
    void restart(std::size_t box) { boxes_[box]->workers.forget_gauges(); }
    // The store comes back empty.
    void lose_store() { store_.begin_anew(2); }
    [[nodiscard]] const LoadedLimit& limit() const { return boxes_[0]->workers.limit(); }
    [[nodiscard]] std::uint64_t promised() const {
        const std::uint64_t others = boxes_.size() - 1;
        const std::uint64_t workers = boxes_[0]->workers.size();
        return others * limit().cluster.box_unsynced +
               boxes_.size() * (workers - 1) * (workers > 1 ? limit().shared : 0);
    }
    [[nodiscard]] std::uint64_t events(LedgerEvent event) const {
        std::uint64_t count = 0;
        for (const auto& box : boxes_) {
            count += box->workers.events(event);
        }
        return count;
    }

private:
    struct Box {
        Box(const char* rules, const Shape& shape)
            : workers{rules,
                      shape.workers,
                      {.merge_interval = 100us, .machines = shape.boxes, .owner_down = shape.down}},
              batches{shape.workers, 200'000} {}
        Workers workers;
        StoreBatches batches;
    };
    void talk() {
        for (std::size_t at = 0; at < boxes_.size(); ++at) {
            Box& box = *boxes_[at];
            for (std::size_t worker = 0; worker < box.workers.size(); ++worker) {
                box.workers.poll(worker, now_);
                StoreLane& lane = *box.workers.lanes().store(worker);
                box.batches.take(worker, lane, now_.time_since_epoch());
                box.batches.deliver(worker, lane);
            }
            while (const StoreBatch* batch = box.batches.next_to_say(now_.time_since_epoch())) {
                if (!away_) {
                    const auto us =
                        static_cast<std::uint64_t>(now_.time_since_epoch().count() / 1'000);
                    box.batches.settle(store_.sync(at, *batch, us), now_.time_since_epoch());
                }
            }
        }
    }

    std::vector<std::unique_ptr<Box>> boxes_;
    test::TinyStore store_;
    Instant now_ = kStart;
    std::uint16_t port_ = 1024;
    bool away_ = false;
};

TEST(ClusterPackets, BoxesAdmitOneBurstWithinThePromise) {
    for (const std::size_t workers : {1U, 2U}) {
        Cluster cluster{kBucket, {.boxes = 3, .workers = workers}};
        ASSERT_NE(cluster.limit().cluster.box_unsynced, 0U);
        const std::uint64_t passed = cluster.pass(4'000);
        EXPECT_GE(passed, 1'000U) << workers;
        EXPECT_LE(passed, 1'001U + cluster.promised()) << workers;
        EXPECT_GT(cluster.events(LedgerEvent::StoreTaken), 0U) << workers;
        // And over a long time the rate.
        const std::uint64_t later = cluster.pass(4'000, 10ms);
        // What went beyond the burst is paid back first.
        EXPECT_GE(passed + later, 1'390U) << workers;
        EXPECT_LE(later, 402U + cluster.promised()) << workers;
    }
}

// A flood goes on while the store loses the key: boxes that are told less than they know say so.
TEST(ClusterPackets, AStoreThatHasLostAKeyIsToldOfItAgain) {
    Cluster cluster{kBucket, {.boxes = 3}};
    const std::uint64_t before = cluster.pass(6'000, 100us);
    EXPECT_EQ(cluster.events(LedgerEvent::StoreDeclared), 0U) << "nothing is lost yet";
    cluster.lose_store();
    const std::uint64_t later = cluster.pass(30'000, 100us);
    EXPECT_GT(cluster.events(LedgerEvent::StoreDeclared), 0U);
    const std::uint64_t paid_back = 36;  // in 3.6 s
    EXPECT_LE(before + later, 1'001U + paid_back + 2 * cluster.promised());
    EXPECT_GE(before + later, 1'000U + paid_back - 1);
}

TEST(ClusterPackets, BoxesAdmitOneCountInEachWindow) {
    for (const std::size_t workers : {1U, 2U}) {
        Cluster cluster{kWindow, {.boxes = 3, .workers = workers}};
        ASSERT_NE(cluster.limit().cluster.box_unsynced, 0U);
        for (int window = 0; window < 3; ++window) {
            const std::uint64_t passed = cluster.pass(6'000);
            EXPECT_GE(passed, 1'000U) << workers;
            EXPECT_LE(passed, 1'000U + cluster.promised()) << workers;
            cluster.wait(60s);
        }
        EXPECT_EQ(cluster.events(LedgerEvent::StoreDeclared), 0U) << "nothing is lost";
    }
}

// Whenever a key's windows begin: in the first count there is no other.
TEST(ClusterPackets, WindowsOfKeysAndSlidingOnesAreOfAllBoxes) {
    for (const char* rules : {kPerKey, kSliding}) {
        for (const std::size_t workers : {1U, 2U}) {
            Cluster cluster{rules, {.boxes = 3, .workers = workers}};
            ASSERT_NE(cluster.limit().cluster.box_unsynced, 0U) << rules;
            const std::uint64_t passed = cluster.pass(6'000);
            EXPECT_GE(passed, 1'000U) << rules << workers;
            EXPECT_LE(passed, 1'000U + cluster.promised()) << rules << workers;
            cluster.wait(125s);
            EXPECT_GE(cluster.pass(6'000, 10us, 0), 1'000U) << rules << "nothing counts any more";
            EXPECT_EQ(cluster.events(LedgerEvent::StoreDeclared), 0U) << "nothing is lost";
            cluster.wait(125s);
            cluster.set_away(true);
            const std::uint64_t share = cluster.pass(6'000, 10us, 1);
            EXPECT_GE(share, 333U) << rules;
            EXPECT_LE(share, 334U + cluster.promised()) << rules;
        }
    }
}

TEST(ClusterPackets, AStoreThatHasLostAWindowIsToldOfItAgain) {
    for (const std::size_t workers : {1U, 2U}) {
        Cluster cluster{kWindow, {.boxes = 3, .workers = workers}};
        const std::uint64_t before = cluster.pass(667);
        cluster.lose_store();
        const std::uint64_t passed = before + cluster.pass(6'000);
        EXPECT_GT(cluster.events(LedgerEvent::StoreDeclared), 0U) << workers;
        EXPECT_GE(passed, 1'000U) << workers;
        EXPECT_LE(passed, 1'000U + cluster.promised() + 2 * cluster.limit().cluster.box_unsynced)
            << workers;
    }
}

// All that was spent meanwhile is told, and no more than that: not what copies were charged for it.
TEST(ClusterPackets, BoxesThatAreCutOffShareTheWindowAndTellWhatTheyHaveSpent) {
    Cluster cluster{kWindow, {.boxes = 3}};
    cluster.set_away(true);
    const std::uint64_t passed = cluster.pass(3'000, 10us, 0);
    EXPECT_GE(passed, 333U);
    EXPECT_LE(passed, 334U + cluster.limit().cluster.box_unsynced);
    EXPECT_GT(cluster.events(LedgerEvent::LocalShare), 0U);
    cluster.set_away(false);
    cluster.wait(2s);
    const std::uint64_t all = passed + cluster.pass(3'000, 10us, 1);
    EXPECT_EQ(cluster.events(LedgerEvent::StoreDeclared), 0U) << "nothing is lost";
    EXPECT_GE(all, 1'000U);
    EXPECT_LE(all, 1'000U + cluster.promised());
}

// The copy is beyond the store from then on, and the store has lost nothing.
TEST(ClusterPackets, WhatAWindowWasChargedForItsShareIsNotDeclared) {
    Cluster cluster{kWindow, {.boxes = 3}};
    cluster.set_away(true);
    std::uint64_t passed = cluster.pass(100, 10us, 0);
    EXPECT_EQ(passed, 100U);
    cluster.set_away(false);
    cluster.wait(2s);
    passed += cluster.pass(100, 100us, 0);
    cluster.wait(1s);
    EXPECT_EQ(passed, 200U);
    EXPECT_EQ(cluster.events(LedgerEvent::StoreDeclared), 0U);
    passed += cluster.pass(3'000, 100us, 1);
    EXPECT_GE(passed, 1'000U);
    EXPECT_LE(passed, 1'000U + cluster.promised());
}

TEST(ClusterPackets, WindowsOfABoxWithAWrongClockAreItsShareOfThem) {
    Cluster cluster{kWindow, {.boxes = 4}};
    cluster.set_windows_apart(0, true);
    EXPECT_EQ(cluster.pass(1'000, 10us, 0), 250U) << "credit is of no use to it";
    cluster.set_windows_apart(0, false);
    Cluster bucket{kBucket, {.boxes = 4}};
    bucket.set_windows_apart(0, true);
    EXPECT_GT(bucket.pass(2'000, 10us, 0), 300U);
    EXPECT_EQ(bucket.events(LedgerEvent::LocalShare), 0U) << "buckets do not read the clock";
}

constexpr const char* kOpen =
    "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n"
    "    limits: [{algorithm: concurrency, count: 60, idle: 10s}]\n";

// Of all boxes together no more are open than one box would allow, and 2 * U.
TEST(ClusterPackets, OpenConnectionsAreOneCount) {
    Cluster cluster{kOpen, {.boxes = 3}};
    ASSERT_EQ(cluster.limit().cluster.box_unsynced, 3U);
    const std::uint64_t opened = cluster.open(1'200, 1ms);
    EXPECT_GE(opened, 58U);
    EXPECT_LE(opened, 60U + cluster.promised());
    // Idle ones leave, and others may open at any box.
    cluster.wait(12s);
    const std::uint64_t later = cluster.open(400, 1ms, 1);
    EXPECT_GE(later, 58U);
    EXPECT_LE(later, 60U);
    EXPECT_LE(cluster.open(200, 1ms), cluster.promised()) << "before the others have heard";
    EXPECT_EQ(cluster.open(200, 1ms), 0U);
}

// A key whose connections others have waits until they may have left, and not at all for the store
// to confirm what is open.
TEST(ClusterPackets, ARefusedConnectionIsToldWhenThereMayBeRoom) {
    Cluster cluster{kOpen, {.boxes = 3}};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(cluster.begin(0, false).verdict, Verdict::Pass);
    }
    const Decision ahead = cluster.begin(0, false);
    EXPECT_EQ(ahead.reason, Reason::NoCredit);
    EXPECT_EQ(ahead.wait, 0ns);
    cluster.wait(1s);
    (void)cluster.open(100, 10ms, 0);
    (void)cluster.open(10, 10ms, 1);
    const Decision full = cluster.begin(1);
    EXPECT_EQ(full.reason, Reason::OverLimit);
    EXPECT_GT(full.wait, 1s);
    EXPECT_LE(full.wait, 10s);
}

// What is left of a key is what its box would open now: others may have all of the count.
TEST(ClusterPackets, AKeyIsShownWithWhatOtherBoxesHaveOpen) {
    Cluster cluster{kOpen, {.boxes = 3}};
    const std::uint64_t theirs = cluster.open(40, 10ms, 0);
    ASSERT_GE(theirs, 30U);
    const std::uint64_t own = cluster.open(5, 10ms, 1);
    ASSERT_GT(own, 0U);
    cluster.wait(1s);
    EXPECT_EQ(cluster.show(1).remaining.count(), 60 - theirs - own);
    EXPECT_EQ(cluster.show(1).most, Units{60});
    EXPECT_EQ(cluster.show(1).wait, 0ns);
    (void)cluster.open(40, 10ms, 0);
    cluster.wait(1s);
    (void)cluster.open(1, 10ms, 1);
    cluster.wait(1s);
    EXPECT_EQ(cluster.show(1).remaining, Units{0});
    EXPECT_GT(cluster.show(1).wait, 1s);
    cluster.wait(40s);
    EXPECT_EQ(cluster.show(1).remaining, cluster.show(1).most) << "they were idle";
}

// A box that begins anew has the connections of the process before: it tells of them, though none
// opens or says anything, and for longer than what was told by that one counts.
TEST(ClusterPackets, OpenConnectionsOfARestartedBoxAreToldAgain) {
    Cluster cluster{
        "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n"
        "    limits: [{algorithm: concurrency, count: 60, idle: 1h, half_open: 1h}]\n",
        {.boxes = 3}};
    EXPECT_EQ(cluster.open(100, 1ms, 0), 60U);
    cluster.restart(0);
    cluster.wait(90s);
    EXPECT_LE(cluster.open(100, 1ms, 1), 3U) << "before it has heard";
    EXPECT_EQ(cluster.open(100, 1ms, 1), 0U);
}

// What is open stays open; of new ones each box has a third, or none.
TEST(ClusterPackets, OpenConnectionsWithoutAStoreGoByOwnerDown) {
    for (const OwnerDown down : {OwnerDown::LocalShare, OwnerDown::Closed, OwnerDown::LastKnown}) {
        Cluster cluster{kOpen, {.boxes = 3, .down = down}};
        const std::uint64_t here = cluster.open(300, 1ms, 0);
        EXPECT_EQ(here, 60U);
        EXPECT_LE(cluster.open(100, 1ms, 1), 3U) << "before it has heard";
        cluster.set_away(true);
        const std::uint64_t away = cluster.open(600, 1ms);
        const std::uint64_t share = down == OwnerDown::LocalShare ? 20U : 0U;
        EXPECT_LE(away, 2 * share + (down == OwnerDown::LastKnown ? 60U : 0U));
        EXPECT_GE(away, 2 * share - std::min<std::uint64_t>(2 * share, 3));
    }
}

TEST(ClusterPackets, BoxesThatAreCutOffShareTheLimit) {
    for (const std::size_t workers : {1U, 2U}) {
        Cluster cluster{kBucket, {.boxes = 4, .workers = workers}};
        cluster.set_away(true);
        const std::uint64_t passed = cluster.pass(6'000);
        EXPECT_GE(passed, 700U) << workers;
        EXPECT_LE(passed, 1'001U + 4 * cluster.limit().cluster.box_unsynced + cluster.promised())
            << workers;
        EXPECT_GT(cluster.events(LedgerEvent::LocalShare), 0U) << workers;
    }
}

// What each box has admitted as its share is added up at the store: the rest is there for the
// others, and no more than that.
TEST(ClusterPackets, WhatIsStillOwedIsAddedUpOnceTheStoreIsBack) {
    Cluster cluster{kBucket, {.boxes = 2}};
    cluster.set_away(true);
    const std::uint64_t passed = cluster.pass(3'000, 10us, 0);
    EXPECT_GE(passed, 499U);
    EXPECT_LE(passed, 502U) << "its half, what it had credit for among it";
    cluster.set_away(false);
    cluster.wait(1s);
    EXPECT_EQ(cluster.events(LedgerEvent::StoreDeclared), 0U) << "nothing is lost";
    const std::uint64_t later = cluster.pass(3'000, 10us, 1);
    const std::uint64_t paid_back = 11;
    EXPECT_GE(passed + later, 1'000U);
    EXPECT_LE(passed + later, 1'001U + paid_back + cluster.promised());
    // Nobody is refused for longer than a burst takes, and what went beyond it.
    cluster.wait(160s);
    EXPECT_GE(cluster.pass(900, 100us, 1), 890U);
}

TEST(ClusterPackets, TheOtherFatesOfACreditThatIsSpent) {
    Cluster closed{kBucket, {.boxes = 4, .down = OwnerDown::Closed}};
    closed.set_away(true);
    EXPECT_EQ(closed.pass(500, 10us, 0), closed.limit().cluster.box_unsynced);
    Cluster last{kBucket, {.boxes = 4, .down = OwnerDown::LastKnown}};
    last.set_away(true);
    EXPECT_EQ(last.pass(2'000, 10us, 0), 1'000U);
    Cluster open{kBucket, {.boxes = 4, .down = OwnerDown::Open}};
    open.set_away(true);
    EXPECT_EQ(open.pass(3'000, 10us, 0), 3'000U);
}

// The store is there: `owner_down` is not asked, or a flood of other keys could open a limit, or
// close it.
TEST(ClusterPackets, KeysBeyondTheBudgetGoByTheirShareWhateverOwnerDownSays) {
    for (const OwnerDown down :
         {OwnerDown::LocalShare, OwnerDown::LastKnown, OwnerDown::Open, OwnerDown::Closed}) {
        Cluster cluster{kBucket, {.boxes = 4, .down = down}};
        cluster.exhaust_budget();
        const std::uint64_t passed = cluster.pass(3'000, 10us, 0);
        EXPECT_GE(passed, 250U) << kOwnerDownNames[static_cast<std::size_t>(down)];
        EXPECT_LE(passed, 251U + cluster.limit().cluster.box_unsynced)
            << kOwnerDownNames[static_cast<std::size_t>(down)];
        EXPECT_GT(cluster.events(LedgerEvent::LocalShare), 0U);
    }
}

}  // namespace
}  // namespace sluice::cluster_packets_test

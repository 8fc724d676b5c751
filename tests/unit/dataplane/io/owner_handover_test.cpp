#include "lib/engine/worker/owner_handover.hpp"

#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/io/frame_note.hpp"
#include "dataplane/io/lane_rings.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "lib/engine/stage/stages.hpp"
#include "lib/rules/load/owner_rules.hpp"
#include "tests/unit/dataplane/ring_pair.hpp"

#include <gtest/gtest.h>

#include <memory>

// Three workers and a pair of ports with one queue each, all of whose frames come to worker 0 and
// leave by it. Rules group them by their destinations.
namespace sluice::owner_handover_test {
namespace {

constexpr std::size_t kWorkers = 3;
constexpr std::size_t kHostOctet = 14 + 19;

const test::RingPair& wires() {
    static const test::RingPair kPair{"owners", kHostOctet};
    return kPair;
}

std::uint8_t host_of(const Burst& burst, std::size_t row) {
    return static_cast<std::uint8_t>(burst.frame(row).bytes[kHostOctet]);
}

// Two rules that every packet matches: the first at owners, the second anywhere.
LoadedSet rules(OnFull on_full = OnFull::Closed) {
    LoadedSet set;
    set.rules.resize(2);
    for (LoadedRule& rule : set.rules) {
        rule.mode = Mode::Enforce;
        rule.on_full = on_full;
        rule.keys = {{KeyPart{.field = Field::IpDst}}};
    }
    set.rules[0].owner_group = 1;
    set.owner_groups = {{.parts = set.rules[0].keys[0]}};
    list_owner_rules(set, kWorkers);
    return set;
}

void match_all(Burst& burst, const LoadedSet& set) {
    Scratch& scratch = burst.scratch();
    scratch.rule_count = static_cast<std::uint32_t>(set.rules.size());
    for (std::uint32_t rule = 0; rule < set.rules.size(); ++rule) {
        scratch.rules[rule] = {.rule = rule, .rows = burst.live()};
    }
}

struct Me {
    Me()
        : core{.policy = {},
               .hash = KeyHasher{{1, 2}},
               .buckets = BucketStore{64, 64},
               .counters = counters} {}
    WorkerCounters counters;
    CoreState core;
    Burst burst;
    std::array<std::uint32_t, 256> seen{};
    std::uint64_t unowned = 0;  // judged without the rule at owners
};

class OwnerHandoverTest : public testing::Test {
protected:
    OwnerHandoverTest() {
        register_frame_notes();
        up.raise(true);
        const PairQueues pair[] = {{"lab", wires().outside(), wires().inside(), 1}};
        lanes = assign_lanes(pair, kWorkers);
        rings = connect_lanes(lanes);
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            workers.push_back(std::make_unique<Me>());
            owners.push_back(std::make_unique<OwnerHandover<DpdkIo>>(worker, kWorkers));
            LaneEnds& ends = rings.ends[worker][0];
            io.push_back(std::make_unique<DpdkIo>(
                lanes[worker][0], TxSides{side(worker, 0), side(worker, opposite_of(0))},
                wires().pool(), LaneWays{nullptr, ends.owned}));
        }
        std::vector<TxProxy::Client> clients;
        for (const BackRing& back : rings.backs) {
            if (lanes[back.sender][back.lane].dir == Direction::In) {
                clients.push_back({back.ring, &sent[back.from]});
            }
        }
        proxy = std::make_unique<TxProxy>(side(0, 0), clients);
    }
    ~OwnerHandoverTest() override { wires().expect_no_buffer_lost(); }
    [[nodiscard]] TxSide side(std::size_t worker, std::size_t lane) {
        const Lane& of = lanes[worker][lane];
        return {of.tx_port, of.tx_queue, up, tx_full, {}, rings.ends[worker][lane].back};
    }
    void judge(std::size_t worker) {
        Me& me = *workers[worker];
        const Scratch& scratch = me.burst.scratch();
        for_each_row(me.burst.live(), [&](std::size_t row) {
            me.seen[host_of(me.burst, row)]++;
            me.unowned +=
                !has_row(scratch.rules[0].rows, row) && has_row(scratch.rules[1].rows, row);
            me.burst.packets()[row].decision = {.verdict = Verdict::Pass,
                                                .reason = Reason::WithinLimits};
        });
        io[worker]->send(me.burst, set.actions, me.counters);
    }
    // A worker's round; how many frames it met.
    std::size_t round(std::size_t worker) {
        Me& me = *workers[worker];
        std::size_t came = 0;
        if (!lanes[worker][0].for_owner_only()) {
            came += io[worker]->receive(me.burst);
            parse_burst(me.burst, me.core);
            match_all(me.burst, set);
            owners[worker]->run(me.burst, set, me.core, io[worker]->owners());
            judge(worker);
        }
        came += io[worker]->receive_owned(me.burst, Reach::Headers);
        match_all(me.burst, set);
        judge(worker);
        return came + (worker == 0 ? proxy->send() : 0);
    }
    std::uint64_t counted(Reason reason) {
        std::uint64_t total = 0;
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            const auto at = static_cast<std::size_t>(reason);
            total +=
                workers[worker]->counters.by_reason[at].read() + sent[worker].by_reason[at].read();
        }
        return total;
    }
    void expect_whole_and_in_order(std::uint32_t frames) {
        std::uint32_t total = 0;
        for (const auto& [host, numbers] : wires().take()) {
            EXPECT_TRUE(std::ranges::is_sorted(numbers)) << int{host};
            total += static_cast<std::uint32_t>(numbers.size());
            int met = 0;
            for (const auto& me : workers) {
                met += me->seen[host] != 0 ? 1 : 0;
            }
            EXPECT_EQ(met, 1) << "host " << int{host} << " met several workers";
        }
        EXPECT_EQ(total, frames);
        EXPECT_EQ(counted(Reason::WithinLimits), frames);
        const std::uint64_t handed = workers[0]->counters.handed_over.read();
        EXPECT_GT(handed, frames / 2);
        EXPECT_LT(handed, frames * 5 / 6);
    }

    Signal up;
    Counter tx_full;
    LoadedSet set = rules();
    std::vector<std::vector<Lane>> lanes;
    LaneRings rings;
    std::vector<std::unique_ptr<Me>> workers;
    std::vector<std::unique_ptr<OwnerHandover<DpdkIo>>> owners;
    std::array<SentCounts, kWorkers> sent;
    std::vector<std::unique_ptr<DpdkIo>> io;
    std::unique_ptr<TxProxy> proxy;
};

TEST_F(OwnerHandoverTest, AKeyMeetsOneWorkerAndStaysInOrder) {
    constexpr std::uint32_t kFrames = 2'000;
    test::take_turns(wires(), kWorkers, kFrames, [&](std::size_t worker) { return round(worker); });
    expect_whole_and_in_order(kFrames);
}

TEST_F(OwnerHandoverTest, AcrossThreadsToo) {
    constexpr std::uint32_t kFrames = 2'000;
    test::run_threads<kWorkers>(wires(), kFrames,
                                [&](std::size_t worker) { return round(worker); });
    expect_whole_and_in_order(kFrames);
}

// An owner that stands still loses its own keys' frames only, and each is counted once.
TEST_F(OwnerHandoverTest, AFullRingDropsAndCounts) {
    test::fill_a_ring(
        wires(), kFrameRingSize, [&](std::size_t worker) { return round(worker); },
        [&](Reason reason) { return counted(reason); });
    for (const auto& me : workers) {
        EXPECT_EQ(me->unowned, 0U);
    }
}

// Where on_full is open they go on, under the other rules.
TEST_F(OwnerHandoverTest, OrLetsGoOnWhatIsOpen) {
    set = rules(OnFull::Open);
    constexpr std::uint32_t kFrames = 4'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        wires().put(static_cast<std::uint8_t>(number % 200), number);
    }
    while (round(0) != 0 || round(1) != 0) {
    }
    EXPECT_EQ(counted(Reason::RingFull), 0U);
    const std::uint64_t open =
        workers[0]->counters.by_table_event[static_cast<std::size_t>(TableEvent::OwnerOpen)].read();
    EXPECT_GT(open, 0U);
    EXPECT_EQ(workers[0]->unowned, open);
    while (round(2) != 0 || round(0) != 0) {
    }
    EXPECT_EQ(counted(Reason::WithinLimits), kFrames);
}

// What has come to its owner stays, whatever the owner's rules say of it.
TEST_F(OwnerHandoverTest, NothingIsHandedOverTwice) {
    for (std::uint32_t number = 0; number < 500; ++number) {
        wires().put(static_cast<std::uint8_t>(number % 200), number);
    }
    for (int i = 0; i < 100; ++i) {
        (void)round(static_cast<std::size_t>(i) % kWorkers);
    }
    EXPECT_EQ(workers[1]->counters.handed_over.read() + workers[2]->counters.handed_over.read(),
              0U);
    EXPECT_TRUE(io[1]->owners().empty());
    EXPECT_EQ(counted(Reason::WithinLimits), 500U);
}

}  // namespace
}  // namespace sluice::owner_handover_test

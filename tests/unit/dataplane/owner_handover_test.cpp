#include "dataplane/owner_handover.hpp"

#include "dataplane/dpdk_io.hpp"
#include "dataplane/lane_rings.hpp"
#include "dataplane/tx_desk.hpp"
#include "lib/load/owner_rules.hpp"
#include "lib/pipeline/stages.hpp"
#include "tests/packets/frame.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

// Three workers and a pair of ports with one queue each, all of whose frames come to worker 0 and
// leave by it. Rules group them by their destinations.
namespace sluice::owner_handover_test {
namespace {

constexpr std::size_t kWorkers = 3;
constexpr unsigned kWireSize = 4096;

struct Wires {
    rte_mempool* pool;
    rte_ring* outside_in;
    rte_ring* inside_out;
    std::uint16_t outside;
    std::uint16_t inside;
};

std::uint16_t port_of(const char* name, rte_ring* in, rte_ring* out, rte_mempool* pool) {
    const int port = rte_eth_from_rings(name, &in, 1, &out, 1, 0);
    rte_eth_conf conf{};
    const auto id = static_cast<std::uint16_t>(port);
    if (port < 0 || rte_eth_dev_configure(id, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(id, 0, 64, 0, nullptr, pool) != 0 ||
        rte_eth_tx_queue_setup(id, 0, 64, 0, nullptr) != 0 || rte_eth_dev_start(id) != 0) {
        throw std::runtime_error("no port");
    }
    return id;
}

const Wires& wires() {
    static const Wires kWires = [] {
        test::start_eal_once();
        const auto ring = [](const char* name) {
            return rte_ring_create(name, kWireSize, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
        };
        Wires made{};
        made.pool = rte_pktmbuf_pool_create("owners", 8191, 0, 0, 256, 0);
        made.outside_in = ring("owner-oi");
        made.inside_out = ring("owner-io");
        made.outside = port_of("owner-o", made.outside_in, ring("owner-oo"), made.pool);
        made.inside = port_of("owner-i", ring("owner-ii"), made.inside_out, made.pool);
        return made;
    }();
    return kWires;
}

// A UDP frame to a host, with a number in its payload.
void put(std::uint8_t host, std::uint32_t number) {
    test::Octets bytes = test::udp().payload(8).bytes();
    bytes[14 + 19] = static_cast<std::byte>(host);
    std::memcpy(bytes.data() + bytes.size() - 4, &number, 4);
    rte_mbuf* frame = rte_pktmbuf_alloc(wires().pool);
    ASSERT_NE(frame, nullptr);
    std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())), bytes.data(),
                bytes.size());
    ASSERT_EQ(rte_ring_enqueue(wires().outside_in, frame), 0);
}
std::uint8_t host_of(const Packet& packet) {
    return static_cast<std::uint8_t>(packet.frame.bytes[14 + 19]);
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
    std::uint32_t next = 0;
    for (std::size_t row = 0; row < burst.size(); ++row) {
        scratch.spans[row] = {next, static_cast<std::uint32_t>(set.rules.size())};
        for (std::uint32_t rule = 0; rule < set.rules.size(); ++rule) {
            scratch.matches[next++] = Match{.rule = rule, .packet = static_cast<std::uint8_t>(row)};
        }
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
        up.raise(true);
        const PairQueues pair[] = {{"lab", wires().outside, wires().inside, 1}};
        lanes = assign_lanes(pair, kWorkers);
        rings = connect_lanes(lanes);
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            workers.push_back(std::make_unique<Me>());
            owners.push_back(std::make_unique<OwnerHandover>(worker, kWorkers));
            LaneEnds& ends = rings.ends[worker][0];
            io.push_back(std::make_unique<DpdkIo>(lanes[worker][0], TxSide{up, tx_full, {}},
                                                  wires().pool,
                                                  LaneWays{nullptr, ends.owned, ends.back}));
        }
        std::vector<TxDesk::Client> clients;
        for (const BackRing& back : rings.backs) {
            if (lanes[back.sender][back.lane].dir == Direction::In) {
                clients.push_back({back.ring, &sent[back.from]});
            }
        }
        desk = std::make_unique<TxDesk>(lanes[0][0], TxSide{up, tx_full, {}}, clients);
    }
    ~OwnerHandoverTest() override {
        (void)take();
        EXPECT_EQ(rte_mempool_in_use_count(wires().pool), 0U) << "a buffer was lost";
    }
    void judge(std::size_t worker) {
        Me& me = *workers[worker];
        for (std::size_t row = 0; row < me.burst.size(); ++row) {
            Packet& packet = me.burst.packets()[row];
            me.seen[host_of(packet)]++;
            const MatchSpan& span = me.burst.scratch().spans[row];
            me.unowned += span.count == 1 && me.burst.scratch().matches[span.first].rule == 1;
            packet.decision = {.verdict = Verdict::Pass, .reason = Reason::WithinLimits};
        }
        io[worker]->send(me.burst, me.counters);
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
        return came + (worker == 0 ? desk->send() : 0);
    }
    std::map<std::uint8_t, std::vector<std::uint32_t>> take() {
        std::map<std::uint8_t, std::vector<std::uint32_t>> left;
        void* object = nullptr;
        while (rte_ring_dequeue(wires().inside_out, &object) == 0) {
            auto* frame = static_cast<rte_mbuf*>(object);
            const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
            std::uint32_t number = 0;
            std::memcpy(&number, bytes + frame->data_len - 4, 4);
            left[bytes[14 + 19]].push_back(number);
            rte_pktmbuf_free(frame);
        }
        return left;
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
        for (const auto& [host, numbers] : take()) {
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
    std::vector<std::unique_ptr<OwnerHandover>> owners;
    std::array<SentCounts, kWorkers> sent;
    std::vector<std::unique_ptr<DpdkIo>> io;
    std::unique_ptr<TxDesk> desk;
};

// The workers take turns as chance has it.
TEST_F(OwnerHandoverTest, AKeyMeetsOneWorkerAndStaysInOrder) {
    std::mt19937 random{3};
    constexpr std::uint32_t kFrames = 2'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(random() % 200), number);
        if (random() % 4 == 0) {
            (void)round(random() % kWorkers);
        }
    }
    for (int i = 0; i < 1'000; ++i) {
        (void)round(static_cast<std::size_t>(i) % kWorkers);
    }
    expect_whole_and_in_order(kFrames);
}

TEST_F(OwnerHandoverTest, AcrossThreadsToo) {
    constexpr std::uint32_t kFrames = 2'000;
    std::mt19937 random{4};
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(random() % 200), number);
    }
    std::array<std::thread, kWorkers> threads;
    Signal stop;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        threads[worker] = std::thread{[this, worker, &stop] {
            while (!stop.raised()) {
                if (round(worker) == 0) {
                    std::this_thread::yield();
                }
            }
        }};
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (rte_ring_count(wires().inside_out) < kFrames &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    stop.raise(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
    expect_whole_and_in_order(kFrames);
}

// An owner that stands still loses its own keys' frames only, and each is counted once.
TEST_F(OwnerHandoverTest, AFullRingDropsAndCounts) {
    constexpr std::uint32_t kFrames = 4'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(number % 200), number);
    }
    while (round(0) != 0 || round(1) != 0) {
    }
    const std::uint64_t lost = counted(Reason::RingFull);
    EXPECT_GT(lost, 0U);
    std::uint64_t left = 0;
    for (const auto& [host, numbers] : take()) {
        left += numbers.size();
    }
    EXPECT_EQ(left + lost + kFrameRingSize, kFrames) << "the rest waits for worker 2";
    while (round(2) != 0 || round(0) != 0) {
    }
    EXPECT_EQ(counted(Reason::WithinLimits), kFrames - lost);
    EXPECT_EQ(counted(Reason::RingFull), lost);
    for (const auto& me : workers) {
        EXPECT_EQ(me->unowned, 0U);
    }
}

// Where on_full is open they go on, under the other rules.
TEST_F(OwnerHandoverTest, OrLetsGoOnWhatIsOpen) {
    set = rules(OnFull::Open);
    constexpr std::uint32_t kFrames = 4'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(number % 200), number);
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
        put(static_cast<std::uint8_t>(number % 200), number);
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

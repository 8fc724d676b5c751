#include "tests/bench/shaping_loop.hpp"

#include "lib/engine/run_burst.hpp"
#include "tests/bench/compiled_set.hpp"
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

namespace sluice::bench {
namespace {

constexpr HashSecret kSecret{1, 2};
constexpr unsigned kRing = 1U << 21;
constexpr std::uint16_t kFrame = 60;
constexpr std::size_t kPlannedAt = 46;  // of the UDP payload's 18 bytes
constexpr std::size_t kSourceAt = 26;
// A cache line behind the usual headroom: a frame that has come through a port has no more.
constexpr std::uint16_t kDataRoom = RTE_PKTMBUF_HEADROOM + 64;
unsigned loops = 0;

template <typename T>
T* or_exit(T* made) {
    if (made == nullptr) {
        std::fprintf(stderr, "no memory for packet buffers\n");
        std::exit(1);
    }
    return made;
}

rte_ring* make_ring(const char* name) {
    return or_exit(rte_ring_create((name + std::to_string(loops)).c_str(), kRing, SOCKET_ID_ANY,
                                   RING_F_SP_ENQ | RING_F_SC_DEQ));
}

std::uint16_t make_port(rte_ring* in, rte_ring* out, rte_mempool* pool) {
    const std::string name = "shape" + std::to_string(loops++);
    const int made = rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0);
    const auto port = static_cast<std::uint16_t>(made);
    const rte_eth_conf conf{};
    if (made < 0 || rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(port, 0, 64, 0, nullptr, pool) != 0 ||
        rte_eth_tx_queue_setup(port, 0, 64, 0, nullptr) != 0 || rte_eth_dev_start(port) != 0) {
        std::fprintf(stderr, "no port\n");
        std::exit(1);
    }
    return port;
}

LoadedRules load_rules(const ShapingLoop::Load& load) {
    const std::string text =
        "version: 1\nrules:\n  - {id: even, mode: enforce, key: [ip.src], limits: [{algorithm: "
        "leaky_bucket, rate: " +
        std::to_string(load.rate_of_key) +
        "/s, queue: 1000}], on_exceed: {action: shape, max_delay: 30s}}\n";
    Result<LoadedRules> loaded =
        LoadedRules::make(compiled_set(text), {.secret = kSecret, .sharers = {}});
    if (!loaded) {
        std::fprintf(stderr, "%s\n", loaded.error().what.c_str());
        std::exit(1);
    }
    return *std::move(loaded);
}

Lane lane_of(std::uint16_t port) {
    Lane lane;
    lane.rx_port = port;
    lane.tx_port = port;
    return lane;
}

}  // namespace

ShapingLoop::ShapingLoop(const Load& load)
    : rules_{load_rules(load)},
      core_{.policy = {.tell_wait = false},
            .hash = KeyHasher{kSecret},
            .buckets = BucketStore{load.keys * std::size_t{5} / 4, 16},
            .counters = counters_},
      held_{load.packets},
      pool_{or_exit(rte_pktmbuf_pool_create(("shape" + std::to_string(loops)).c_str(),
                                            load.packets + 1024, 0, 0, kDataRoom, SOCKET_ID_ANY))},
      in_{make_ring("in")},
      out_{make_ring("out")},
      port_{make_port(in_, out_, pool_)},
      lane_{lane_of(port_)},
      io_{lane_, TxSides{{port_, 0, up_, full_, {}}, {port_, 0, up_, full_, {}}}, pool_} {
    up_.raise(true);
    core_.texts = rules_.texts(0);
    make_frames(load);
    hold_all(load);
}

ShapingLoop::~ShapingLoop() {
    (void)rte_eth_dev_stop(port_);
    (void)rte_eth_dev_close(port_);
    rte_ring_free(in_);
    rte_ring_free(out_);
    rte_mempool_free(pool_);
}

// Key by key, each pass in another order of buffers: what departs together does not lie together.
void ShapingLoop::make_frames(const Load& load) {
    std::vector<rte_mbuf*> frames(load.packets);
    if (rte_pktmbuf_alloc_bulk(pool_, frames.data(), load.packets) != 0) {
        std::fprintf(stderr, "no memory for packet buffers\n");
        std::exit(1);
    }
    std::shuffle(frames.begin(), frames.end(), std::mt19937_64{7});
    test::Octets bytes = test::udp().src("10.0.0.1").dport(53).bytes();
    bytes.resize(kFrame);
    for (std::uint32_t i = 0; i < load.packets; ++i) {
        auto* const at = reinterpret_cast<std::byte*>(rte_pktmbuf_append(frames[i], kFrame));
        std::memcpy(at, bytes.data(), bytes.size());
        const std::uint32_t source = __builtin_bswap32(0x0A00'0000U + i % load.keys);
        std::memcpy(at + kSourceAt, &source, sizeof(source));
    }
    (void)rte_ring_enqueue_bulk(out_, reinterpret_cast<void* const*>(frames.data()), load.packets,
                                nullptr);
}

// The first packets of all keys come as evenly as they will depart, and the clock stands still for
// the others.
void ShapingLoop::hold_all(const Load& load) {
    SteppedClock clock{now_};
    const double step = 1e9 / load.packets_per_second();
    for (std::uint32_t came = 0; came < load.packets; came += kMaxBurst) {
        clock.at = now_ + Nanoseconds{static_cast<std::int64_t>(
                              step * static_cast<double>(std::min(came, load.keys)))};
        feed(kMaxBurst);
        (void)poll(clock);
    }
    next_->clear();
    run_stages(clock.at);
    now_ = clock.at;
    errors_.clear();
}

void ShapingLoop::feed(std::size_t most) {
    std::array<void*, kMaxBurst> frames;
    while (most != 0) {
        const auto wanted = static_cast<unsigned>(std::min(most, kMaxBurst));
        const unsigned count = rte_ring_dequeue_burst(out_, frames.data(), wanted, nullptr);
        (void)rte_ring_enqueue_bulk(in_, frames.data(), count, nullptr);
        most = count < wanted ? 0 : most - count;
    }
}

// As Worker::advance().
void ShapingLoop::run_stages(Instant at) {
    const LoadedSet& rules = rules_.set();
    core_.hold_capacity = held_.room();
    run_overlapped(*next_, *current_, rules, core_, Now{at, {}});
    if (current_->size() != 0) {
        stamp(*current_, at);
        io_.send(*current_, rules.actions, counters_, {&held_, at, nullptr});
    }
    std::swap(next_, current_);
}

void ShapingLoop::stamp(Burst& burst, Instant at) noexcept {
    for (const Packet& packet : burst.packets()) {
        if (packet.decision.verdict == Verdict::Shape) {
            const Instant planned = at + packet.decision.wait;
            auto* const frame = static_cast<rte_mbuf*>(packet.buffer);
            std::memcpy(rte_pktmbuf_mtod_offset(frame, std::byte*, kPlannedAt), &planned,
                        sizeof(planned));
        }
    }
}

std::size_t ShapingLoop::take(Instant at, Stamps& planned) noexcept {
    std::array<HeldFrame<DpdkIo>, kMaxBurst> due;
    std::array<rte_mbuf*, kMaxBurst> frames;
    const std::size_t count = held_.take_due(at, due);
    for (std::size_t i = 0; i < count; ++i) {
        frames[i] = due[i].frame;
        std::memcpy(&planned[i], rte_pktmbuf_mtod_offset(frames[i], const std::byte*, kPlannedAt),
                    sizeof(planned[i]));
    }
    io_.depart(std::span{frames}.first(count), counters_);
    return count;
}

}  // namespace sluice::bench

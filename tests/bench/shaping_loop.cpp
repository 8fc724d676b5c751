#include "tests/bench/shaping_loop.hpp"

#include "lib/l7/stream/unit_budget.hpp"
#include "tests/bench/compiled_set.hpp"
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>

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

std::unique_ptr<const Running> running(const ShapingLoop::Load& load) {
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
    return std::make_unique<const Running>(
        Running{.state = Running::State::Enforce,
                .loaded = std::make_shared<const LoadedRules>(*std::move(loaded)),
                .traces = {}});
}

Lane lane_of(std::uint16_t port) {
    Lane lane;
    lane.rx_port = port;
    lane.tx_port = port;
    return lane;
}

}  // namespace

void StampingIo::send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
                      const SendContext<StampingIo>& context) noexcept {
    RowMask held = 0;
    for_each_row(burst.live(), [&](std::size_t row) {
        Packet& packet = burst.packets()[row];
        if (packet.decision.verdict != Verdict::Shape) {
            return;
        }
        auto* const frame = static_cast<rte_mbuf*>(packet.buffer);
        const Instant planned = context.now + packet.decision.wait;
        std::memcpy(rte_pktmbuf_mtod_offset(frame, std::byte*, kPlannedAt), &planned,
                    sizeof(planned));
        if (context.held->hold({frame, this}, context.now, planned)) {
            held |= row_bit(row);
        } else {
            packet.decision = dropped_for(Reason::HoldFull);
        }
    });
    burst.take_out(held);
    io_->send(burst, actions, counters, {nullptr, context.now, context.answering});
}

void StampingIo::depart(std::span<rte_mbuf*> frames, WorkerCounters& counters) noexcept {
    std::array<Instant, kMaxBurst> planned;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        std::memcpy(&planned[i], rte_pktmbuf_mtod_offset(frames[i], const std::byte*, kPlannedAt),
                    sizeof(planned[i]));
    }
    io_->depart(frames, counters);
    const Instant after = departures_->clock();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        departures_->errors.add(after - planned[i]);
    }
    departures_->departed += frames.size();
}

ShapingLoop::ShapingLoop(const Load& load)
    : running_{running(load)},
      pool_{or_exit(rte_pktmbuf_pool_create(("shape" + std::to_string(loops)).c_str(),
                                            load.packets + 1024, 0, 0, kDataRoom, SOCKET_ID_ANY))},
      in_{make_ring("in")},
      out_{make_ring("out")},
      port_{make_port(in_, out_, pool_)},
      lane_{lane_of(port_)},
      io_{lane_, TxSides{{port_, 0, up_, full_, {}}, {port_, 0, up_, full_, {}}}, pool_},
      worker_{roster_.enlist(),
              {.running = running_,
               .peers = peers_,
               .workers = 1,
               .units = capture_unit_budget(),
               .connections = {},
               .records = records_,
               .held_percent = 100,
               .answer_boards = boards_},
              {.policy = {.tell_wait = false},
               .hash = KeyHasher{kSecret},
               .buckets = BucketStore{load.keys * std::size_t{5} / 4, 16},
               .counters = counters_},
              lanes_for(load),
              ShapingHost{departures_}} {
    up_.raise(true);
    make_frames(load);
    hold_all(load);
}

WorkerLanes<StampingIo> ShapingLoop::lanes_for(const Load& load) {
    WorkerLanes<StampingIo> lanes;
    lanes.lanes.emplace_back(io_, departures_, load.packets);
    return lanes;
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
    now_ = clock.at;
    departures_.clock = [this] { return now_; };
    departures_.errors.clear();
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

}  // namespace sluice::bench

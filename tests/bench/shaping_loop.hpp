#pragma once
#include "dataplane/io/dpdk_io.hpp"
#include "lib/engine/worker.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "tests/bench/time_histogram.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

namespace sluice::bench {

// A clock that its owner sets.
struct SteppedClock {
    Instant at;
    [[nodiscard]] Instant now() const noexcept { return at; }
};

// Departures of a loop.
struct Departures {
    std::function<Instant()> clock;
    TimeHistogram errors;  // from planned departures to real ones
    std::size_t departed = 0;
};

// A lane of the box (PacketIo) that holds what is delayed itself, with its planned departure in the
// frame, so that it can be told how late each departs.
class StampingIo {
public:
    using Frame = rte_mbuf;
    using Ring = FrameRing;
    using Proxy = TxProxy;

    // Both outlive it. `buffers`: as many as it may hold.
    StampingIo(DpdkIo& io, Departures& departures, std::uint32_t buffers)
        : io_{&io}, departures_{&departures}, buffers_{buffers} {}

    std::size_t receive(Burst& burst, Reach reach) noexcept { return io_->receive(burst, reach); }
    // There is no other worker.
    std::size_t receive_owned(Burst& /*burst*/, Reach /*reach*/) noexcept { return 0; }
    void receive_held(Burst& burst, std::span<rte_mbuf* const> frames, Reach reach) noexcept {
        io_->receive_held(burst, frames, reach);
    }
    [[nodiscard]] std::span<FrameRing* const> owners() const noexcept { return {}; }

    void send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
              const SendContext<StampingIo>& context) noexcept;
    void depart(std::span<rte_mbuf*> frames, WorkerCounters& counters) noexcept;
    [[nodiscard]] std::uint32_t buffers() const noexcept { return buffers_; }

    [[nodiscard]] static std::uint32_t buffers_of(const rte_mbuf& frame) noexcept {
        return DpdkIo::buffers_of(frame);
    }
    static void note(rte_mbuf& frame, const Normalization& changes) noexcept {
        DpdkIo::note(frame, changes);
    }
    static void free(rte_mbuf& frame) noexcept { DpdkIo::free(frame); }

private:
    DpdkIo* io_;
    Departures* departures_;
    std::uint32_t buffers_;
};

// A host whose clock is whatever the loop reads.
class ShapingHost {
public:
    struct ReadTicks {
        std::uint64_t operator()() const noexcept { return 0; }
    };
    explicit ShapingHost(const Departures& departures) noexcept : departures_{&departures} {}

    [[nodiscard]] Now now() const noexcept { return {departures_->clock(), {}}; }
    void begin() const noexcept {}
    [[nodiscard]] bool stopped() const noexcept { return true; }
    void pass() const noexcept {}
    void rest(unsigned /*idle_turns*/) const noexcept {}
    void end() const noexcept {}

private:
    const Departures* departures_;
};

// The box's loop with a worker that holds packets until their departures, and a lane between two
// rings. What departs comes again, so that as many packets are held all the time, and as many for
// each key.
//
//   in_ --> receive --> judge --> hold (as each key's bucket says) --> depart --> out_
//    ^------------------ feed(), as fast as a wire carries -------------------------'
class ShapingLoop {
public:
    struct Load {
        std::uint32_t keys = 0;
        std::uint32_t packets = 0;      // a whole number for each key
        std::uint64_t rate_of_key = 0;  // packets a second
        // All keys together.
        [[nodiscard]] double packets_per_second() const noexcept {
            return static_cast<double>(keys) * static_cast<double>(rate_of_key);
        }
    };
    // Needs an initialised EAL. Every packet has been sent once, and all but the first of each key
    // are held; keys depart in turn. Ends the program if there is no memory.
    explicit ShapingLoop(const Load& load);
    ~ShapingLoop();
    ShapingLoop(const ShapingLoop&) = delete;
    ShapingLoop& operator=(const ShapingLoop&) = delete;

    // Packets that have departed come in again, so many at most.
    void feed(std::size_t most);
    // A turn: what has come in is judged, and what is due departs; how many departed. `clock` is
    // the worker's.
    template <typename Clock>
    std::size_t poll(Clock& clock) {
        departures_.clock = [&clock] { return clock.now(); };
        const std::size_t before = departures_.departed;
        (void)worker_.poll();
        return departures_.departed - before;
    }

    [[nodiscard]] Instant now() const noexcept { return now_; }
    [[nodiscard]] std::uint32_t held() const noexcept { return worker_.held().size(); }
    [[nodiscard]] std::uint64_t dropped() const noexcept {
        return counters_.by_verdict[static_cast<std::size_t>(Verdict::Drop)].read();
    }
    // From planned departures to real ones.
    [[nodiscard]] TimeHistogram& errors() noexcept { return departures_.errors; }

private:
    void make_frames(const Load& load);
    void hold_all(const Load& load);
    [[nodiscard]] WorkerLanes<StampingIo> lanes_for(const Load& load);

    Instant now_{std::chrono::hours{1}};
    Departures departures_{.clock = [this] { return now_; }, .errors = {}};
    WorkerCounters counters_;
    Published<Running> running_;
    PeerLanes peers_{1};
    AnswerBoards boards_{256, 4096};
    std::vector<Record> records_ = std::vector<Record>(16);
    rte_mempool* pool_;
    rte_ring* in_;
    rte_ring* out_;
    std::uint16_t port_;
    Lane lane_;
    Signal up_;
    Counter full_;
    DpdkIo io_;
    CoreRoster roster_;
    Worker<StampingIo, ShapingHost> worker_;
};

}  // namespace sluice::bench

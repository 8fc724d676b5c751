#pragma once
#include "dataplane/io/dpdk_io.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "tests/bench/time_histogram.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// The loop of a worker that holds packets until their departures, with a lane of its own between
// two rings. What departs comes again, so that as many packets are held all the time, and as many
// for each key.
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
    // What has come in is judged, and what is due departs; how many departed. `clock()` is read as
    // the dataplane's worker reads its own.
    template <typename Clock>
    std::size_t poll(Clock& clock) {
        const std::size_t came = io_.receive(*next_);
        if (came != 0 || current_->size() != 0) {
            run_stages(clock.now());
        }
        return send_due(clock);
    }

    [[nodiscard]] Instant now() const noexcept { return now_; }
    [[nodiscard]] std::uint32_t held() const noexcept { return held_.size(); }
    [[nodiscard]] std::uint64_t dropped() const noexcept {
        return counters_.by_verdict[static_cast<std::size_t>(Verdict::Drop)].read();
    }
    // From planned departures to real ones.
    [[nodiscard]] TimeHistogram& errors() noexcept { return errors_; }

private:
    using Stamps = std::array<Instant, kMaxBurst>;

    void make_frames(const Load& load);
    void hold_all(const Load& load);
    void run_stages(Instant at);
    // A burst's departures, into the frames themselves.
    static void stamp(Burst& burst, Instant at) noexcept;
    std::size_t take(Instant at, Stamps& planned) noexcept;

    // As Worker::let_depart().
    template <typename Clock>
    std::size_t send_due(Clock& clock) {
        const Instant at = clock.now();
        std::size_t departed = 0;
        std::size_t count = kMaxBurst;
        for (unsigned bursts = 2; bursts != 0 && count == kMaxBurst; --bursts) {
            Stamps planned;
            count = take(at, planned);
            const Instant after = clock.now();
            for (std::size_t i = 0; i < count; ++i) {
                errors_.add(after - planned[i]);
            }
            departed += count;
        }
        return departed;
    }

    LoadedRules rules_;
    WorkerCounters counters_;
    CoreState core_;
    HeldFrames<DpdkIo> held_;
    rte_mempool* pool_;
    rte_ring* in_;
    rte_ring* out_;
    std::uint16_t port_;
    Lane lane_;
    Signal up_;
    Counter full_;
    DpdkIo io_;
    std::unique_ptr<Burst> next_ = std::make_unique<Burst>();
    std::unique_ptr<Burst> current_ = std::make_unique<Burst>();
    Instant now_{std::chrono::hours{1}};
    TimeHistogram errors_;
};

}  // namespace sluice::bench

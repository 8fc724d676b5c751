#pragma once
#include "lib/engine/worker.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/share/core.hpp"
#include "tests/bench/mill_io.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <rte_cycles.h>

namespace sluice::bench {

// The thread of a bench, turn by turn, with a clock that goes on by a microsecond a round.
class TurnHost {
public:
    struct ReadTicks {
        std::uint64_t operator()() const noexcept { return rte_rdtsc(); }
    };
    [[nodiscard]] Now now() noexcept {
        now_.at += std::chrono::microseconds{1};
        return now_;
    }
    void begin() const noexcept {}
    [[nodiscard]] bool stopped() const noexcept { return false; }
    void pass() const noexcept {}
    void rest(unsigned /*idle_turns*/) const noexcept {}
    void end() const noexcept {}

private:
    Now now_{Instant{std::chrono::hours{1}}, {}};
};

// The box's own loop (Worker) over a mill, in the caller's thread, with a table and a pool of the
// sizes that a box has.
class MillWorker {
public:
    // The mill outlives it.
    MillWorker(PacketMill& mill, LoadedRules rules, std::size_t keys, std::size_t pool_lines)
        : running_{enforced(std::move(rules))},
          worker_{roster_.enlist(),
                  {running_, peers_, 1, capture_unit_budget(), {}, records_, 0, boards_},
                  {.policy = {.tell_wait = false},
                   .hash = KeyHasher{{1, 2}},
                   .buckets = BucketStore{keys, pool_lines},
                   .counters = counters_},
                  lanes_of(mill),
                  TurnHost{}} {}

    // Whole turns, until so many packets have left.
    void run(std::uint64_t packets) noexcept {
        const std::uint64_t last = left_ + packets;
        while (left_ < last) {
            (void)worker_.poll();
        }
    }

private:
    struct Count {
        std::uint64_t* left;
        void operator()(const Burst& burst, std::span<const Action> /*actions*/) const noexcept {
            *left += burst.size();
        }
    };
    using Lane = MillIo<Count>;

    [[nodiscard]] static std::unique_ptr<const Running> enforced(LoadedRules rules) {
        auto running = std::make_unique<Running>();
        running->state = Running::State::Enforce;
        running->loaded = std::make_shared<const LoadedRules>(std::move(rules));
        return running;
    }
    [[nodiscard]] WorkerLanes<Lane> lanes_of(PacketMill& mill) {
        WorkerLanes<Lane> lanes;
        lanes.lanes.emplace_back(mill, Count{&left_});
        return lanes;
    }

    std::uint64_t left_ = 0;
    Published<Running> running_;
    WorkerCounters counters_;
    PeerLanes peers_{1};
    AnswerBoards boards_{256, 4096};
    std::vector<Record> records_ = std::vector<Record>(16);
    CoreRoster roster_;
    Worker<Lane, TurnHost> worker_;
};

}  // namespace sluice::bench

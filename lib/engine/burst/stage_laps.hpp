#pragma once
#include "lib/engine/burst/counters.hpp"
#include "lib/rules/stage.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sluice {

// Told of each stage of a burst as it ends; this one is told in vain, and costs nothing.
struct NoLaps {
    void lap(Stage) const noexcept {}
    void met(std::size_t) const noexcept {}
};
inline constexpr NoLaps kNoLaps;

// The time of one worker by stage: of one turn in kTurnsPerSample, what passes from lap to lap is
// counted for the stage that has ended. Every turn is as likely to be measured as any other,
// however long it is, so the shares of the stages are those of all of the worker's time. What reads
// the clock is the caller's; a turn that is not measured asks it nothing.
template <typename ReadTicks>
class StageLaps {
public:
    // Longer than a stage of any burst takes: meanwhile somebody else had the processor.
    static constexpr std::uint64_t kLongestLap = std::uint64_t{1} << 21;

    StageLaps(StageCounters& counters, ReadTicks read) noexcept
        : counters_{counters}, read_{std::move(read)} {}

    [[nodiscard]] bool on() const noexcept { return on_; }

    void begin_turn() noexcept {
        if (++turn_ % kTurnsPerSample == 0) [[unlikely]] {
            measure_turn();
        }
    }
    // Measures this one, whichever it is.
    void measure_turn() noexcept {
        on_ = true;
        ticks_ = {};
        packets_ = 0;
        last_ = read_();
    }
    // A turn in which nothing was there to do has been idle as a whole.
    void end_turn(bool idle) noexcept {
        if (on_) [[unlikely]] {
            lap(Stage::Other);
            on_ = false;
            count(idle);
        }
    }

    void lap(Stage stage) noexcept {
        const std::uint64_t now = read_();
        const bool away = now - last_ > kLongestLap && stage != Stage::Idle;
        ticks_[static_cast<std::size_t>(away ? Stage::Other : stage)] += now - last_;
        last_ = now;
    }
    void lap_if_on(Stage stage) noexcept {
        if (on_) [[unlikely]] {
            lap(stage);
        }
    }
    // So many packets go through the stages.
    void met(std::size_t packets) noexcept { packets_ += packets; }

private:
    void count(bool idle) noexcept {
        if (idle) {
            counters_.ticks_of(Stage::Idle)
                .add(std::accumulate(ticks_.begin(), ticks_.end(), std::uint64_t{0}));
        } else {
            for (std::size_t i = 0; i < kStageCount; ++i) {
                counters_.ticks[i].add(ticks_[i]);
            }
        }
        counters_.packets.add(packets_);
        counters_.turns.add(1);
    }

    StageCounters& counters_;
    ReadTicks read_;
    std::uint32_t turn_ = 0;
    bool on_ = false;
    std::uint64_t last_ = 0;
    std::array<std::uint64_t, kStageCount> ticks_{};
    std::uint64_t packets_ = 0;
};

}  // namespace sluice

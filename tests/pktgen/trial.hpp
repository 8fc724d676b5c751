#pragma once
#include "tests/pktgen/arrival_order.hpp"
#include "tests/pktgen/delay_histogram.hpp"
#include "tests/pktgen/search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice::pktgen {

// What was sent, and what arrived, while one rate was sent.
struct Trial {
    double asked = 0;  // frames a second; 0: as fast as the port takes them
    double seconds = 0;
    std::uint64_t sent = 0;       // taken by the port; where a frame has one chance, offered to it
    std::uint64_t sent_bits = 0;  // of these frames, on the wire
    std::uint64_t received = 0;   // at the receiving port; with probes, those that carry one
    std::uint64_t foreign =
        0;  // without a probe, where all of ours have one, or of an earlier trial
    std::uint64_t returned = 0;  // at the sending port, where it is another
    std::uint64_t refused = 0;   // bursts that the port did not take whole
    std::uint64_t dropped = 0;   // of those sent, frames that the port had no room for
    std::uint64_t skipped = 0;   // frames that a pause put off for good
    std::uint64_t no_buffer = 0;
    std::uint64_t met_pauses = 0;  // frames under way in a pause, whose delays are left out
    double longest_pause = 0;      // seconds between two looks at the ports
    bool is_back = false;          // of the second port's frames to the first
    bool is_probed = false;
    bool interrupted = false;
    DelayHistogram delays;
    ArrivalOrder order;

    // A burst was offered, of which the port took the first frames. Those left over are sent and
    // lost where each has one chance; else they are offered again, and counted once taken.
    void count_burst(std::span<const std::uint64_t> bits, std::size_t taken,
                     bool has_one_chance) noexcept {
        const std::size_t counted = has_one_chance ? bits.size() : taken;
        sent += counted;
        for (const std::uint64_t of_frame : bits.first(counted)) {
            sent_bits += of_frame;
        }
        dropped += counted - taken;
        refused += taken < bits.size() ? 1 : 0;
    }
    [[nodiscard]] std::uint64_t arrived() const noexcept {
        return is_probed ? order.unique() : received;
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return sent - std::min(sent, arrived()); }
    [[nodiscard]] double sent_rate() const noexcept {
        return seconds > 0 ? static_cast<double>(sent) / seconds : 0;
    }
    [[nodiscard]] double received_rate() const noexcept {
        return seconds > 0 ? static_cast<double>(arrived()) / seconds : 0;
    }
    [[nodiscard]] TrialOutcome outcome() const noexcept {
        return {.asked = asked,
                .attained = sent_rate(),
                .sent = sent,
                .received = arrived(),
                .foreign = foreign,
                .refused = refused,
                .longest_pause = longest_pause};
    }
};

// Of both directions at the same time; `back` only where frames were sent that way too.
struct Trials {
    std::unique_ptr<Trial> there;
    std::unique_ptr<Trial> back;

    [[nodiscard]] TrialOutcome outcome() const noexcept {
        TrialOutcome outcome = there->outcome();
        if (back) {
            outcome.back = OneWay{back->sent_rate(), back->sent, back->arrived()};
            outcome.foreign += back->foreign;
            outcome.refused += back->refused;
        }
        return outcome;
    }
};

}  // namespace sluice::pktgen

#pragma once
#include "lib/base/units.hpp"
#include "lib/l7/quic/initial_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

// All that one worker may spend on hellos over QUIC. Memory is taken once, in full.
struct QuicBudget {
    std::size_t connections = std::size_t{1} << 15;  // lines of 64 bytes; two for a judged hello
    std::size_t half_hellos = 512;                   // of them, those that hold bytes
    std::size_t half_hellos_per_source = 32;
    std::size_t hello_bytes = 8192;  // room for each half hello
    Nanoseconds half_hello_timeout = std::chrono::seconds{10};
    Nanoseconds idle_timeout = std::chrono::seconds{60};
    unsigned percent = 20;  // of the worker's time, for decrypting
};

// The time that one Initial is charged: 2.7 us on a core of 2.5 GHz (scripts/bench hello, QUIC),
// and half as much again for its place in the table. A constant, so that no clock is read for a
// packet and one capture is always judged alike.
inline constexpr Nanoseconds kInitialCost{4'000};

// A share of the worker's time, for decrypting Initials: refilled as time goes by, spent by the
// Initial, and never more than what kMostSaved brings, so that no silence lets a flood stop the
// worker for longer than that share of it.
class OpeningTime {
public:
    static constexpr Nanoseconds kMostSaved = std::chrono::milliseconds{20};

    explicit OpeningTime(unsigned percent) noexcept
        : percent_{std::min(percent, 100U)}, left_{share_of(kMostSaved)} {}

    // The budget at this instant, which never decreases; give_back() follows.
    [[nodiscard]] InitialBudget lend(Instant now) noexcept {
        const Nanoseconds passed = std::clamp(now - before_, Nanoseconds{0}, kMostSaved);
        before_ = std::max(before_, now);
        left_ = std::min(left_ + share_of(passed), share_of(kMostSaved));
        lent_ = static_cast<std::uint32_t>(left_ / kInitialCost);
        return InitialBudget{lent_};
    }
    void give_back(const InitialBudget& budget) noexcept {
        left_ -= (lent_ - budget.left()) * kInitialCost;
    }

private:
    [[nodiscard]] Nanoseconds share_of(Nanoseconds time) const noexcept {
        return time * percent_ / 100;
    }

    unsigned percent_;
    Nanoseconds left_;
    Instant before_{};
    std::uint32_t lent_ = 0;
};

}  // namespace sluice

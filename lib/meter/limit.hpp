#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// A rate as people write it: `units` per `period`.
struct Rate {
    Units units;
    Nanoseconds period{};
};

// The numbers of a token bucket, checked and reduced, shared by every bucket of a limit. make() is
// the only door, so whoever holds a Limit need not check it again.
//
// The time per unit is T = period / parts ns, both integers without a common divisor, so instants
// are exact as whole ns and a remainder in 1/parts ns.
// Invariant: 0 < parts < 2^24, 0 < period, burst * period < 2^63, burst * T <= 2^56 ns (833 days).
class Limit {
public:
    // Errors (OutOfRange) name the nearest numbers that fit.
    [[nodiscard]] static Result<Limit> make(Rate rate, Units burst);

    [[nodiscard]] std::uint64_t period() const noexcept { return period_; }
    [[nodiscard]] std::uint32_t parts() const noexcept { return parts_; }
    [[nodiscard]] std::uint64_t burst() const noexcept { return burst_; }
    // burst * T in 1/parts ns: the longest debt a bucket can have.
    [[nodiscard]] std::uint64_t full() const noexcept { return burst_ * period_; }

    [[nodiscard]] bool operator==(const Limit&) const noexcept = default;

private:
    Limit(std::uint64_t period, std::uint32_t parts, std::uint64_t burst) noexcept
        : period_{period}, burst_{burst}, parts_{parts} {}

    std::uint64_t period_;
    std::uint64_t burst_;
    std::uint32_t parts_;
};

}  // namespace sluice

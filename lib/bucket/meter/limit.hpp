#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"

#include <cstdint>

namespace sluice {

// A rate as people write it: `units` per `period`.
struct Rate {
    Units units;
    Nanoseconds period{};
};

// A length of time: `whole` ns and `rest` parts of a ns.
struct Lapse {
    std::uint64_t whole = 0;
    std::uint32_t rest = 0;
};

// A table's entry holds 24 bits of a remainder.
inline constexpr std::uint32_t kMostParts = (std::uint32_t{1} << 24) - 1;

// The least burst that make() takes. A colour meter may have one empty bucket.
enum class LeastBurst : std::uint8_t { Zero, One };

// The numbers of a token bucket, checked and reduced, shared by every bucket of a limit. make() is
// the only door, so whoever holds a Limit need not check it again.
//
// The time per unit is T = period / parts ns, both integers without a common divisor, so instants
// are exact as whole ns and a remainder in 1/parts ns.
// Invariant: 0 < parts < 2^24, 0 < period, burst * period < 2^63, burst * T <= 2^56 ns (833 days).
class Limit {
public:
    // Errors (OutOfRange) name the nearest numbers that fit.
    [[nodiscard]] static Result<Limit> make(Rate rate, Units burst,
                                            LeastBurst least = LeastBurst::One);

    [[nodiscard]] std::uint64_t period() const noexcept { return period_; }
    [[nodiscard]] std::uint32_t parts() const noexcept { return parts_; }
    [[nodiscard]] std::uint64_t burst() const noexcept { return burst_; }
    // burst * T in 1/parts ns: the longest debt that charges bring about.
    [[nodiscard]] std::uint64_t full() const noexcept { return full_; }
    // The debt of the largest burst that this rate may have, in 1/parts ns: a bucket whose numbers
    // were lowered owes up to so much. 2^56 ns, or below 2^63 parts of one.
    [[nodiscard]] std::uint64_t longest_debt() const noexcept {
        constexpr unsigned kLongest = 56;  // bits, of ns
        constexpr std::uint64_t kMost = (std::uint64_t{1} << 63) - 1;
        return parts_ < (1U << (63 - kLongest)) ? std::uint64_t{parts_} << kLongest : kMost;
    }

    // cost * T, for a cost of at most the burst. Up to kSmallCost without a division: whoever
    // meters packets asks for 1 or for the bytes of one.
    [[nodiscard]] Lapse time_of(Units cost) const noexcept {
        if (cost.count() == 1) {
            return {whole_per_unit_, rest_per_unit_};
        }
        if (cost.count() > kSmallCost) [[unlikely]] {
            const std::uint64_t total = cost.count() * period_;
            return {total / parts_, static_cast<std::uint32_t>(total % parts_)};
        }
        const std::uint64_t rests = cost.count() * rest_per_unit_;  // < 2^40
        const auto carry =
            static_cast<std::uint64_t>((static_cast<Wide>(rests) * inverse_of_parts_) >> 64U);
        return {cost.count() * whole_per_unit_ + carry,
                static_cast<std::uint32_t>(rests - carry * parts_)};
    }

    [[nodiscard]] bool operator==(const Limit&) const noexcept = default;

private:
    static constexpr std::uint64_t kSmallCost = 65'535;

    Limit(std::uint64_t period, std::uint32_t parts, std::uint64_t burst) noexcept;

    std::uint64_t period_;
    std::uint64_t burst_;
    std::uint64_t full_;
    std::uint64_t whole_per_unit_;    // T = whole_per_unit + rest_per_unit / parts
    std::uint64_t inverse_of_parts_;  // 2^64 / parts, rounded up: a product's upper half divides
    std::uint32_t rest_per_unit_;
    std::uint32_t parts_;
};

}  // namespace sluice

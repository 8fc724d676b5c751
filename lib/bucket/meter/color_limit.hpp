#pragma once
#include "lib/base/result.hpp"
#include "lib/bucket/meter/limit.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {

// The verdict of a colour meter on a packet; the other algorithms say Green or Red.
enum class Color : std::uint8_t { Green, Yellow, Red };

enum class ColorVariant : std::uint8_t { Rfc2697, Rfc2698, Rfc4115 };

// Blind: every packet counts as green when it comes. Aware: its colour is read from its DSCP.
enum class ColorMode : std::uint8_t { Blind, Aware };

// The numbers of a colour meter, checked. Invariant: as Limit's, for both buckets.
//
//   RFC 2697  first = CIR, CBS   second = CIR, EBS
//   RFC 2698  first = CIR, CBS   second = PIR, PBS   (PIR >= CIR)
//   RFC 4115  first = CIR, CBS   second = EIR, EBS
//
// RFC 2697 and 4115 allow one empty bucket (CBS or EBS 0; made with LeastBurst::Zero). A CIR or EIR
// of 0 is said by its bucket being empty.
class ColorLimit {
public:
    // Errors (OutOfRange) name what does not fit and the nearest that does.
    [[nodiscard]] static Result<ColorLimit> make(ColorVariant variant, ColorMode mode,
                                                 const Limit& first, const Limit& second);

    [[nodiscard]] ColorVariant variant() const noexcept { return variant_; }
    [[nodiscard]] ColorMode mode() const noexcept { return mode_; }
    [[nodiscard]] const Limit& first() const noexcept { return first_; }
    [[nodiscard]] const Limit& second() const noexcept { return second_; }
    // The largest cost that fresh buckets do not find red. Yellow comes out of a peak bucket too.
    [[nodiscard]] Units most() const noexcept {
        const std::uint64_t second = second_.burst();
        return Units{variant_ == ColorVariant::Rfc2698 ? second : std::max(first_.burst(), second)};
    }

    [[nodiscard]] bool operator==(const ColorLimit&) const noexcept = default;

private:
    ColorLimit(ColorVariant variant, ColorMode mode, const Limit& first,
               const Limit& second) noexcept
        : first_{first}, second_{second}, variant_{variant}, mode_{mode} {}

    Limit first_;
    Limit second_;
    ColorVariant variant_;
    ColorMode mode_;
};

}  // namespace sluice

#include "lib/bucket/meter/color_limit.hpp"

#include "lib/base/wide.hpp"

#include <string>

namespace sluice {
namespace {

bool same_rate(const Limit& a, const Limit& b) noexcept {
    return a.period() == b.period() && a.parts() == b.parts();
}

bool slower(const Limit& a, const Limit& b) noexcept {
    return static_cast<Wide>(a.parts()) * b.period() < static_cast<Wide>(b.parts()) * a.period();
}

// RFC 2697: the second bucket fills after the first, so the longest debt is that of both.
std::optional<Error> fault_of_one_rate(const Limit& first, const Limit& second) {
    if (!same_rate(first, second)) {
        return Error{Errc::OutOfRange, "both buckets of RFC 2697 fill at the one rate, the CIR"};
    }
    if (first.burst() == 0 && second.burst() == 0) {
        return Error{Errc::OutOfRange, "the CBS or the EBS must be at least 1"};
    }
    const Rate rate{Units{first.parts()}, Nanoseconds{static_cast<std::int64_t>(first.period())}};
    const Result<Limit> both = Limit::make(rate, Units{first.burst() + second.burst()});
    if (!both) {
        return Error{Errc::OutOfRange, "the CBS and the EBS together: " + both.error().what};
    }
    return std::nullopt;
}

std::optional<Error> fault_of_two_rates(ColorVariant variant, const Limit& first,
                                        const Limit& second) {
    if (variant == ColorVariant::Rfc4115) {
        if (first.burst() == 0 && second.burst() == 0) {
            return Error{Errc::OutOfRange, "the CBS or the EBS must be at least 1"};
        }
        return std::nullopt;
    }
    if (first.burst() == 0 || second.burst() == 0) {
        return Error{Errc::OutOfRange, "the CBS and the PBS must be at least 1"};
    }
    if (slower(second, first)) {
        return Error{Errc::OutOfRange,
                     "the PIR must not be below the CIR; the nearest that fits is the CIR"};
    }
    return std::nullopt;
}

}  // namespace

Result<ColorLimit> ColorLimit::make(ColorVariant variant, ColorMode mode, const Limit& first,
                                    const Limit& second) {
    std::optional<Error> fault = variant == ColorVariant::Rfc2697
                                     ? fault_of_one_rate(first, second)
                                     : fault_of_two_rates(variant, first, second);
    if (fault) {
        return *std::move(fault);
    }
    return ColorLimit{variant, mode, first, second};
}

}  // namespace sluice

#include "lib/meter/limit.hpp"

#include "lib/base/wide.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sluice {
namespace {

constexpr std::uint64_t kMaxParts = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxDebt = std::uint64_t{1} << 62;  // ns, and 1/parts ns below

// The largest burst whose debt can be held: burst * period < 2^63 and burst * T <= 2^62 ns.
std::uint64_t largest_burst(std::uint64_t period, std::uint64_t parts) noexcept {
    const std::uint64_t by_product = ((kMaxDebt << 1) - 1) / period;
    const auto by_time = static_cast<Wide>(kMaxDebt) * parts / period;
    return static_cast<std::uint64_t>(std::min<Wide>(by_product, by_time));
}

// A rate of more than 2^32 parts fits once it is rounded to a multiple of this many units.
std::uint64_t unit_step(std::uint64_t units, std::uint64_t period) noexcept {
    const std::uint64_t needed = units / kMaxParts + 1;
    std::uint64_t step = 1;
    // Periods are powers of ten and of 60 and 24 times a power of ten: ten divides them.
    while (step < needed && period % (step * 10) == 0) {
        step *= 10;
    }
    return step;
}

Error no_such_rate(std::uint64_t units, std::uint64_t period) {
    const std::uint64_t step = unit_step(units, period);
    const std::uint64_t below = units / step * step;
    return {Errc::OutOfRange,
            "the rate is too fine to be exact; nearest that fit: " + std::to_string(below) +
                " and " + std::to_string(below + step) + " units per the same time"};
}

}  // namespace

Result<Limit> Limit::make(Rate rate, Units burst) {
    if (rate.units.count() == 0 || rate.period.count() <= 0) {
        return Error{Errc::OutOfRange, "the rate must be above zero; the least is 1/d"};
    }
    const auto nanoseconds = static_cast<std::uint64_t>(rate.period.count());
    const std::uint64_t divisor = std::gcd(rate.units.count(), nanoseconds);
    const std::uint64_t parts = rate.units.count() / divisor;
    const std::uint64_t period = nanoseconds / divisor;
    if (parts > kMaxParts) {
        return no_such_rate(rate.units.count(), nanoseconds);
    }
    const std::uint64_t most = largest_burst(period, parts);
    if (burst.count() == 0) {
        return Error{Errc::OutOfRange, "the burst must be at least 1"};
    }
    if (burst.count() > most) {
        return Error{Errc::OutOfRange,
                     "the burst is too large for this rate; the largest that fits is " +
                         std::to_string(most)};
    }
    return Limit{period, static_cast<std::uint32_t>(parts), burst.count()};
}

}  // namespace sluice

#include "lib/bucket/meter/limit.hpp"

#include "lib/base/wide.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sluice {
namespace {

constexpr std::uint64_t kMaxUnitsPerNanosecond = 1000;
constexpr auto kMaxDebt = static_cast<std::uint64_t>(kLongestDebt.count());
constexpr std::uint64_t kMaxProduct = (std::uint64_t{1} << 63) - 1;  // 1/parts ns

// The largest burst whose debt can be held: burst * period < 2^63 and burst * T <= 2^56 ns.
std::uint64_t largest_burst(std::uint64_t period, std::uint64_t parts) noexcept {
    const std::uint64_t by_product = kMaxProduct / period;
    const auto by_time = static_cast<Wide>(kMaxDebt) * parts / period;
    return static_cast<std::uint64_t>(std::min<Wide>(by_product, by_time));
}

// The rates that fit next to one that does not. A rate of `units` fits if it shares a divisor of at
// least units / 2^24 with the period, so the candidates are multiples of the period's divisors.
struct Neighbours {
    std::uint64_t below = 0;
    std::uint64_t above = std::numeric_limits<std::uint64_t>::max();

    void try_divisor(std::uint64_t divisor, std::uint64_t units) noexcept {
        const std::uint64_t multiple = units / divisor;
        if (multiple <= kMostParts) {
            below = std::max(below, multiple * divisor);
        }
        if (multiple + 1 <= kMostParts) {
            above = std::min(above, (multiple + 1) * divisor);
        }
    }
};

Error no_such_rate(std::uint64_t units, std::uint64_t period) {
    Neighbours fits;
    for (std::uint64_t i = 1; i * i <= period; ++i) {
        if (period % i == 0) {
            fits.try_divisor(i, units);
            fits.try_divisor(period / i, units);
        }
    }
    return {Errc::OutOfRange, "the rate is too fine to be exact; the nearest that fit are " +
                                  std::to_string(fits.below) + " and " +
                                  std::to_string(fits.above) + " units in the same time"};
}

}  // namespace

// inverse * parts - 2^64 is at most parts, so for x < 2^64 / parts the upper half of x * inverse is
// x / parts exactly (Granlund, Montgomery 1994). With one part there is no rest to divide.
Limit::Limit(std::uint64_t period, std::uint32_t parts, std::uint64_t burst) noexcept
    : period_{period},
      burst_{burst},
      full_{burst * period},
      whole_per_unit_{period / parts},
      inverse_of_parts_{parts == 1 ? 0 : std::numeric_limits<std::uint64_t>::max() / parts + 1},
      rest_per_unit_{static_cast<std::uint32_t>(period % parts)},
      parts_{parts} {}

Result<Limit> Limit::make(Rate rate, Units burst, LeastBurst least) {
    if (rate.units.count() == 0 || rate.period.count() <= 0) {
        return Error{Errc::OutOfRange, "the rate must be above zero; the least is 1/d"};
    }
    const auto nanoseconds = static_cast<std::uint64_t>(rate.period.count());
    if (rate.units.count() / nanoseconds >= kMaxUnitsPerNanosecond) {
        return Error{Errc::OutOfRange, "the rate is above the largest, 10^12 units per second"};
    }
    const std::uint64_t divisor = std::gcd(rate.units.count(), nanoseconds);
    const std::uint64_t parts = rate.units.count() / divisor;
    const std::uint64_t period = nanoseconds / divisor;
    if (parts > kMostParts) {
        return no_such_rate(rate.units.count(), nanoseconds);
    }
    const std::uint64_t most = largest_burst(period, parts);
    if (burst.count() == 0 && least == LeastBurst::One) {
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

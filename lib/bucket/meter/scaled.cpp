#include "lib/bucket/meter/any_meter.hpp"

#include <limits>
#include <numeric>
#include <string>

namespace sluice {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

Error too_large(std::string_view what, std::uint64_t most) {
    return {Errc::OutOfRange, std::string{what} + " times this factor is too large; the largest " +
                                  "factor that fits is " + std::to_string(most)};
}

Result<Limit> scaled_gcra(const Limit& limit, std::uint64_t factor) {
    const std::uint64_t most = kMost / std::max<std::uint64_t>(limit.parts(), limit.burst());
    if (factor > most) {
        return too_large("the rate or burst", most);
    }
    // Known before make() would look for neighbours to name: factors come from machines too.
    const std::uint64_t parts = limit.parts() * factor;
    if (parts / std::gcd(parts, limit.period()) > kMostParts) {
        return Error{Errc::OutOfRange, "the rate times this factor is too fine to be exact"};
    }
    return Limit::make(
        {.units = Units{parts}, .period = Nanoseconds{static_cast<std::int64_t>(limit.period())}},
        Units{limit.burst() * factor}, LeastBurst::Zero);
}

Result<AnyLimit> times(const ColorLimit& limit, std::uint64_t factor) {
    const Result<Limit> first = scaled_gcra(limit.first(), factor);
    if (!first) {
        return first.error();
    }
    const Result<Limit> second = scaled_gcra(limit.second(), factor);
    if (!second) {
        return second.error();
    }
    const Result<ColorLimit> made =
        ColorLimit::make(limit.variant(), limit.mode(), *first, *second);
    if (!made) {
        return made.error();
    }
    return AnyLimit{*made};
}

// Token and leaky bucket.
template <typename AnyGcraLimit>
    requires requires(AnyGcraLimit limit) { limit.gcra; }
Result<AnyLimit> times(const AnyGcraLimit& limit, std::uint64_t factor) {
    const Result<Limit> made = scaled_gcra(limit.gcra, factor);
    if (!made) {
        return made.error();
    }
    return AnyLimit{AnyGcraLimit{*made}};
}

Result<AnyLimit> times(PenaltyLimit limit, std::uint64_t factor) {
    const std::uint64_t most = kMostCount / limit.after;
    if (factor > most) {
        return too_large("`after`", most);
    }
    limit.after *= factor;
    return AnyLimit{limit};
}

// Limits that count in windows.
template <typename WindowLimit>
    requires requires(WindowLimit limit) { limit.numbers.count; }
Result<AnyLimit> times(WindowLimit limit, std::uint64_t factor) {
    constexpr bool kKeepsValues = std::is_same_v<WindowLimit, DistinctLimit>;
    const std::uint64_t most =
        (kKeepsValues ? kMostScaledDistinct : kMostCount) / limit.numbers.count;
    if (factor > most) {
        return too_large("the count", most);
    }
    limit.numbers.count *= factor;
    return AnyLimit{limit};
}

}  // namespace

Result<AnyLimit> scaled(const AnyLimit& limit, std::uint64_t factor) {
    if (factor == 0) {
        return Error{Errc::OutOfRange, "the factor must be at least 1"};
    }
    return std::visit([factor](const auto& numbers) { return times(numbers, factor); }, limit);
}

}  // namespace sluice

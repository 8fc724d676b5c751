#include "lib/bucket/meter/lifetime.hpp"

#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_meter.hpp"

#include <algorithm>
#include <variant>

namespace sluice {
namespace {

Nanoseconds debt_of(const Limit& limit) noexcept {
    return Nanoseconds{static_cast<std::int64_t>(limit.full() / limit.parts()) + 1};
}

// The debt of so many units that were used under other numbers.
Nanoseconds debt_of(const Limit& limit, Units used) noexcept {
    const Wide debt =
        std::min<Wide>(static_cast<Wide>(used.count()) * limit.period(), limit.longest_debt());
    return Nanoseconds{static_cast<std::int64_t>(debt / limit.parts()) + 1};
}

// A sliding window weighs the one before, and the last of its sub-windows ends a little later.
Nanoseconds debt_of(const WindowNumbers& numbers) noexcept {
    return Nanoseconds{numbers.window} * 2;
}

}  // namespace

Nanoseconds longest_debt(const AnyLimit& limit) noexcept {
    const auto of = [](const auto& numbers) noexcept {
        if constexpr (requires { numbers.gcra; }) {
            return debt_of(numbers.gcra);
        } else if constexpr (requires { numbers.second(); }) {
            return debt_of(numbers.first()) + debt_of(numbers.second());
        } else if constexpr (requires { numbers.longest_debt(); }) {
            return numbers.longest_debt();
        } else {
            return debt_of(numbers.numbers);
        }
    };
    return std::visit(of, limit);
}

Nanoseconds longest_debt(const AnyLimit& limit, Units used) noexcept {
    const Nanoseconds debt = longest_debt(limit);
    const auto with_used = [&](const auto& numbers) noexcept {
        if constexpr (requires { numbers.gcra; }) {
            return std::max(debt, debt_of(numbers.gcra, used));
        } else if constexpr (requires { numbers.second(); }) {
            return std::max(
                {debt, debt_of(numbers.first(), used), debt_of(numbers.second(), used)});
        } else {
            return debt;
        }
    };
    return std::visit(with_used, limit);
}

// A colour meter's buckets may fill one after the other.
Units most_used(const AnyLimit& limit) noexcept {
    const auto* colors = std::get_if<ColorLimit>(&limit);
    return colors != nullptr ? Units{colors->first().burst() + colors->second().burst()}
                             : most_of(limit);
}

}  // namespace sluice

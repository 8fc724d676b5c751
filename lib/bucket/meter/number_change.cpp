#include "lib/bucket/meter/number_change.hpp"

#include "lib/base/wide.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

// A debt of d 1/parts ns is d / period units. Periods are below 2^63.
NumberChange::NumberChange(const Limit& from, const Limit& to) noexcept
    : most{to.longest_debt()}, from_parts{from.parts()}, to_parts{to.parts()} {
    const std::uint64_t common = std::gcd(from.period(), to.period());
    times = to.period() / common;
    over = from.period() / common;
    narrow = (UINT64_MAX - (over - 1)) / times;
}

std::uint64_t NumberChange::wide_debt(std::uint64_t before) const noexcept {
    const Wide after = (static_cast<Wide>(before) * times + over - 1) / over;
    return static_cast<std::uint64_t>(std::min<Wide>(after, most));
}

}  // namespace sluice

#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <algorithm>
#include <cstdint>

// When refusals become a ban. It is exact: a key is banned by a refusal that is at least the
// `after`-th in the time `within` that ends with it (what is just as old as `within` counts no
// more), for the time `lasts` from then on. While it is banned nothing is refused or counted; when
// the ban has ended the key begins anew, with no refusals.
namespace sluice {

struct PenaltyLimit {
    std::uint64_t after = 1;
    std::int64_t within = 1;  // ns
    std::int64_t lasts = 1;   // ns
    // Refusals of a fresh key until it is banned.
    [[nodiscard]] Units most() const noexcept { return Units{after}; }
    [[nodiscard]] Nanoseconds longest_debt() const noexcept {
        return Nanoseconds{std::max(within, lasts)};
    }
    [[nodiscard]] bool operator==(const PenaltyLimit&) const noexcept = default;
    [[nodiscard]] Result<PenaltyLimit> checked() const;
    static void fields(auto& archive, auto& m) { archive(m.after, m.within, m.lasts); }
};

// 1 <= after <= kMostCount, and kShortestWindow <= within, lasts <= kLongestWindow.
[[nodiscard]] Result<PenaltyLimit> make_penalty(Units after, Nanoseconds within, Nanoseconds lasts);

}  // namespace sluice

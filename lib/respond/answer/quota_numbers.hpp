#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// The values of RateLimit, RateLimit-Policy and Retry-After: of the limit that refused the request,
// when it did.
struct QuotaNumbers {
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    std::uint64_t quota = 0;             // units that the policy allots
    std::uint64_t remaining = 0;         // of them
    std::uint64_t window = 0;            // in seconds; 0: none
    std::uint64_t retry_after = kNever;  // in seconds; kNever: no time would do

    [[nodiscard]] bool operator==(const QuotaNumbers&) const noexcept = default;
};

// Whole seconds, rounded up: a client that waits for so long has waited for long enough.
[[nodiscard]] constexpr std::uint64_t retry_after_seconds(Nanoseconds wait) noexcept {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t least = wait.count() < 0 ? 0 : wait.count();
    return static_cast<std::uint64_t>(least / kSecond + (least % kSecond != 0 ? 1 : 0));
}

}  // namespace sluice

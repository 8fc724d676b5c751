#pragma once
#include "lib/base/wide.hpp"
#include "lib/meter/entry.hpp"
#include "lib/meter/group_key.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// What amounts are charged to: a key under a limit, or a wider key that it coarsens to.
struct Account {
    std::uint64_t hash = 0;
    LimitSlot slot = 0;
    std::uint8_t step = 0;

    [[nodiscard]] FiledKey filed() const noexcept { return {GroupKey{hash}, slot}; }
    [[nodiscard]] bool operator==(const Account&) const noexcept = default;
};

// The bits of the hash, mixed once more: tables and RSS use them as they are.
[[nodiscard]] inline std::uint64_t mixed(const Account& account) noexcept {
    constexpr std::uint64_t kOdd = 0xD6E8'FEB8'6659'FD93;
    const std::uint64_t name = account.hash ^ (std::uint64_t{account.slot} << 32);
    const Wide product = static_cast<Wide>(name) * kOdd;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Which of `workers` keeps the total of an account; the same on all of them.
[[nodiscard]] inline std::size_t owner_of(const Account& account, std::size_t workers) noexcept {
    return static_cast<std::size_t>((static_cast<Wide>(mixed(account)) * workers) >> 64);
}

}  // namespace sluice

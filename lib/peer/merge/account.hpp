#pragma once
#include "lib/base/wide.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/table/entry.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Which window of a limit that has windows, as far as a record can tell; 0: the limit has none.
using Turn = std::uint16_t;
inline constexpr std::int64_t kTurns = (std::int64_t{1} << 15) - 1;

// What amounts are charged to: a key under a limit, or a wider key that it coarsens to; and, where
// units are counted window by window, in which of them.
struct Account {
    std::uint64_t hash = 0;
    LimitSlot slot = 0;
    std::uint8_t aggregation_level = 0;
    Turn turn = 0;

    [[nodiscard]] TableKey table_key() const noexcept { return {GroupKey{hash}, slot}; }
    // The same in any window.
    [[nodiscard]] bool has_key_of(const Account& other) const noexcept {
        return hash == other.hash && slot == other.slot &&
               aggregation_level == other.aggregation_level;
    }
    [[nodiscard]] Account in(Turn other) const noexcept {
        return {hash, slot, aggregation_level, other};
    }
    [[nodiscard]] bool operator==(const Account&) const noexcept = default;
};

// The turn of a window by its number, and back again: the latest window of that turn that is at
// most the one after `current`.
[[nodiscard]] constexpr Turn turn_of(std::int64_t epoch) noexcept {
    return static_cast<Turn>(1 + ((epoch % kTurns) + kTurns) % kTurns);
}
[[nodiscard]] constexpr std::int64_t epoch_of(Turn turn, std::int64_t current) noexcept {
    return current + 1 - (turn_of(current + 1) - turn + kTurns) % kTurns;
}

// The bits of the hash, mixed once more: tables and RSS use them as they are.
[[nodiscard]] inline std::uint64_t mixed(const Account& account) noexcept {
    constexpr std::uint64_t kOdd = 0xD6E8'FEB8'6659'FD93;
    const std::uint64_t name = account.hash ^ (std::uint64_t{account.slot} << 32);
    const Wide product = static_cast<Wide>(name) * kOdd;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Which of `workers` keeps the total of an account; the same on all of them and in all windows.
[[nodiscard]] inline std::size_t owner_of(const Account& account, std::size_t workers) noexcept {
    return static_cast<std::size_t>((static_cast<Wide>(mixed(account)) * workers) >> 64);
}

}  // namespace sluice

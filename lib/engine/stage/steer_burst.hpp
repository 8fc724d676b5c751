#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

// Packets of keys that one worker owns: between match and key, whoever has received them finds out
// which worker is to judge them. All rules at owners that match one packet are of one group, so it
// has one owner.
namespace sluice {

inline constexpr std::uint8_t kStays = 0xFF;
using BurstOwners = std::array<std::uint8_t, kMaxBurst>;

// For each packet of a burst that has been matched: the worker that is to judge it, or kStays: no
// rule at an owner does, or another one decides before any limit is asked. False: all of them stay.
// `workers` is at most kMaxCores.
[[nodiscard]] bool find_owners(const Burst& burst, const LoadedSet& set, const CoreState& core,
                               std::size_t workers, BurstOwners& owners) noexcept;

// True if a packet that its owner takes no more of may be judged without its rules at owners: none
// of those would refuse what it cannot count (`on_full: open`, or a rule that only watches).
[[nodiscard]] bool may_go_on(const Burst& burst, std::size_t row, const LoadedSet& set) noexcept;

// The parts of a matched burst that leave or stay unowned; a bit for each packet.
struct BurstSplit {
    RowMask gone = 0;     // taken out: another worker has them, or nobody
    RowMask unowned = 0;  // stay, without their rules at owners
};
void split_burst(Burst& burst, const BurstSplit& split, const LoadedSet& set) noexcept;

}  // namespace sluice

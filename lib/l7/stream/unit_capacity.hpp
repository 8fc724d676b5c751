#pragma once
#include "lib/packet/row_mask.hpp"

#include <cstddef>
#include <cstdint>

// Room for units of later layers.
namespace sluice {

// Units in one packet. A frame of 1,500 octets has no more than 76 (queries for the root over TCP)
// that servers answer, one of 9,000 no more unless each of its requests has less than 36 octets. Of
// a packet that has more of them, or more bytes of text than its share of the arena, none is
// judged. An enforced service refuses it, so that nobody slips past the rules in a crowd; elsewhere
// it is judged as one without units, by all rules.
inline constexpr std::size_t kMaxUnits = 255;
// Each packet of a burst has room for so many at once, and for more if the others leave it: they
// share further bursts, whose rows stand for the second unit of a packet and those behind it. One
// that others have crowded out is dropped like one with too many, but may come again.
inline constexpr std::size_t kUnitShare = 8;
inline constexpr std::size_t kMaxFurtherBursts = 15;
inline constexpr std::size_t kMaxFurther = kMaxFurtherBursts * kMaxBurst;
static_assert(kMaxFurther >= kUnitShare * (kMaxBurst - 1) + kMaxUnits - kMaxBurst,
              "the first packet of a full burst may have the most units");

// Matches of a packet's units have room as for so many units under the largest rule set: below
// 2,000 rules and 4,000 limits, for kMaxUnits.
inline constexpr std::size_t kUnitsUnderAnyRules = 32;

// The room for a burst's units is shared by its packets, or is the only packet's, which has all
// texts and which nobody judges.
enum class UnitCapacity : std::uint8_t { Shares, OnlyPacket };

}  // namespace sluice

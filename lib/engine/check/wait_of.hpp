#pragma once
#include "lib/engine/check/check_limit.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

// The least time after which a unit that a limit has refused, and whose bucket was found, would be
// admitted, and the earlier ones of its packet with it; nullopt: never.
[[nodiscard]] std::optional<Nanoseconds> wait_of(const LimitCheck& check,
                                                 const CheckContext& context) noexcept;

// Under `shape`: how long the packet is held by a limit that has been asked, 0 if it departs at
// once; nullopt: it cannot be held for it.
//
//   token bucket   until it conforms
//   leaky bucket   until its queue has drained: what is within the queue departs at even distances,
//                  what is beyond it is not held
//
// and in any case until all earlier ones of its key have departed (CoreState::held_order). So
// departures of one key never go back in the order of its packets, and a timing wheel keeps that
// order.
[[nodiscard]] std::optional<Nanoseconds> delay_of(const LimitCheck& check,
                                                  const CheckContext& context) noexcept;

// The identity of a limit's key in HeldOrder.
[[nodiscard]] constexpr std::uint64_t held_id(const TableKey& key) noexcept {
    return key.hash ^ (slot_of(key) * std::uint64_t{0x9E37'79B9'7F4A'7C15});
}

}  // namespace sluice

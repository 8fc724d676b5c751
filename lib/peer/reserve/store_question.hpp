#pragma once
#include "lib/bucket/meter/store_asking.hpp"
#include "lib/peer/reserve/message.hpp"

#include <cstdint>
#include <type_traits>

namespace sluice {

// A question to the store: complete by itself, since whoever carries it knows no rules.
struct StoreQuestion {
    Ticket ticket;
    std::uint64_t hash = 0;  // of the key under the limit
    std::uint32_t cost = 0;
    LimitSlot slot = 0;
    bool is_answered = true;  // false: what has room is charged, and nobody waits (rejected_spend)
    StoreAsking limit;
};
static_assert(sizeof(StoreQuestion) <= 64 && std::is_trivially_copyable_v<StoreQuestion>);

}  // namespace sluice

#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Events of a key that had no bucket and found no place for one; or whose worker was ahead of the
// key's owner by as much as it may be, could not hand a packet to it, or had no answer from it; and
// what became of the open connections that buckets count.
enum class TableEvent : std::uint8_t {
    TableFull,
    ShareFull,
    PoolFull,
    Coarsened1,
    Coarsened2,
    CoarsenedToRule,
    Open,
    Closed,
    CreditOpen,
    CreditClosed,
    OwnerOpen,
    AskOpen,
    AskClosed,
    AskOvertook,
    ConnectionOpened,
    ConnectionFinished,
    ConnectionReset,
    ConnectionIdle,
    ConnectionForgotten,
    ConnectionUntold,
    HeldOrderLost,
    DebtForgiven,
};

// The one list. The first three say why there was no place, the others what was done about it.
inline constexpr auto kTableEvents = std::to_array<EventRow<TableEvent>>({
    {TableEvent::TableFull, "table_full", "both lines of a new key were held by live entries"},
    {TableEvent::ShareFull, "share_full", "the rule held its table_share of the entries"},
    {TableEvent::PoolFull, "pool_full", "no memory for a state that does not fit an entry"},
    {TableEvent::Coarsened1, "coarsened_1", "charged to the nearest wider network"},
    {TableEvent::Coarsened2, "coarsened_2", "charged to the network after that"},
    {TableEvent::CoarsenedToRule, "coarsened_to_rule", "charged to the rule as a whole"},
    {TableEvent::Open, "full_open", "admitted uncounted, as on_full says"},
    {TableEvent::Closed, "full_closed", "refused, as on_full says or for want of any place"},
    {TableEvent::CreditOpen, "credit_open", "beyond max_unsynced, admitted as on_full: open says"},
    {TableEvent::CreditClosed, "credit_closed", "beyond max_unsynced, refused"},
    {TableEvent::OwnerOpen, "owner_open",
     "its owner took no more: judged without the limits there, as on_full: open says"},
    {TableEvent::AskOpen, "ask_open",
     "its owner could not be asked in time: admitted uncounted, as on_full: open says"},
    {TableEvent::AskClosed, "ask_closed", "its owner could not be asked in time: refused"},
    {TableEvent::AskOvertook, "ask_overtook",
     "no room to wait behind a packet of its connection: went on before it"},
    {TableEvent::ConnectionOpened, "connections_opened",
     "connections that concurrency limits began to count, or found at a start"},
    {TableEvent::ConnectionFinished, "connections_finished", "of these, closed by both ends' FINs"},
    {TableEvent::ConnectionReset, "connections_reset", "of these, closed by an RST"},
    {TableEvent::ConnectionIdle, "connections_idle", "of these, idle for too long"},
    {TableEvent::ConnectionForgotten, "connections_forgotten",
     "of these, given back by an operator"},
    {TableEvent::ConnectionUntold, "connections_untold",
     "packets whose connection's owner took no more messages: it may stay open until it is idle"},
    {TableEvent::HeldOrderLost, "held_order_lost",
     "shaped keys whose later packets may overtake those that are held: no room to note it"},
    {TableEvent::DebtForgiven, "debts_forgiven",
     "buckets that owed more than a whole burst or count and were forgiven the rest by an "
     "operator"},
});
inline constexpr std::size_t kTableEventCount = kTableEvents.size();

static_assert(in_enum_order(kTableEvents, &EventRow<TableEvent>::event),
              "kTableEvents is indexed by TableEvent");

}  // namespace sluice

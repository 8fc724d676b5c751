#pragma once
#include "lib/share/core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// What a worker's ledger did.
enum class LedgerEvent : std::uint8_t {
    Sent,
    Early,
    Applied,
    Answered,
    Taken,
    RingFull,
    HeldBack,
    NoPlace,
    Returned,
    Dropped,
    Expired,
    UsedUp,
    NoRecord,
    ReadGivenUp,
    StoreSent,
    StoreTaken,
    StoreFull,
    StoreUnknown,
    StoreDeclared,
    LocalShare,
    LocalShareRefused,
    LastKnown,
    DownOpen,
    DownClosed,
};

struct LedgerEventRow {
    LedgerEvent event;
    std::string_view name;  // as the API and the metrics print it
    std::string_view help;
};

// The one list.
inline constexpr auto kLedgerEvents = std::to_array<LedgerEventRow>({
    {LedgerEvent::Sent, "sent", "amounts told to the owners of their keys"},
    {LedgerEvent::Early, "early", "of those that could have waited, told since records were few"},
    {LedgerEvent::Applied, "applied", "amounts of other workers added to totals here"},
    {LedgerEvent::Answered, "answered", "totals told to other workers"},
    {LedgerEvent::Taken, "taken", "totals of other workers, taken here"},
    {LedgerEvent::RingFull, "ring_full", "put off, an owner has not read what was sent before"},
    {LedgerEvent::HeldBack, "held_back", "put off, a sender has not read earlier answers"},
    {LedgerEvent::NoPlace, "no_place", "amounts of keys that found no place at their owner"},
    {LedgerEvent::Returned, "returned", "amounts to be sent again"},
    {LedgerEvent::Dropped, "dropped", "amounts of limits that are gone"},
    {LedgerEvent::Expired, "expired", "amounts of windows that were over"},
    {LedgerEvent::UsedUp, "used_up", "charges beyond max_unsynced"},
    {LedgerEvent::NoRecord, "no_record", "charges with no memory to note them in"},
    {LedgerEvent::ReadGivenUp, "read_given_up",
     "unsynced amounts that another worker could not read, and took for the most there can be"},
    {LedgerEvent::StoreSent, "store_sent", "amounts told to the store of the cluster"},
    {LedgerEvent::StoreTaken, "store_taken", "answers of the store, taken here"},
    {LedgerEvent::StoreFull, "store_full",
     "amounts of other workers put off, the store has not confirmed what the box has spent"},
    {LedgerEvent::StoreUnknown, "store_unknown",
     "answers of the store to what this worker has not under way"},
    {LedgerEvent::StoreDeclared, "store_declared",
     "keys whose debt the store was told once it was back"},
    {LedgerEvent::LocalShare, "local_share",
     "charges admitted by the box's share alone, the store being away"},
    {LedgerEvent::LocalShareRefused, "local_share_refused",
     "charges refused by the box's share alone, the store being away"},
    {LedgerEvent::LastKnown, "last_known",
     "charges admitted by what the box knew last, the store being away"},
    {LedgerEvent::DownOpen, "down_open", "charges admitted uncounted, the store being away"},
    {LedgerEvent::DownClosed, "down_closed", "charges refused, the store being away"},
});
inline constexpr std::size_t kLedgerEventCount = kLedgerEvents.size();

constexpr bool ledger_events_in_enum_order() noexcept {
    for (std::size_t i = 0; i < kLedgerEvents.size(); ++i) {
        if (static_cast<std::size_t>(kLedgerEvents[i].event) != i) {
            return false;
        }
    }
    return true;
}
static_assert(ledger_events_in_enum_order(), "kLedgerEvents is indexed by LedgerEvent");

// Written by the worker, read by anyone.
class LedgerCounters {
public:
    void count(LedgerEvent event) noexcept { events_[static_cast<std::size_t>(event)].add(1); }
    void set(LedgerEvent event, std::uint64_t count) noexcept {
        events_[static_cast<std::size_t>(event)].set(count);
    }
    [[nodiscard]] std::uint64_t read(LedgerEvent event) const noexcept {
        return events_[static_cast<std::size_t>(event)].read();
    }
    Counter in_use;  // records, now

private:
    std::array<Counter, kLedgerEventCount> events_;
};

}  // namespace sluice

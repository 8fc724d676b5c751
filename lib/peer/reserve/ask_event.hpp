#pragma once
#include "lib/base/event_row.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Events of questions: first as their asker counts it, then as the owners of the keys do.
enum class AskEvent : std::uint8_t {
    Asked,
    NoRoom,
    RingFull,
    NoAnswer,
    Late,
    Unsettled,
    Answered,
    Unsent,
    Reserved,
    Charged,
    Cancelled,
    Expired,
};

// The one list.
inline constexpr auto kAskEvents = std::to_array<EventRow<AskEvent>>({
    {AskEvent::Asked, "asked", "questions to the owners of keys"},
    {AskEvent::NoRoom, "no_room", "packets that had no room to wait for answers"},
    {AskEvent::RingFull, "ring_full", "questions that an owner had no room for"},
    {AskEvent::NoAnswer, "no_answer", "questions whose packet was decided before their answer"},
    {AskEvent::Late, "late", "answers to packets that were decided"},
    {AskEvent::Unsettled, "unsettled",
     "commits and cancels that an owner had no room for: charged there in the end"},
    {AskEvent::Answered, "answered", "answers to askers"},
    {AskEvent::Unsent, "unsent", "answers that an asker had no room for"},
    {AskEvent::Reserved, "reserved",
     "units of packets held for their askers, question by question"},
    {AskEvent::Charged, "charged", "reservations whose packet went on"},
    {AskEvent::Cancelled, "cancelled", "reservations whose packet did not"},
    {AskEvent::Expired, "expired", "reservations that nobody settled: charged"},
});
inline constexpr std::size_t kAskEventCount = kAskEvents.size();
static_assert(in_enum_order(kAskEvents, &EventRow<AskEvent>::event),
              "kAskEvents is indexed by AskEvent");

// Counters of one worker as an asker, or as an owner: written by it alone, read by anyone.
struct AskCounters {
    std::array<Counter, kAskEventCount> by_event;
    Counter held;  // now: packets that wait, or reservations

    void count(AskEvent event, std::uint64_t times = 1) noexcept {
        by_event[static_cast<std::size_t>(event)].add(times);
    }
    [[nodiscard]] std::uint64_t of(AskEvent event) const noexcept {
        return by_event[static_cast<std::size_t>(event)].read();
    }
};

}  // namespace sluice

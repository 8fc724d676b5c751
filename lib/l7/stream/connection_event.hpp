#pragma once
#include "lib/l7/stream/unread_reason.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// Events of connections: counted, each under its own name.
enum class ConnectionEvent : std::uint8_t {
    Opened,
    HalfHead,
    Assembled,
    OutOfOrder,
    Repeated,
    Differing,
    Resynchronised,
    Unremembered,
    IdleTimeout,
    HalfHeadTimeout,
    EvictedIdle,
    EvictedRefusal,
    EvictedGivenUp,
    RefusalsFull,
    GivenUpFull,
    EvictedHalfHead,
    EvictedShare,
    RefusedFull,
    RefusedShare,
    HeadTooLong,
    TooManyPieces,
    OutOfReach,
    HeadForgotten,
    SynReuse,
    SynIgnored,
    MissedSome,
    Begun,
    BegunElsewhere,
    EvictedBegun,
    NotRead,
    RefusedForgotten,
    PartRepeated,
    EvictedRepeat,
    AheadForgotten,
    EvictedFraming,
    FramingFull,
    RefusedUntold,
    Unread,
    Midstream,
    Unheard,
};

struct ConnectionEventRow {
    ConnectionEvent event;
    std::string_view name;
    std::string_view help;
};

inline constexpr auto kConnectionEvents = std::to_array<ConnectionEventRow>({
    {ConnectionEvent::Opened, "opened", "connections remembered"},
    {ConnectionEvent::HalfHead, "half_head", "heads that began and were not whole"},
    {ConnectionEvent::Assembled, "assembled", "heads put together from several segments"},
    {ConnectionEvent::OutOfOrder, "out_of_order", "segments held until those before them came"},
    {ConnectionEvent::Repeated, "repeated",
     "segments with bytes of a unit judged before: of its body, or a repetition"},
    {ConnectionEvent::Differing, "differing", "segments that repeat held bytes with others"},
    {ConnectionEvent::Resynchronised, "resynchronised", "units found behind missing bytes"},
    {ConnectionEvent::Unremembered, "unremembered", "units judged that found no place to stick"},
    {ConnectionEvent::IdleTimeout, "idle_timeout", "connections forgotten because of silence"},
    {ConnectionEvent::HalfHeadTimeout, "half_head_timeout", "heads that took too long"},
    {ConnectionEvent::EvictedIdle, "evicted_idle", "connections forgotten for newer ones"},
    {ConnectionEvent::EvictedRefusal, "evicted_refusal",
     "refusals forgotten for newer connections"},
    {ConnectionEvent::EvictedGivenUp, "evicted_given_up",
     "heads given up and forgotten for newer connections"},
    {ConnectionEvent::RefusalsFull, "refusals_full", "refusals kept no longer than passes are"},
    {ConnectionEvent::GivenUpFull, "given_up_full",
     "heads given up, kept no longer than passes are"},
    {ConnectionEvent::EvictedHalfHead, "evicted_half_head", "heads given up for newer ones"},
    {ConnectionEvent::EvictedShare, "evicted_share", "heads beyond their source's share"},
    {ConnectionEvent::RefusedFull, "refused_full", "segments without room for a half head"},
    {ConnectionEvent::RefusedShare, "refused_share", "segments beyond their source's share"},
    {ConnectionEvent::HeadTooLong, "head_too_long", "heads beyond the limit of bytes"},
    {ConnectionEvent::TooManyPieces, "too_many_pieces", "segments that left too many gaps"},
    {ConnectionEvent::OutOfReach, "out_of_reach", "segments too far ahead of a half head"},
    {ConnectionEvent::HeadForgotten, "head_forgotten", "segments of heads that were given up"},
    {ConnectionEvent::SynReuse, "syn_reuse", "connections that began anew"},
    {ConnectionEvent::SynIgnored, "syn_ignored", "SYNs that would have erased what must stick"},
    {ConnectionEvent::MissedSome, "missed_some",
     "connections that went on behind segments which no rule read"},
    {ConnectionEvent::Begun, "begun", "connections remembered by their SYN"},
    {ConnectionEvent::BegunElsewhere, "begun_elsewhere",
     "connections whose first bytes are not where their SYN said"},
    {ConnectionEvent::EvictedBegun, "evicted_begun", "SYNs forgotten for newer ones"},
    {ConnectionEvent::NotRead, "not_read", "connections that begin as nothing that is read"},
    {ConnectionEvent::RefusedForgotten, "refused_forgotten",
     "connections to be refused that were forgotten for newer ones"},
    {ConnectionEvent::PartRepeated, "part_repeated",
     "segments that repeat a part of what was judged in one"},
    {ConnectionEvent::EvictedRepeat, "evicted_repeat",
     "segments that repeat a part of what was judged so long ago that its bytes are not kept"},
    {ConnectionEvent::AheadForgotten, "ahead_forgotten",
     "segments of connections of which bytes further ahead went on and were forgotten"},
    {ConnectionEvent::EvictedFraming, "evicted_framing",
     "connections whose lines of chunks, not acknowledged yet, were forgotten for newer ones"},
    {ConnectionEvent::FramingFull, "framing_full",
     "segments with lines of chunks for which no room is left until servers acknowledge others"},
    {ConnectionEvent::RefusedUntold, "refused_untold",
     "segments that nothing tells from those of connections to be refused"},
    {ConnectionEvent::Unread, "unread", "connections that go unread from the first doubt on"},
    {ConnectionEvent::Midstream, "midstream",
     "segments that may begin a unit, of connections whose SYN is not known: not read"},
    {ConnectionEvent::Unheard, "unheard",
     "segments behind a restart, ahead of all that was read, whose server may have more: not "
     "forwarded until it says so"},
});
static_assert([] {
    for (std::size_t i = 0; i < kConnectionEvents.size(); ++i) {
        if (kConnectionEvents[i].event != static_cast<ConnectionEvent>(i)) {
            return false;
        }
    }
    return true;
}());

// Written by the worker alone, read by anyone.
struct ConnectionCounters {
    std::array<Counter, kConnectionEvents.size()> by_event;
    std::array<Counter, kUnreadKinds> unread;  // by unread_kind(): ConnectionEvent::Unread
    Counter copied_bytes;                      // to be parsed with what came behind them
    Counter connections;                       // now
    Counter half_heads;                        // now
    Counter refusals;                          // now, connections that a refusal sticks to
    Counter given_up;                          // now, connections whose head was given up
    Counter held_lines;                        // now, of 64 bytes

    void count(ConnectionEvent event) noexcept { by_event[static_cast<std::size_t>(event)].add(1); }
    void count_unread(UnreadProtocol protocol, UnreadReason reason) noexcept {
        count(ConnectionEvent::Unread);
        unread[unread_kind(protocol, reason)].add(1);
    }
    [[nodiscard]] std::uint64_t of(ConnectionEvent event) const noexcept {
        return by_event[static_cast<std::size_t>(event)].read();
    }
};

}  // namespace sluice

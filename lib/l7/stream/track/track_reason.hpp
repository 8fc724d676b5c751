#pragma once
#include "lib/base/event_row.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Why a segment of a service is not forwarded.
enum class TrackReason : std::uint8_t {
    None,
    ChecksumWrong,
    Fragment,
    BadFlags,
    SynData,
    SynAckUnasked,
    SplitHandshake,
    NotSynchronised,
    NoAck,
    AckUnsent,
    AckTooOld,
    BeyondWindow,
    OutOfWindow,
    ResetOutOfWindow,
    ResetOptions,
    Options,
    OldTimestamp,
    BehindFin,
    FinMoved,
    BehindReset,
    Midstream,
    MidstreamReset,
};

inline constexpr auto kTrackReasons = std::to_array<EventRow<TrackReason>>({
    {TrackReason::None, "none", "forwarded"},
    {TrackReason::ChecksumWrong, "checksum_wrong", "a checksum of IP or TCP is wrong"},
    {TrackReason::Fragment, "tcp_fragment", "a fragment of a TCP segment"},
    {TrackReason::BadFlags, "bad_flags", "a SYN with FIN or RST"},
    {TrackReason::SynData, "syn_data", "a SYN that carries data (TCP Fast Open)"},
    {TrackReason::SynAckUnasked, "syn_ack_unasked", "a SYN-ACK to a SYN that was not seen"},
    {TrackReason::SplitHandshake, "split_handshake",
     "a SYN from the server, a SYN-ACK from the client, or an ACK before the SYN-ACK"},
    {TrackReason::NotSynchronised, "not_synchronised",
     "a client's segment before the server's SYN-ACK, or of numbers of neither handshake"},
    {TrackReason::NoAck, "no_ack", "a segment without ACK, SYN or RST"},
    {TrackReason::AckUnsent, "ack_unsent", "acknowledges what the other end never sent"},
    {TrackReason::AckTooOld, "ack_too_old",
     "acknowledges less than the other end could still take (RFC 5961, 5)"},
    {TrackReason::BeyondWindow, "beyond_window", "data beyond the right edge of the window"},
    {TrackReason::OutOfWindow, "out_of_window", "a number that the connection cannot have"},
    {TrackReason::ResetOutOfWindow, "reset_out_of_window", "a RST outside the window"},
    {TrackReason::ResetOptions, "reset_options",
     "a RST with options of IP, or of TCP other than timestamps: receivers may drop it for them"},
    {TrackReason::Options, "doubtful_options",
     "a client's bytes or FIN behind options for which servers drop a segment"},
    {TrackReason::OldTimestamp, "old_timestamp",
     "a client's bytes or FIN of an older timestamp than its server has echoed (RFC 7323, 5)"},
    {TrackReason::BehindFin, "behind_fin", "bytes behind a FIN"},
    {TrackReason::FinMoved, "fin_moved", "a FIN in another place than the first one"},
    {TrackReason::BehindReset, "behind_reset", "a segment behind a RST that stands"},
    {TrackReason::Midstream, "midstream",
     "a segment of a connection that nobody knows, where no request begins"},
    {TrackReason::MidstreamReset, "midstream_reset",
     "the same at the very number that the server acknowledges: the connection is reset"},
});

enum class TrackEvent : std::uint8_t {
    SynSeen,
    Began,
    Replaced,
    EndedByFin,
    EndedByReset,
    Revived,
    ChallengedReset,
    SynOnLiving,
    Midstream,
    TakenUp,
    Probed,
    UrgentCleared,
    OptionsCleared,
    TtlRaised,
    Upgraded,
    Unseen,
    IdleTimeout,
    HalfOpenTimeout,
    EvictedHalfOpen,
    EvictedMidstream,
    EvictedClosed,
    EvictedIdle,
    EvictedOfMost,
    HalfOpenFull,
    TrackerFull,
    ChecksumsVerified,
    ChecksumsTrusted,
    Inherited,
    MovedOn,
};

inline constexpr auto kTrackEvents = std::to_array<EventRow<TrackEvent>>({
    {TrackEvent::SynSeen, "syn_seen", "SYNs of clients"},
    {TrackEvent::Began, "began", "connections whose handshake was completed"},
    {TrackEvent::Replaced, "replaced", "connections whose ports the server took into use again"},
    {TrackEvent::EndedByFin, "ended_by_fin", "connections ended by a FIN of each side"},
    {TrackEvent::EndedByReset, "ended_by_reset", "connections ended by a RST of the next number"},
    {TrackEvent::Revived, "revived", "connections that the server went on with after a RST"},
    {TrackEvent::ChallengedReset, "challenged_reset",
     "RSTs in the window that are not exact, forwarded for the server to challenge"},
    {TrackEvent::SynOnLiving, "syn_on_living", "SYNs on living connections"},
    {TrackEvent::Midstream, "midstream", "segments of connections that nobody knows"},
    {TrackEvent::TakenUp, "taken_up", "connections followed from their middle on"},
    {TrackEvent::Probed, "probed",
     "clients' segments sent on without bytes, for the server to say what it expects"},
    {TrackEvent::UrgentCleared, "urgent_cleared", "segments whose urgent pointer is cleared"},
    {TrackEvent::OptionsCleared, "options_cleared",
     "clients' segments whose TCP options of unknown kinds are overwritten"},
    {TrackEvent::TtlRaised, "ttl_raised", "segments whose TTL is raised"},
    {TrackEvent::Upgraded, "upgraded",
     "connections that pass unread, since the server has agreed to a listed upgrade"},
    {TrackEvent::Unseen, "unseen", "connections forgotten because segments passed unseen"},
    {TrackEvent::IdleTimeout, "idle_timeout", "connections forgotten because of silence"},
    {TrackEvent::HalfOpenTimeout, "half_open_timeout", "handshakes that took too long"},
    {TrackEvent::EvictedHalfOpen, "evicted_half_open", "handshakes forgotten for newer ones"},
    {TrackEvent::EvictedMidstream, "evicted_midstream",
     "connections of unknown beginning forgotten for newer ones"},
    {TrackEvent::EvictedClosed, "evicted_closed", "ended connections forgotten for newer ones"},
    {TrackEvent::EvictedIdle, "evicted_idle",
     "silent connections forgotten for newer ones, none silent for less than idle_guard"},
    {TrackEvent::EvictedOfMost, "evicted_of_most",
     "connections of the source with most, forgotten for newer ones: they are reset when they go "
     "on"},
    {TrackEvent::HalfOpenFull, "half_open_full", "SYNs that found no line near"},
    {TrackEvent::TrackerFull, "tracker_full",
     "connections that found no room and are handled as if their beginning had not been seen"},
    {TrackEvent::ChecksumsVerified, "checksums_verified",
     "sides of services whose checksums are verified from then on"},
    {TrackEvent::ChecksumsTrusted, "checksums_trusted",
     "sides of services whose checksums are trusted from then on, since unfinished ones are taken"},
    {TrackEvent::Inherited, "inherited", "connections that an earlier process has left"},
    {TrackEvent::MovedOn, "moved_on",
     "inherited connections that have gone on where no box saw it: followed from their middle on"},
});

static_assert(in_enum_order(kTrackReasons, &EventRow<TrackReason>::event));
static_assert(in_enum_order(kTrackEvents, &EventRow<TrackEvent>::event));

// Written by the worker alone, read by anyone.
struct TrackCounters {
    std::array<Counter, kTrackReasons.size()> by_reason;  // in monitor: would be refused
    std::array<Counter, kTrackEvents.size()> by_event;
    Counter established;  // now; ended ones that are still remembered stand in `closed`
    Counter half_open;    // now
    Counter closed;       // now
    Counter midstream;    // now

    void count(TrackReason reason) noexcept { by_reason[static_cast<std::size_t>(reason)].add(1); }
    void count(TrackEvent event) noexcept { by_event[static_cast<std::size_t>(event)].add(1); }
    [[nodiscard]] std::uint64_t of(TrackReason reason) const noexcept {
        return by_reason[static_cast<std::size_t>(reason)].read();
    }
    [[nodiscard]] std::uint64_t of(TrackEvent event) const noexcept {
        return by_event[static_cast<std::size_t>(event)].read();
    }
};

}  // namespace sluice

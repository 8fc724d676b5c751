#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Frames that the box sent in somebody's name, and why it did not.
enum class AnswerEvent : std::uint8_t {
    Replied,
    Decoyed,
    Reset,
    TlsAlert,
    QuicClosed,
    DnsTruncated,
    DnsRefused,
    DnsEmpty,
    Repeated,
    FinAcknowledged,
    Ended,
    Absorbed,
    ChallengeReset,
    MayBeAnswering,
    Waiting,
    Unanswered,
    Unproven,
    Evicted,
    Paced,
    NotAnswerable,
    NoRoute,
    NotSent,
};

// The one list of events. Counters, CLI, metrics and docs are loops over it.
inline constexpr auto kAnswerEvents = std::to_array<EventRow<AnswerEvent>>({
    {AnswerEvent::Replied, "replied", "requests of HTTP answered as the rule's `reply` says"},
    {AnswerEvent::Decoyed, "decoyed", "requests of HTTP answered as the rule's `decoy` says"},
    {AnswerEvent::Reset, "reset", "segments of TCP for which both ends got a RST"},
    {AnswerEvent::TlsAlert, "tls_alert", "ClientHellos answered with access_denied"},
    {AnswerEvent::QuicClosed, "quic_closed", "QUIC Initials answered with CONNECTION_REFUSED"},
    {AnswerEvent::DnsTruncated, "dns_truncated", "queries answered with TC=1"},
    {AnswerEvent::DnsRefused, "dns_refused", "queries answered with REFUSED"},
    {AnswerEvent::DnsEmpty, "dns_empty", "queries answered without records"},
    {AnswerEvent::Repeated, "repeated", "requests that came again and got the same answer again"},
    {AnswerEvent::FinAcknowledged, "fin_acknowledged", "FINs of clients that had their answer"},
    {AnswerEvent::Ended, "ended", "clients that went on sending after their answer, and got a RST"},
    {AnswerEvent::Absorbed, "absorbed", "other packets of connections that were answered: dropped"},
    {AnswerEvent::ChallengeReset, "challenge_reset",
     "segments of servers on connections that were answered: they got a RST"},
    {AnswerEvent::MayBeAnswering, "may_be_answering",
     "requests that got a RST since the answer to the one before may be on its way"},
    {AnswerEvent::Waiting, "waiting",
     "refused requests whose answer waits for the one before it to end"},
    {AnswerEvent::Unanswered, "unanswered",
     "of these, those whose server closed first or that waited for too long: reset"},
    {AnswerEvent::Unproven, "unproven",
     "requests that got no answer since nothing proves that their handshake was completed"},
    {AnswerEvent::Evicted, "evicted",
     "connections that were forgotten too soon, since too many were answered: what they repeat is "
     "reset, of QUIC dropped"},
    {AnswerEvent::Paced, "paced",
     "requests that got a RST since their source was answered too often in this second"},
    {AnswerEvent::NotAnswerable, "not_answerable",
     "packets of protocols, or at moments, that have no answer: dropped"},
    {AnswerEvent::NoRoute, "no_route",
     "packets whose way back is unknown, as in tunnels and label stacks: dropped"},
    {AnswerEvent::NotSent, "not_sent", "made frames for which there was no memory"},
});
inline constexpr std::size_t kAnswerEventCount = kAnswerEvents.size();

static_assert(in_enum_order(kAnswerEvents, &EventRow<AnswerEvent>::event),
              "kAnswerEvents is indexed by AnswerEvent");

}  // namespace sluice

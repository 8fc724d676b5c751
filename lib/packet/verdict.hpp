#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The fate of a packet, weakest first: of several refusing rules the strictest decides.
enum class Verdict : std::uint8_t { Pass, Tag, Shape, Decoy, Reply, Reset, Drop };

inline constexpr auto kVerdictNames =
    std::to_array<std::string_view>({"pass", "tag", "shape", "decoy", "reply", "reset", "drop"});
inline constexpr std::size_t kVerdictCount = kVerdictNames.size();

// True if the packet goes on to the other port.
[[nodiscard]] constexpr bool forwards(Verdict verdict) noexcept {
    return verdict <= Verdict::Shape;
}

// True if the box itself sends something for the packet.
[[nodiscard]] constexpr bool answers(Verdict verdict) noexcept {
    return verdict >= Verdict::Decoy && verdict <= Verdict::Reset;
}

[[nodiscard]] constexpr std::string_view name_of(Verdict verdict) noexcept {
    return kVerdictNames[static_cast<std::size_t>(verdict)];
}

// The policy for frames whose headers are malformed, each counted under its reason either way.
enum class MalformedPolicy : std::uint8_t { Drop, Pass };

// Why. Every packet has exactly one.
enum class Reason : std::uint8_t {
    Unmatched,
    WithinLimits,
    AllowRule,
    Bypass,
    DenyRule,
    OverLimit,
    TableFull,
    Panic,
    NoRuleset,
    TruncatedL2,
    TruncatedL3,
    TruncatedL4,
    BadIpHeader,
    BadL4Header,
    TooDeep,
    TxFull,
    NoMemory,
    LinkDown,
    TooLong,
    Banned,
    RingFull,
    NoCredit,
    TooManyUnits,
    Retransmission,
    NoHeadRoom,
    HeadTooLong,
    LostHead,
    Overlap,
    AmbiguousRequest,
    MalformedRequest,
    MalformedHello,
    InitialBudget,
    NoAnswer,
    FragmentOfRefused,
    OverlappingFragment,
    Answered,
    HoldFull,
    Unreadable,
    WrongChecksum,
    TcpFragment,
    BadHandshake,
    BadAck,
    OutOfWindow,
    RstOutOfWindow,
    BehindEnd,
    Midstream,
    TooManyPieces,
    UnreadableHello,
    DoubtfulOptions,
    Exempt,
    BannedSource,
};

struct ReasonRow {
    Reason reason;
    std::string_view name;  // as the CLI, the metrics and replay print it
    std::string_view help;
};

// The one list of reasons. Counters, CLI, metrics and docs are loops over it.
inline constexpr auto kReasons = std::to_array<ReasonRow>({
    {Reason::Unmatched, "unmatched", "no enforcing rule judged the packet"},
    {Reason::WithinLimits, "within_limits", "every enforcing rule that judged it had room"},
    {Reason::AllowRule, "allow_rule", "a rule with on_match matched: allow, or tag"},
    {Reason::Bypass, "bypass", "within a budget of `bypass`: forwarded before any rule"},
    {Reason::DenyRule, "deny_rule", "a rule with on_match matched: drop, or an answer"},
    {Reason::OverLimit, "over_limit", "a limit had no room; the rule's on_exceed decided"},
    {Reason::TableFull, "table_full", "no place for a new key; the rule's on_full decided"},
    {Reason::Panic, "panic", "forwarded unjudged: panic pass is on"},
    {Reason::NoRuleset, "no_ruleset", "no rule set is loaded; on_no_rules decided"},
    {Reason::TruncatedL2, "truncated_l2", "the frame ends inside the link-layer headers"},
    {Reason::TruncatedL3, "truncated_l3", "the frame ends inside the IP headers"},
    {Reason::TruncatedL4, "truncated_l4",
     "the packet ends inside the TCP, UDP or ICMP header, a first fragment inside a tunnel's"},
    {Reason::BadIpHeader, "bad_ip_header", "an IP header contradicts itself"},
    {Reason::BadL4Header, "bad_l4_header", "a TCP or UDP header contradicts itself"},
    {Reason::TooDeep, "too_deep", "more headers than are followed"},
    {Reason::TxFull, "tx_full", "the other port's queue took no more"},
    {Reason::NoMemory, "no_memory", "no buffer to rewrite the frame in"},
    {Reason::LinkDown, "link_down", "the other port is down"},
    {Reason::TooLong, "too_long", "longer than the other port can send"},
    {Reason::Banned, "banned", "the key is banned; the rule's `ban`, else its on_exceed, decided"},
    {Reason::RingFull, "ring_full", "a worker had no room for a frame that another handed over"},
    {Reason::NoCredit, "no_credit",
     "max_unsynced was used up and the key's owner has not answered"},
    {Reason::TooManyUnits, "too_many_units",
     "more requests, queries or handshakes, or more of their text, than one packet has room for"},
    {Reason::Retransmission, "retransmission", "it repeats what was refused before"},
    {Reason::NoHeadRoom, "no_head_room", "no room to hold a head that is not whole"},
    {Reason::HeadTooLong, "head_too_long", "a head longer than packets.connections.head_bytes"},
    {Reason::LostHead, "lost_head",
     "it goes on with a head whose beginning was given up, or lies too far ahead of one"},
    {Reason::Overlap, "overlap",
     "it repeats bytes of a head with others, or cut so that they cannot be compared"},
    {Reason::AmbiguousRequest, "ambiguous_request",
     "servers read the request differently, or disagree about where it ends"},
    {Reason::MalformedRequest, "malformed_request", "an HTTP request that no server should accept"},
    {Reason::MalformedHello, "malformed_hello",
     "a ClientHello out of form, or where no client sends one, whatever a server makes of it"},
    {Reason::InitialBudget, "initial_budget",
     "a QUIC Initial beyond what packets.quic_initials may cost"},
    {Reason::NoAnswer, "no_answer",
     "the key's owner could not be asked, or has not answered in time"},
    {Reason::FragmentOfRefused, "fragment_of_refused",
     "the first fragment of its datagram was refused"},
    {Reason::OverlappingFragment, "overlapping_fragment",
     "fragments of its datagram claim the same bytes"},
    {Reason::Answered, "answered", "its connection ended with an answer that the box made"},
    {Reason::HoldFull, "hold_full",
     "no room to hold the packet until its departure; the rule's overflow decided"},
    {Reason::Unreadable, "unreadable",
     "bytes of a declared service that are not its protocol, or what follows them"},
    {Reason::WrongChecksum, "wrong_checksum",
     "a segment to or from a declared service whose checksum of IP or TCP is wrong"},
    {Reason::TcpFragment, "tcp_fragment", "an IP fragment of a segment to a declared service"},
    {Reason::BadHandshake, "bad_handshake",
     "a segment to or from a declared service that is of no handshake which was seen"},
    {Reason::BadAck, "bad_ack",
     "a segment of a declared service without ACK, or with one that its receiver would not take"},
    {Reason::OutOfWindow, "out_of_window",
     "bytes beyond the window that their receiver has offered, or of no number it could take"},
    {Reason::RstOutOfWindow, "rst_out_of_window", "a RST that its receiver would not take"},
    {Reason::BehindEnd, "behind_end", "bytes behind a FIN or RST of a declared service"},
    {Reason::Midstream, "midstream",
     "of a connection of a declared service that nobody knows, and no request begins there"},
    {Reason::TooManyPieces, "too_many_pieces",
     "a head or hello in more records, segments or fragments than are put together"},
    {Reason::UnreadableHello, "unreadable_hello",
     "a ClientHello that some servers accept and that is not read: SSLv2's framing, two names"},
    {Reason::DoubtfulOptions, "doubtful_options",
     "options of IP or TCP for which servers drop a segment"},
    {Reason::Exempt, "exempt",
     "the key is exempt from an enforcing rule, and no limit judged the packet"},
    {Reason::BannedSource, "banned_source",
     "its source is banned for all traffic: the rule's `ban` has `applies_to: source`"},
});
inline constexpr std::size_t kReasonCount = kReasons.size();

static_assert(in_enum_order(kReasons, &ReasonRow::reason), "kReasons is indexed by Reason");

[[nodiscard]] constexpr const ReasonRow& row_of(Reason reason) noexcept {
    return kReasons[static_cast<std::size_t>(reason)];
}

}  // namespace sluice

#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// What the parsers of later layers met in packets that they were asked about, which are those that
// a rule reads such fields of; and what became of fragments, where a rule acts.
enum class UnitEvent : std::uint8_t {
    DnsQuery,
    DnsResponse,
    DnsShortHeader,
    DnsBadOpcode,
    DnsNoQuestion,
    DnsTruncated,
    DnsBadLabel,
    DnsBadPointer,
    DnsNameTooLong,
    DnsLongMessage,
    HttpRequest,
    HttpAmbiguous,
    HttpMalformed,
    H2cPreface,
    TlsHello,
    TlsSecondHello,
    HelloTooLong,
    HelloEmptyRecord,
    HelloBadRecord,
    HelloTooManyRecords,
    HelloBadVersion,
    HelloTruncated,
    HelloBadSessionId,
    HelloBadCipherSuites,
    HelloBadCompression,
    HelloBadExtensions,
    HelloRepeatedExtension,
    HelloBadServerName,
    HelloBadAlpn,
    HelloBadSupportedVersions,
    HelloBadSignatureAlgorithms,
    QuicPacket,
    QuicHello,
    QuicHelloAgain,
    QuicNeedMore,
    QuicShort,
    QuicNotAuthentic,
    QuicOverBudget,
    QuicMalformed,
    QuicTooLong,
    QuicPartsLost,
    QuicGivenUp,
    QuicForgotten,
    TooManyUnits,
    NoProxiedClient,
    FragmentFirst,
    FragmentFollowed,
    FragmentOrphan,
    FragmentOverlap,
    FragmentEvicted,
};

struct UnitEventRow {
    UnitEvent event;
    std::string_view name;  // as the CLI and the metrics print it
    std::string_view help;
};

// The one list. What is malformed has no fields of its layer, and no limit counts it as a unit.
inline constexpr auto kUnitEvents = std::to_array<UnitEventRow>({
    {UnitEvent::DnsQuery, "dns_query", "questions of DNS queries"},
    {UnitEvent::DnsResponse, "dns_response", "DNS responses"},
    {UnitEvent::DnsShortHeader, "dns_short_header", "port 53, shorter than a header"},
    {UnitEvent::DnsBadOpcode, "dns_bad_opcode", "port 53, an opcode that is not assigned"},
    {UnitEvent::DnsNoQuestion, "dns_no_question", "port 53, no question"},
    {UnitEvent::DnsTruncated, "dns_truncated", "port 53, it ends inside its question"},
    {UnitEvent::DnsBadLabel, "dns_bad_label", "port 53, a reserved kind of label"},
    {UnitEvent::DnsBadPointer, "dns_bad_pointer", "port 53, compression that leads nowhere"},
    {UnitEvent::DnsNameTooLong, "dns_name_too_long", "port 53, a name of more than 255 bytes"},
    {UnitEvent::DnsLongMessage, "dns_long_message", "over TCP, longer than what is held of one"},
    {UnitEvent::HttpRequest, "http_request", "requests of HTTP/1"},
    {UnitEvent::HttpAmbiguous, "http_ambiguous", "requests that servers read differently"},
    {UnitEvent::HttpMalformed, "http_malformed", "requests that no server should accept"},
    {UnitEvent::H2cPreface, "h2c_preface", "connections that begin with HTTP/2 in clear"},
    {UnitEvent::TlsHello, "tls_hello", "ClientHellos over TCP"},
    {UnitEvent::TlsSecondHello, "tls_second_hello",
     "ClientHellos behind the first of their connection"},
    {UnitEvent::HelloTooLong, "hello_too_long",
     "malformed ClientHellos: longer than there is room for"},
    {UnitEvent::HelloEmptyRecord, "hello_empty_record",
     "malformed ClientHellos: a record of no bytes"},
    {UnitEvent::HelloBadRecord, "hello_bad_record",
     "malformed ClientHellos: another kind of record inside"},
    {UnitEvent::HelloTooManyRecords, "hello_too_many_records",
     "malformed ClientHellos: in too many records"},
    {UnitEvent::HelloBadVersion, "hello_bad_version",
     "malformed ClientHellos: a version before SSL 3.0"},
    {UnitEvent::HelloTruncated, "hello_truncated",
     "malformed ClientHellos: it ends before its fields"},
    {UnitEvent::HelloBadSessionId, "hello_bad_session_id",
     "malformed ClientHellos: a session id that is too long"},
    {UnitEvent::HelloBadCipherSuites, "hello_bad_cipher_suites",
     "malformed ClientHellos: no cipher suites, or half of one"},
    {UnitEvent::HelloBadCompression, "hello_bad_compression",
     "malformed ClientHellos: no compression method"},
    {UnitEvent::HelloBadExtensions, "hello_bad_extensions",
     "malformed ClientHellos: extensions do not fill their block"},
    {UnitEvent::HelloRepeatedExtension, "hello_repeated_extension",
     "malformed ClientHellos: an extension stands there twice"},
    {UnitEvent::HelloBadServerName, "hello_bad_server_name",
     "malformed ClientHellos: a name that no server accepts"},
    {UnitEvent::HelloBadAlpn, "hello_bad_alpn",
     "malformed ClientHellos: protocols do not fill their list"},
    {UnitEvent::HelloBadSupportedVersions, "hello_bad_supported_versions",
     "malformed ClientHellos: no versions, or half of one"},
    {UnitEvent::HelloBadSignatureAlgorithms, "hello_bad_signature_algorithms",
     "malformed ClientHellos: none, or half of one"},
    {UnitEvent::QuicPacket, "quic_packet", "datagrams with a long header of QUIC"},
    {UnitEvent::QuicHello, "quic_hello", "ClientHellos over QUIC, each connection's once"},
    {UnitEvent::QuicHelloAgain, "quic_hello_again",
     "Initials of connections whose hello was judged"},
    {UnitEvent::QuicNeedMore, "quic_need_more", "Initials with a part of a ClientHello"},
    {UnitEvent::QuicShort, "quic_short",
     "Initials in datagrams under 1,200 bytes, which servers drop"},
    {UnitEvent::QuicNotAuthentic, "quic_not_authentic",
     "Initials not under the keys of their connection id"},
    {UnitEvent::QuicOverBudget, "quic_over_budget", "Initials that there was no time to decrypt"},
    {UnitEvent::QuicMalformed, "quic_malformed",
     "Initials with frames or messages that none may have"},
    {UnitEvent::QuicTooLong, "quic_too_long", "hellos beyond the room for one"},
    {UnitEvent::QuicPartsLost, "quic_parts_lost",
     "Initials of hellos whose beginning was given up"},
    {UnitEvent::QuicGivenUp, "quic_given_up", "hellos given up: too slow, or for newer ones"},
    {UnitEvent::QuicForgotten, "quic_forgotten", "judged connections forgotten for newer ones"},
    {UnitEvent::TooManyUnits, "too_many_units", "packets that have no room for all of theirs"},
    {UnitEvent::NoProxiedClient, "no_proxied_client",
     "requests of a trusted proxy whose header names no client"},
    {UnitEvent::FragmentFirst, "fragment_first", "first fragments whose verdict later ones meet"},
    {UnitEvent::FragmentFollowed, "fragment_followed", "later fragments whose first one is known"},
    {UnitEvent::FragmentOrphan, "fragment_orphan",
     "later fragments whose first one is not known: judged by their own headers"},
    {UnitEvent::FragmentOverlap, "fragment_overlap",
     "fragments that claim bytes of others, and all that follow them"},
    {UnitEvent::FragmentEvicted, "fragment_evicted", "datagrams forgotten for newer ones"},
});
inline constexpr std::size_t kUnitEventCount = kUnitEvents.size();

constexpr bool unit_events_in_enum_order() noexcept {
    for (std::size_t i = 0; i < kUnitEvents.size(); ++i) {
        if (static_cast<std::size_t>(kUnitEvents[i].event) != i) {
            return false;
        }
    }
    return true;
}
static_assert(unit_events_in_enum_order(), "kUnitEvents is indexed by UnitEvent");

}  // namespace sluice

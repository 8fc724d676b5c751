#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// What the parsers of later layers met in packets that they were asked about, which are those that
// a rule reads such fields of.
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
    TooManyUnits,
    NoProxiedClient,
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
    {UnitEvent::TooManyUnits, "too_many_units", "packets that have no room for all of theirs"},
    {UnitEvent::NoProxiedClient, "no_proxied_client",
     "requests of a trusted proxy whose header names no client"},
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

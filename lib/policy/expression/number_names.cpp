#include "lib/policy/expression/number_names.hpp"

#include "lib/policy/expression/value_parser.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {
namespace {

constexpr auto kHandshakes = std::to_array<NumberName>({{"client_hello", kClientHello}});

// Names from the IANA's "Assigned Internet Protocol Numbers", and what people call two of them.
constexpr auto kProtocols = std::to_array<NumberName>(
    {{"icmp", 1},  {"igmp", 2},    {"ipip", 4},       {"tcp", 6},    {"udp", 17},
     {"dccp", 33}, {"ipv6", 41},   {"rsvp", 46},      {"gre", 47},   {"esp", 50},
     {"ah", 51},   {"icmpv6", 58}, {"ipv6-icmp", 58}, {"eigrp", 88}, {"ospf", 89},
     {"pim", 103}, {"vrrp", 112},  {"l2tp", 115},     {"sctp", 132}, {"udplite", 136}});

// Names from the IANA's "Resource Record (RR) TYPEs" and QTYPEs, of types that are asked for.
constexpr auto kQueryTypes = std::to_array<NumberName>(
    {{"A", 1},       {"NS", 2},      {"CNAME", 5},      {"SOA", 6},         {"NULL", 10},
     {"WKS", 11},    {"PTR", 12},    {"HINFO", 13},     {"MINFO", 14},      {"MX", 15},
     {"TXT", 16},    {"RP", 17},     {"AFSDB", 18},     {"X25", 19},        {"ISDN", 20},
     {"RT", 21},     {"SIG", 24},    {"KEY", 25},       {"GPOS", 27},       {"AAAA", 28},
     {"LOC", 29},    {"NXT", 30},    {"SRV", 33},       {"NAPTR", 35},      {"KX", 36},
     {"CERT", 37},   {"A6", 38},     {"DNAME", 39},     {"OPT", 41},        {"APL", 42},
     {"DS", 43},     {"SSHFP", 44},  {"IPSECKEY", 45},  {"RRSIG", 46},      {"NSEC", 47},
     {"DNSKEY", 48}, {"DHCID", 49},  {"NSEC3", 50},     {"NSEC3PARAM", 51}, {"TLSA", 52},
     {"SMIMEA", 53}, {"HIP", 55},    {"CDS", 59},       {"CDNSKEY", 60},    {"OPENPGPKEY", 61},
     {"CSYNC", 62},  {"ZONEMD", 63}, {"SVCB", 64},      {"HTTPS", 65},      {"DSYNC", 66},
     {"SPF", 99},    {"NID", 104},   {"L32", 105},      {"L64", 106},       {"LP", 107},
     {"EUI48", 108}, {"EUI64", 109}, {"NXNAME", 128},   {"TKEY", 249},      {"TSIG", 250},
     {"IXFR", 251},  {"AXFR", 252},  {"MAILB", 253},    {"MAILA", 254},     {"ANY", 255},
     {"URI", 256},   {"CAA", 257},   {"AMTRELAY", 260}, {"DLV", 32769}});

}  // namespace

std::span<const NumberName> names_of_numbers(Field field) noexcept {
    return field == Field::IpProto ? std::span<const NumberName>{kProtocols}
                                   : std::span<const NumberName>{};
}

std::span<const NumberName> names_of_numbers(TextField field) noexcept {
    switch (field) {
        case TextField::TlsHandshakeType:
            return kHandshakes;
        case TextField::DnsQtype:
            return kQueryTypes;
        default:
            return {};
    }
}

const NumberName* find_number_name(std::span<const NumberName> names, std::string_view name) {
    const std::string small = lowered(name);
    const auto found = std::ranges::find_if(
        names, [&](const NumberName& one) { return lowered(one.name) == small; });
    return found == names.end() ? nullptr : &*found;
}

}  // namespace sluice

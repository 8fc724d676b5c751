#include "lib/policy/expression/number_names.hpp"

#include "lib/policy/expression/value_parser.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto kHandshakes = std::to_array<NumberName>({{"client_hello", kClientHello}});

// Of the IANA's "Assigned Internet Protocol Numbers", and what people call two of them.
constexpr auto kProtocols = std::to_array<NumberName>(
    {{"icmp", 1},  {"igmp", 2},    {"ipip", 4},       {"tcp", 6},    {"udp", 17},
     {"dccp", 33}, {"ipv6", 41},   {"rsvp", 46},      {"gre", 47},   {"esp", 50},
     {"ah", 51},   {"icmpv6", 58}, {"ipv6-icmp", 58}, {"eigrp", 88}, {"ospf", 89},
     {"pim", 103}, {"vrrp", 112},  {"l2tp", 115},     {"sctp", 132}, {"udplite", 136}});

}  // namespace

std::span<const NumberName> names_of_numbers(const Operand& operand) noexcept {
    if (operand.text == TextField::TlsHandshakeType) {
        return kHandshakes;
    }
    return operand.field == Field::IpProto ? std::span<const NumberName>{kProtocols}
                                           : std::span<const NumberName>{};
}

std::optional<std::uint64_t> find_number(std::span<const NumberName> names, std::string_view name) {
    const std::string small = lowered(name);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const NumberName& one) { return one.name == small; });
    return found == names.end() ? std::nullopt : std::optional{found->number};
}

}  // namespace sluice

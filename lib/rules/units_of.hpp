#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/window_limit.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>

namespace sluice {

// A SYN without ACK, repeats included.
[[nodiscard]] inline bool opens_connection(unsigned tcp_flags) noexcept {
    constexpr unsigned kSyn = 0x002;
    constexpr unsigned kAck = 0x010;
    return (tcp_flags & (kSyn | kAck)) == kSyn;
}
[[nodiscard]] inline bool opens_connection(const PacketHeaders& headers) noexcept {
    return opens_connection(headers.tcp_flags) && headers.fields.has(Field::TcpFlags);
}

// The units, of those a limit counts, that a packet has by its headers. 0: nothing, so the limit
// does not judge it. Units of later layers are no matter of headers.
[[nodiscard]] inline Units units_of(Per per, const PacketHeaders& headers) noexcept {
    switch (per) {
        case Per::Packet:
            return Units{1};
        case Per::Byte:
            return Units{headers.byte_units};
        case Per::Connection:
            return Units{opens_connection(headers) ? 1U : 0U};
        default:
            return Units{0};
    }
}

// The cost of a packet under a limit of the rule.
static_assert(kMaxCost <= kMostCount / UINT32_MAX, "no cost of a packet overflows a meter");
[[nodiscard]] inline Units cost_of(const RuleTerms& rule, Per per,
                                   const PacketHeaders& headers) noexcept {
    return Units{units_of(per, headers).count() * rule.cost};
}

}  // namespace sluice

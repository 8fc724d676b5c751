#pragma once
#include "lib/l7/stream/service.hpp"
#include "lib/policy/clauses/clause.hpp"
#include "lib/policy/compile.hpp"

#include <array>
#include <cstdint>

namespace sluice {

inline constexpr auto kServiceProtocols = std::to_array<ServiceProtocol>(
    {ServiceProtocol::Http, ServiceProtocol::Tls, ServiceProtocol::Dns, ServiceProtocol::Quic});

// Some protocols of later layers.
class ProtocolSet {
public:
    constexpr ProtocolSet() noexcept = default;
    constexpr ProtocolSet(std::initializer_list<ServiceProtocol> protocols) noexcept {
        for (const ServiceProtocol protocol : protocols) {
            bits_ |= bit(protocol);
        }
    }
    constexpr void add_all(ProtocolSet other) noexcept { bits_ |= other.bits_; }
    [[nodiscard]] constexpr bool has(ServiceProtocol protocol) const noexcept {
        return (bits_ & bit(protocol)) != 0;
    }
    [[nodiscard]] constexpr ProtocolSet common(ProtocolSet other) const noexcept {
        other.bits_ = static_cast<std::uint8_t>(other.bits_ & bits_);
        return other;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] constexpr bool operator==(const ProtocolSet&) const noexcept = default;

private:
    [[nodiscard]] static constexpr std::uint8_t bit(ServiceProtocol protocol) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(protocol));
    }
    std::uint8_t bits_ = 0;
};

// Protocols whose units have the field; none: a packet has it by itself, or units of all have it.
// Names of headers, cookies and functions count as what they stand for.
[[nodiscard]] ProtocolSet protocols_of(TextField field, const TextNames& names);

// Protocols whose units a rule can match or count; none: it is over no later layer. `with_clients`:
// requests name clients.
[[nodiscard]] ProtocolSet protocols_of(const Rule& rule, const Expression& condition,
                                       const TextNames& names, bool with_clients);

// Protocols of `read`, those a rule is over, whose units can satisfy this clause of its condition.
[[nodiscard]] ProtocolSet protocols_of(const Clause& clause, const SetPool& pool, ProtocolSet read,
                                       const TextNames& names);

}  // namespace sluice

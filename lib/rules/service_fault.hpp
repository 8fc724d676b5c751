#pragma once
#include "lib/l7/stream/service.hpp"
#include "lib/match/classifier.hpp"
#include "lib/packet/field.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMaxServiceProxies = 4096;  // networks of one service

// Fields that all packets of a connection in its client's direction share, and that are known
// before any origin is looked up: the condition of a service tests these alone.
inline constexpr auto kServiceFields = std::to_array<Field>(
    {Field::Dir, Field::Port, Field::VlanId, Field::VlanInnerId, Field::IpVersion, Field::IpSrc,
     Field::IpDst, Field::IpProto, Field::L4Sport, Field::L4Dport});
[[nodiscard]] constexpr bool is_service_field(Field field) noexcept {
    return std::find(kServiceFields.begin(), kServiceFields.end(), field) != kServiceFields.end();
}

// Options that the reader of a protocol knows how to treat.
[[nodiscard]] constexpr bool runs_over_tcp(ServiceProtocol protocol) noexcept {
    return protocol != ServiceProtocol::Quic;
}
[[nodiscard]] constexpr bool runs_over_udp(ServiceProtocol protocol) noexcept {
    return protocol == ServiceProtocol::Dns || protocol == ServiceProtocol::Quic;
}
[[nodiscard]] constexpr bool may_upgrade(ServiceProtocol protocol) noexcept {
    return protocol == ServiceProtocol::Http;
}
// Connections of requests in clear begin anew at each of them; of others a part that is met in the
// middle says nothing.
[[nodiscard]] constexpr Midstream default_midstream(ServiceProtocol protocol) noexcept {
    return protocol == ServiceProtocol::Http || protocol == ServiceProtocol::Dns
               ? Midstream::Inspect
               : Midstream::Pass;
}
// Clients that would go on in HTTP/2 where the server agrees are answered in HTTP/1.1 where it is
// not asked.
[[nodiscard]] constexpr OnH2c default_on_h2c(ServiceProtocol protocol) noexcept {
    return may_upgrade(protocol) ? OnH2c::Strip : OnH2c::Refuse;
}

// Checks that every number of the services, and of the classifier that finds them, is what the
// workers rely on. nullopt: it is; else what is wrong.
[[nodiscard]] std::optional<std::string> find_service_fault(const std::vector<Service>& services,
                                                            const Classifier& classifier);

}  // namespace sluice

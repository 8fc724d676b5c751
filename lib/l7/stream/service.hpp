#pragma once
#include "lib/base/config_key.hpp"
#include "lib/base/mode.hpp"
#include "lib/packet/ip_address.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Services that an operator declares: all that reaches one is its protocol, from the SYN on.
namespace sluice {

inline constexpr std::size_t kMaxServices = 256;

enum class ServiceProtocol : std::uint8_t { Http, Tls, Dns, Quic };
inline constexpr auto kServiceProtocolNames =
    std::to_array<std::string_view>({"http", "tls", "dns", "quic"});

// The fate of bytes that the protocol's reader cannot follow. Count: they are charged as one
// request each MSS. Pass: they are forwarded, and counted.
enum class OnUnreadable : std::uint8_t { Refuse, Count, Pass };
inline constexpr auto kOnUnreadableNames =
    std::to_array<std::string_view>({"refuse", "count", "pass"});

// The fate of segments of a connection whose beginning was not seen, or has been forgotten.
enum class Midstream : std::uint8_t { Inspect, Reset, Pass };
inline constexpr auto kMidstreamNames =
    std::to_array<std::string_view>({"inspect", "reset", "pass"});

// Verification of checksums of IP, TCP and UDP. Auto: once 64 frames of a port came right.
enum class Checksums : std::uint8_t { Auto, Verify, Trust };
inline constexpr auto kChecksumsNames =
    std::to_array<std::string_view>({"auto", "verify", "trust"});

// Directions of a connection that come to the box.
enum class ServicePath : std::uint8_t { Both, Inbound };
inline constexpr auto kServicePathNames = std::to_array<std::string_view>({"both", "inbound"});

// The fate of a request that asks to go on in HTTP/2 in clear. Strip: its Upgrade and
// HTTP2-Settings lines are taken out.
enum class OnH2c : std::uint8_t { Refuse, Strip };
inline constexpr auto kOnH2cNames = std::to_array<std::string_view>({"refuse", "strip"});

// Requests to go on in another protocol that pass: after the server's 101, after its 2xx.
struct PassedUpgrades {
    bool websocket = false;
    bool connect = false;

    bool operator==(const PassedUpgrades&) const = default;
};
inline constexpr auto kUpgradeWords = std::to_array<std::string_view>({"websocket", "connect"});

// Time to live that a client's segments have at least when they are forwarded.
inline constexpr std::uint8_t kDefaultMinTtl = 32;

struct Service {
    std::string id;
    ServiceProtocol protocol = ServiceProtocol::Http;
    Mode mode = Mode::Monitor;
    OnUnreadable on_unreadable = OnUnreadable::Refuse;
    Midstream midstream = Midstream::Inspect;
    Checksums checksums = Checksums::Auto;
    ServicePath path = ServicePath::Both;
    OnH2c on_h2c = OnH2c::Refuse;
    PassedUpgrades upgrades;
    std::uint8_t min_ttl = kDefaultMinTtl;
    // Networks whose connections begin with a PROXY protocol header (v1 or v2).
    std::vector<IpPrefix> proxies;
};

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

// One whose file names no setting.
[[nodiscard]] inline Service service_of(ServiceProtocol protocol) {
    Service service;
    service.protocol = protocol;
    service.midstream = default_midstream(protocol);
    service.on_h2c = default_on_h2c(protocol);
    return service;
}

[[nodiscard]] constexpr bool is_any_service(ServiceProtocol) noexcept {
    return true;
}

// Keys of a service that its protocol has or has not.
template <typename Rows>
struct ServiceKeys {
    bool (*fit)(ServiceProtocol) noexcept;
    Rows rows;
};
template <typename Rows>
ServiceKeys(bool (*)(ServiceProtocol) noexcept, Rows) -> ServiceKeys<Rows>;

// Settings: every key but those that name it, its protocol, its clients and its mode.
inline constexpr auto kServiceKeys = std::tuple{
    ServiceKeys{is_any_service,
                std::tuple{ConfigKey{"on_unreadable", &Service::on_unreadable,
                                     form::Word{kOnUnreadableNames}},
                           ConfigKey{"checksums", &Service::checksums, form::Word{kChecksumsNames}},
                           ConfigKey{"path", &Service::path, form::Word{kServicePathNames}}}},
    ServiceKeys{
        runs_over_tcp,
        std::tuple{ConfigKey{"midstream", &Service::midstream, form::Word{kMidstreamNames}},
                   ConfigKey{"min_ttl", &Service::min_ttl,
                             form::Plain{{1, UINT8_MAX}, "a number from 1 to 255, found 0"}},
                   ConfigKey{"proxy_protocol", &Service::proxies, form::Own{}}}},
    ServiceKeys{may_upgrade,
                std::tuple{ConfigKey{"upgrades", &Service::upgrades, form::Own{}},
                           ConfigKey{"h2c", &Service::on_h2c, form::Word{kOnH2cNames}}}},
};

// Calls `visit` with each of the rows, and whether the protocol has it.
constexpr void for_each_service_key(ServiceProtocol protocol, auto&& visit) {
    for_each_key(kServiceKeys, [&](const auto& keys) {
        for_each_key(keys.rows, [&](const auto& row) { visit(row, keys.fit(protocol)); });
    });
}

}  // namespace sluice

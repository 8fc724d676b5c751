#pragma once
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
    bool passes_websocket = false;  // after the server's 101
    bool passes_connect = false;    // after the server's 2xx
    std::uint8_t min_ttl = kDefaultMinTtl;
    // Networks whose connections begin with a PROXY protocol header (v1 or v2).
    std::vector<IpPrefix> proxies;
};

}  // namespace sluice

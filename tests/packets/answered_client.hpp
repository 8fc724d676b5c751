#pragma once
#include "tests/packets/frame.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <cstdint>
#include <string_view>

// Packets of one client, of what a box answers it instead of its server, and of that server.
namespace sluice::test::answered_client {

inline constexpr std::uint32_t kFirst = 1000;  // the client's number of its first byte
inline constexpr std::uint32_t kTheirs = 7;    // the server's, of the byte that the client awaits
inline constexpr std::uint16_t kFin = 0x01;
inline constexpr std::uint16_t kSyn = 0x02;
inline constexpr std::uint16_t kRst = 0x04;
inline constexpr std::uint16_t kAck = 0x10;

inline Frame from_client(std::string_view text = {}, std::uint32_t at = 0,
                         std::uint16_t flags = kAck) {
    return tcp()
        .src("10.0.0.1")
        .dst("10.0.0.2")
        .sport(40'000)
        .dport(80)
        .seq(kFirst + at)
        .ack(kTheirs)
        .flags(flags)
        .carries(octets_of(text));
}
inline Frame from_server(std::uint32_t acknowledged, std::uint16_t flags = kAck) {
    return tcp()
        .src("10.0.0.2")
        .dst("10.0.0.1")
        .sport(80)
        .dport(40'000)
        .seq(kTheirs)
        .ack(acknowledged)
        .flags(flags);
}
inline Frame hello(std::string_view host) {
    return from_client().dport(443).carries(HelloMaker{}.sni(host).records());
}

// Over UDP, to a port of a server.
inline Frame datagram(std::uint16_t port, const Octets& bytes) {
    return Frame{17}.src("10.0.0.1").dst("10.0.0.2").sport(4000).dport(port).carries(bytes);
}
// A query for www.example.com with RD.
inline Octets query() {
    return from_hex(
        "000701000001000000000000"
        "03777777076578616d706c6503636f6d00"
        "00010001");
}
inline Frame asks() {
    return datagram(53, query());
}

}  // namespace sluice::test::answered_client

#pragma once
#include "tests/packets/verdict_case.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Segments of one connection to a declared service, for tables of packets.
namespace sluice::test {

using namespace std::chrono_literals;

inline constexpr std::uint32_t kClientIss = 1000;
inline constexpr std::uint32_t kServerIss = 5000;
inline constexpr std::uint16_t kFin = 0x01;
inline constexpr std::uint16_t kSyn = 0x02;
inline constexpr std::uint16_t kRst = 0x04;
inline constexpr std::uint16_t kAck = 0x10;
inline constexpr std::uint16_t kUrg = 0x20;

inline Octets bytes_of_text(std::string_view text) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
}

// A segment of the client, so many bytes behind its first one.
inline Frame client(std::string_view text, std::uint32_t at = 0, std::uint32_t acked = 0) {
    return tcp()
        .src("10.0.0.1")
        .dst("192.0.2.1")
        .sport(40'000)
        .dport(80)
        .flags(kAck)
        .seq(kClientIss + 1 + at)
        .ack(kServerIss + 1 + acked)
        .carries(bytes_of_text(text));
}
inline Frame server(std::string_view text, std::uint32_t at = 0, std::uint32_t acked = 0) {
    return tcp()
        .src("192.0.2.1")
        .dst("10.0.0.1")
        .sport(80)
        .dport(40'000)
        .flags(kAck)
        .seq(kServerIss + 1 + at)
        .ack(kClientIss + 1 + acked)
        .carries(bytes_of_text(text))
        .from_inside();
}
inline Frame syn(std::uint32_t iss = kClientIss) {
    return client("").flags(kSyn).seq(iss).ack(0);
}
inline Frame syn_ack(std::uint32_t iss = kServerIss, std::uint32_t client_iss = kClientIss) {
    return server("").flags(kSyn | kAck).seq(iss).ack(client_iss + 1);
}

inline const std::string kLogin = "GET /login HTTP/1.1\r\nHost: a\r\n\r\n";
inline const auto kLoginSize = static_cast<std::uint32_t>(kLogin.size());

// The handshake, then these.
inline std::vector<Step> opened(std::vector<Step> steps) {
    steps.insert(steps.begin(), {{0ms, syn(), "pass", "unmatched"},
                                 {0ms, syn_ack(), "pass", "unmatched"},
                                 {0ms, client(""), "pass", "unmatched"}});
    return steps;
}

}  // namespace sluice::test

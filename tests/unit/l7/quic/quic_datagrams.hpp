#pragma once
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

// Datagrams of QUIC clients, for tests.
namespace sluice::test {

inline constexpr std::size_t kInitialPayload = 1190;  // makes a datagram of 1,200 bytes and more

[[nodiscard]] inline Octets quic_hello(std::string_view name) {
    return HelloMaker{}.sni(name).alpn({"h3"}).versions({0x0304}).message();
}
[[nodiscard]] inline Octets quic_id(unsigned number) {
    Octets id(8, std::byte{0xD1});
    id[0] = static_cast<std::byte>(number >> 8);
    id[1] = static_cast<std::byte>(number);
    return id;
}
// The whole hello in one datagram.
[[nodiscard]] inline InitialMaker quic_initial(std::string_view name, unsigned id = 1) {
    return InitialMaker{}
        .dcid(quic_id(id))
        .carries(crypto(0, quic_hello(name)))
        .padded_to(kInitialPayload);
}
// Its bytes from `begin` to `end`.
[[nodiscard]] inline InitialMaker quic_part(const Octets& hello, std::size_t begin, std::size_t end,
                                            unsigned id = 1) {
    return InitialMaker{}
        .dcid(quic_id(id))
        .carries(crypto(begin, hello, begin, end))
        .padded_to(kInitialPayload);
}
[[nodiscard]] inline Octets quic_frame(const Octets& datagram, std::string_view src = "10.0.0.1",
                                       std::uint16_t sport = 40'000, std::uint16_t dport = 443) {
    return Frame{17}.src(src).sport(sport).dport(dport).carries(datagram).bytes();
}

}  // namespace sluice::test

#include "tests/pktgen/address_text.hpp"

#include "lib/base/bytes.hpp"

#include <charconv>
#include <string>

#include <arpa/inet.h>

namespace sluice::pktgen {

Result<Destination> read_destination(std::string_view text) {
    const std::string whole{text};
    std::array<std::byte, 16> address{};
    Destination read;
    if (::inet_pton(AF_INET, whole.c_str(), address.data()) == 1) {
        read.v4 = load_be32(address, 0);
        return read;
    }
    if (::inet_pton(AF_INET6, whole.c_str(), address.data()) == 1) {
        read.family = Family::V6;
        read.v6 = {load_be<std::uint64_t>(address.data()),
                   load_be<std::uint64_t>(address.data() + 8)};
        return read;
    }
    return Error{Errc::BadSyntax, "`" + whole + "` is no address of IPv4 or IPv6"};
}

void take(const Destination& destination, Route& route) {
    route.family = destination.family;
    if (destination.family == Family::V4) {
        route.dst_v4 = destination.v4;
    } else {
        route.dst_v6 = destination.v6;
    }
}

Result<std::array<std::uint8_t, 6>> read_mac(std::string_view text) {
    constexpr std::size_t kLength = 17;
    std::array<std::uint8_t, 6> mac{};
    const Error bad{Errc::BadSyntax,
                    "`" + std::string{text} + "` is no MAC address: 02:00:00:00:00:02"};
    if (text.size() != kLength) {
        return bad;
    }
    for (std::size_t i = 0; i < mac.size(); ++i) {
        const char* from = text.data() + i * 3;
        const auto [end, error] = std::from_chars(from, from + 2, mac[i], 16);
        if (error != std::errc{} || end != from + 2 || (i < 5 && *end != ':')) {
            return bad;
        }
    }
    return mac;
}

}  // namespace sluice::pktgen

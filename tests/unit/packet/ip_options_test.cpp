#include "lib/packet/ip_options.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Packets that some host drops for what stands between the header of IP and that of the transport.
namespace sluice::ip_options_test {
namespace {

using test::Frame;
using test::head_of;
using test::Octets;
using test::seen;
using test::udp;

// Digits in pairs, with blanks where they help who reads them.
Octets from_hex(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        digits += c == ' ' ? "" : std::string(1, c);
    }
    Octets out;
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        out.push_back(static_cast<std::byte>(std::stoul(digits.substr(at, 2), nullptr, 16)));
    }
    return out;
}

struct Row {
    std::string_view name;
    Frame frame;
    bool is_taken = false;
};

void expect(const Row& row) {
    const Octets bytes = row.frame.bytes();
    const PacketHeaders headers = seen(bytes);
    ASSERT_FALSE(is_malformed(headers.parsed)) << row.name;
    EXPECT_EQ(is_taken_by_hosts(headers, bytes), row.is_taken) << row.name;
}

Frame v4(std::string_view options) {
    return udp().options(from_hex(options)).payload(8);
}

TEST(IpOptions, OfIpv4PaddingAndRouterAlertAreTaken) {
    for (const Row& row : {
             Row{"none", udp(), true},
             Row{"no operation", v4("01010101"), true},
             Row{"the end, and anything behind it", v4("00834483"), true},
             Row{"router alert", v4("94040000"), true},
             Row{"router alert behind others", v4("0194040000010101"), true},
             Row{"router alert that is too long", v4("94060000000000 01"), false},
             Row{"router alert that is too short", v4("9402 0101"), false},
             Row{"a loose source route", v4("830703c000020100"), false},
             Row{"a strict one behind padding", v4("0189070400000000"), false},
             Row{"record route", v4("070704c0000201 00"), false},
             Row{"a timestamp", v4("4408050000000000"), false},
             Row{"a label", v4("8206000000010000"), false},
             Row{"an unknown kind", v4("1e040000"), false},
             Row{"a kind without its length", v4("0101 0194"), false},
             Row{"a length of none", v4("94000000"), false},
             Row{"a length beyond the header", v4("94050000"), false},
         }) {
        expect(row);
    }
}

Frame v6(std::uint8_t first, std::string_view headers) {
    return udp()
        .src("2001:db8::1")
        .dst("2001:db8::2")
        .extensions(first, from_hex(headers))
        .payload(8);
}
constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kRouting = 43;
constexpr std::uint8_t kFragment = 44;
constexpr std::uint8_t kDestination = 60;

TEST(IpOptions, OfIpv6PaddingAndOneRouterAlertAreTaken) {
    for (const Row& row : {
             Row{"none", udp().src("2001:db8::1").dst("2001:db8::2"), true},
             Row{"one pad", v6(kDestination, "1100 010400000000"), true},
             Row{"pads of one byte", v6(kHopByHop, "1100 000000000000"), true},
             Row{"router alert, hop by hop", v6(kHopByHop, "1100 05020000 0100"), true},
             Row{"router alert of a destination", v6(kDestination, "1100 05020000 0100"), false},
             Row{"two of them", v6(kHopByHop, "1101 05020000 05020000 010400000000"), false},
             Row{"router alert that is too long", v6(kHopByHop, "1100 0503000000 00"), false},
             Row{"padding that is not zero", v6(kDestination, "1100 010400000100"), false},
             Row{"a jumbo length", v6(kHopByHop, "1100 c20400010000"), false},
             Row{"an option beyond its header", v6(kHopByHop, "1100 010500000000"), false},
             Row{"a kind without its length", v6(kHopByHop, "1100 0103000000 01"), false},
         }) {
        expect(row);
    }
}

TEST(IpOptions, SevenBytesOfPaddingInARowAreTaken) {
    for (const Row& row : {
             Row{"seven", v6(kHopByHop, "1101 01050000000000 05020000 010100"), true},
             Row{"eight", v6(kHopByHop, "1101 0106000000000000 05020000 0100"), false},
             Row{"seven and one", v6(kHopByHop, "1101 01050000000000 00 05020000 0100"), false},
             Row{"fourteen", v6(kDestination, "1101 010c000000000000000000000000"), false},
         }) {
        expect(row);
    }
}

TEST(IpOptions, ExtensionHeadersOfIpv6InTheirPlaces) {
    const std::string_view pad = "010400000000";
    const auto headers = [&](std::string_view next) {
        return std::string{next} + "00" + pad.data();
    };
    for (const Row& row : {
             Row{"hop by hop, then a destination's", v6(kHopByHop, headers("3c") + headers("11")),
                 true},
             Row{"a destination's twice", v6(kDestination, headers("3c") + headers("11")), true},
             Row{"hop by hop behind another", v6(kDestination, headers("00") + headers("11")),
                 false},
             Row{"a routing header", v6(kRouting, "1100 0000 00000000"), false},
             Row{"a fragment that is all of it", v6(kFragment, "1100 0000 00000001"), true},
             Row{"two of them", v6(kFragment, "2c00 0000 00000001 1100 0000 00000002"), false},
             Row{"a destination's behind it", v6(kFragment, "3c00 0000 00000001" + headers("11")),
                 true},
         }) {
        expect(row);
    }
}

TEST(IpOptions, OfALaterFragmentTheHeadersBeforeItCount) {
    const Frame later = udp().src("2001:db8::1").dst("2001:db8::2").frag(9, true).payload(64);
    expect({"none", later, true});
    expect({"a pad", Frame{later}.extensions(kDestination, from_hex("2c00 010400000000")), true});
    expect({"a jumbo length", Frame{later}.extensions(kHopByHop, from_hex("2c00 c20400010000")),
            false});
    expect({"a source route", udp().frag(9, true).options(from_hex("830703c000020100")).payload(64),
            false});
}

// A header that is not at hand is not held against a packet of IPv6; an option of IPv4 is whole or
// unsound.
TEST(IpOptions, AsFarAsTheyAreAtHand) {
    const Octets v6_bytes = v6(kHopByHop, "1101 010400000000 c206000000000000").bytes();
    for (std::size_t size = 0; size <= v6_bytes.size(); ++size) {
        const Octets held = head_of(v6_bytes, size);
        const PacketHeaders headers = seen(v6_bytes);
        EXPECT_EQ(is_taken_by_hosts(headers, held), size < 14 + 40 + 16) << size;
    }
    const Octets v4_bytes = v4("0183070400000000").bytes();
    const PacketHeaders headers = seen(v4_bytes);
    EXPECT_TRUE(is_taken_by_hosts(headers, head_of(v4_bytes, 14 + 20 + 1)));
    EXPECT_FALSE(is_taken_by_hosts(headers, head_of(v4_bytes, 14 + 20 + 2)));
}

}  // namespace
}  // namespace sluice::ip_options_test

#include "lib/packet/ipv6.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

namespace sluice::ipv6_test {
namespace {

using test::extension;
using test::Frame;
using test::head_of;
using test::joined;
using test::Octets;
using test::seen;
using test::tcp;
using test::udp;

Frame udp6() {
    return udp().src("2001:db8::1");
}

Octets fragment_header(std::uint8_t next, unsigned offset, bool more) {
    Octets out;
    test::put8(out, next);
    test::put8(out, 0xFF);  // reserved; no length
    test::put16(out, (offset << 3) | (more ? 1U : 0U));
    test::put32(out, 0x1234);
    return out;
}

Octets chain(unsigned count, std::uint8_t last) {
    Octets out;
    for (unsigned i = 1; i <= count; ++i) {
        test::put(out, extension(i == count ? last : std::uint8_t{60}, 0));
    }
    return out;
}

struct Row {
    std::string_view name;
    Octets frame;
    Parsed outcome;
    int proto;  // -1: not known
    Fragment frag = Fragment::None;
    bool ports = true;
};

std::vector<Row> rows() {
    const Octets plain = extension(17, 0);
    return {
        {"hop by hop", udp6().extensions(0, plain).bytes(), Parsed::Ok, 17},
        {"routing", udp6().extensions(43, extension(17, 2, 24)).bytes(), Parsed::Ok, 17},
        {"destination options", udp6().extensions(60, extension(17, 31, 256)).bytes(), Parsed::Ok,
         17},
        {"mobility", udp6().extensions(135, plain).bytes(), Parsed::Ok, 17},
        {"HIP", udp6().extensions(139, plain).bytes(), Parsed::Ok, 17},
        {"shim6", udp6().extensions(140, plain).bytes(), Parsed::Ok, 17},
        {"AH counts words of 4 bytes", udp6().extensions(51, extension(17, 4, 24)).bytes(),
         Parsed::Ok, 17},
        {"several",
         udp6().extensions(0, joined(extension(43, 0), joined(extension(60, 0), plain))).bytes(),
         Parsed::Ok, 17},
        {"ESP ends the walk", udp6().proto(50).payload(20).bytes(), Parsed::Ok, 50, Fragment::None,
         false},
        {"no next header", udp6().proto(59).payload(8).bytes(), Parsed::Ok, 59, Fragment::None,
         false},
        {"no next header behind one", udp6().proto(59).extensions(0, extension(59, 0)).bytes(),
         Parsed::Ok, 59, Fragment::None, false},
        {"as many as are walked", udp6().extensions(60, chain(kMaxIpv6Extensions, 17)).bytes(),
         Parsed::Ok, 17},
        {"one more", udp6().extensions(60, chain(kMaxIpv6Extensions + 1, 17)).bytes(),
         Parsed::TooDeep, -1, Fragment::None, false},
        {"extension beyond the packet", udp6().extensions(0, extension(17, 9)).bytes(),
         Parsed::TruncatedL3, -1, Fragment::None, false},
        {"payload length ends in an extension", udp6().extensions(0, plain).ip_len(7).bytes(),
         Parsed::TruncatedL3, -1, Fragment::None, false},
        {"frame ends in an extension", udp6().extensions(0, plain).cut(61).bytes(),
         Parsed::TruncatedL3, -1, Fragment::None, false},
        {"first fragment", udp6().extensions(44, fragment_header(17, 0, true)).bytes(),
         Parsed::FirstFragment, 17, Fragment::First},
        {"atomic fragment", udp6().extensions(44, fragment_header(17, 0, false)).bytes(),
         Parsed::Ok, 17},
        {"later fragment: the Fragment header's next header, whatever it is",
         udp6().extensions(44, fragment_header(60, 1, true)).payload(64).bytes(),
         Parsed::LaterFragment, 60, Fragment::Later, false},
        {"last fragment", udp6().extensions(44, fragment_header(17, 8191, false)).bytes(),
         Parsed::LaterFragment, 17, Fragment::Later, false},
        {"an atomic fragment inside a first one",
         udp6()
             .extensions(44, joined(fragment_header(44, 0, true), fragment_header(17, 0, false)))
             .bytes(),
         Parsed::FirstFragment, 17, Fragment::First},
        {"first fragment without all of UDP",
         udp6().extensions(44, fragment_header(17, 0, true)).cut(69).bytes(), Parsed::TruncatedL4,
         17, Fragment::First, false},
        {"payload length of zero", udp6().payload(9).ip_len(0).bytes(), Parsed::Ok, 17},
        {"payload length beyond the frame", udp6().payload(9).ip_len(0xFFFF).bytes(), Parsed::Ok,
         17},
        {"version 4", udp6().payload(9).ether_type(0x0800).bytes(), Parsed::BadIpHeader, -1,
         Fragment::None, false},
    };
}

TEST(ParseIpv6, WalksExtensionHeaders) {
    for (const Row& row : rows()) {
        const PacketHeaders headers = seen(row.frame);
        EXPECT_EQ(headers.parsed, row.outcome) << row.name;
        EXPECT_EQ(headers.fields.has(Field::IpProto) ? headers.proto : -1, row.proto) << row.name;
        EXPECT_EQ(headers.fields.has(Field::IpFrag), row.proto != -1) << row.name;
        EXPECT_EQ(headers.frag, row.frag) << row.name;
        EXPECT_EQ(headers.fields.has(Field::L4Dport), row.ports) << row.name;
        EXPECT_EQ(headers.fields.has(Field::PayloadLen), row.ports) << row.name;
    }
}

TEST(ParseIpv6, ALengthThatSaysNothingLeavesWhatWasReceived) {
    for (const std::uint16_t claimed : {std::uint16_t{0}, std::uint16_t{0xFFFF}}) {
        const PacketHeaders headers = seen(udp6().payload(20).udp_len(0).ip_len(claimed).bytes());
        EXPECT_EQ(headers.ip_len, 40U + claimed);
        EXPECT_EQ(headers.payload_len, 20U);
        EXPECT_EQ(headers.byte_units, 68U);
    }
}

TEST(ParseIpv6, TheTrafficClassLiesAcrossBytes) {
    for (unsigned tos = 0; tos < 256; ++tos) {
        EXPECT_EQ(seen(udp6().tos(static_cast<std::uint8_t>(tos)).bytes()).dscp, tos >> 2);
    }
}

TEST(ParseIpv6, ACutExtensionLeavesWhatComesAfterItUnknown) {
    const Octets whole = tcp().src("2001:db8::1").extensions(60, extension(6, 3, 32)).bytes();
    const Octets head = head_of(whole, 61);
    const PacketHeaders headers = seen(head, {}, whole.size());
    EXPECT_EQ(headers.parsed, Parsed::Cut);
    EXPECT_TRUE(headers.fields.has(Field::IpSrc));
    EXPECT_FALSE(headers.fields.has(Field::IpProto));
    EXPECT_FALSE(headers.fields.has(Field::IpFrag));
}

}  // namespace
}  // namespace sluice::ipv6_test

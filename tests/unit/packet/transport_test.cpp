#include "lib/packet/transport.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

namespace sluice::transport_test {
namespace {

using test::Frame;
using test::head_of;
using test::icmp;
using test::icmpv6;
using test::Octets;
using test::seen;
using test::tcp;
using test::udp;

struct Length {
    std::string_view name;
    Octets frame;
    std::uint32_t payload_len;
};

TEST(ParseTransport, PayloadIsWhatTheLengthsLeave) {
    const Length rows[] = {
        {"UDP", udp().payload(20).bytes(), 20},
        {"UDP without payload", udp().bytes(), 0},
        {"UDP length shorter than IP's", udp().payload(20).udp_len(18).bytes(), 10},
        {"UDP length of a whole datagram in its first fragment",
         udp().payload(24).udp_len(4000).frag(0, true).bytes(), 24},
        {"UDP length of zero", udp().payload(20).udp_len(0).bytes(), 20},
        {"IP length shorter than the frame", udp().payload(20).udp_len(0).ip_len(30).bytes(), 2},
        {"IP length of zero", tcp().payload(20).ip_len(0).bytes(), 20},
        {"IP length beyond the frame", tcp().payload(20).ip_len(9000).bytes(), 20},
        {"TCP", tcp().payload(20).bytes(), 20},
        {"TCP with options", tcp().data_offset(8).payload(20).bytes(), 8},
        {"TCP that is all options", tcp().data_offset(15).payload(40).bytes(), 0},
        {"ICMP", icmp(8, 0).payload(56).bytes(), 56},
        {"ICMPv6", icmpv6(128, 0).payload(56).bytes(), 56},
    };
    for (const Length& row : rows) {
        const PacketHeaders headers = seen(row.frame);
        EXPECT_TRUE(headers.fields.has(Field::PayloadLen)) << row.name;
        EXPECT_EQ(headers.payload_len, row.payload_len) << row.name;
    }
}

struct Broken {
    std::string_view name;
    Octets frame;
    Parsed outcome;
};

TEST(ParseTransport, TellsBadFromTruncated) {
    const Frame options = tcp().data_offset(8).payload(12);
    const Broken rows[] = {
        {"data offset 0", tcp().data_offset(0).bytes(), Parsed::BadL4Header},
        {"data offset 4", tcp().data_offset(4).bytes(), Parsed::BadL4Header},
        {"data offset 5", tcp().data_offset(5).bytes(), Parsed::Ok},
        {"options fit", Frame{options}.bytes(), Parsed::Ok},
        {"options beyond the segment", Frame{options}.ip_len(51).bytes(), Parsed::BadL4Header},
        {"options beyond it, padding behind", Frame{options}.ip_len(51).pad(9).bytes(),
         Parsed::BadL4Header},
        {"options beyond it, no length to say so", Frame{options}.ip_len(0).cut(60).bytes(),
         Parsed::BadL4Header},
        {"the frame ends before the options", Frame{options}.cut(65).bytes(), Parsed::TruncatedL4},
        {"the first fragment ends before the options",
         Frame{options}.frag(0, true).ip_len(48).bytes(), Parsed::TruncatedL4},
        {"the same in IPv6", Frame{options}.src("::1").frag(0, true).ip_len(36).bytes(),
         Parsed::TruncatedL4},
        {"19 bytes of TCP", tcp().ip_len(39).bytes(), Parsed::TruncatedL4},
        {"7 bytes of UDP", udp().ip_len(27).bytes(), Parsed::TruncatedL4},
        {"no byte of UDP", udp().ip_len(20).bytes(), Parsed::TruncatedL4},
        {"UDP length 1", udp().udp_len(1).bytes(), Parsed::BadL4Header},
        {"UDP length 7", udp().udp_len(7).bytes(), Parsed::BadL4Header},
        {"UDP length 8", udp().udp_len(8).bytes(), Parsed::Ok},
        {"7 bytes of ICMP", icmp(8, 0).ip_len(27).bytes(), Parsed::TruncatedL4},
        {"7 bytes of ICMPv6", icmpv6(128, 0).ip_len(7).bytes(), Parsed::TruncatedL4},
        {"3 bytes of SCTP", Frame{132}.payload(3).bytes(), Parsed::TruncatedL4},
        {"4 bytes of SCTP", Frame{132}.payload(4).bytes(), Parsed::Ok},
        {"nothing of an unknown protocol", Frame{99}.bytes(), Parsed::Ok},
    };
    for (const Broken& row : rows) {
        const PacketHeaders headers = seen(row.frame);
        EXPECT_EQ(headers.parsed, row.outcome) << row.name;
        if (is_malformed(row.outcome)) {
            EXPECT_FALSE(headers.fields.has(Field::TcpFlags)) << row.name;
            EXPECT_FALSE(headers.fields.has(Field::IcmpType)) << row.name;
            EXPECT_FALSE(headers.fields.has(Field::PayloadLen)) << row.name;
            EXPECT_TRUE(headers.fields.has(Field::IpProto)) << row.name;
        }
    }
}

TEST(ParseTransport, OnlySomeProtocolsHavePorts) {
    const Octets ports = {std::byte{0}, std::byte{7}, std::byte{0}, std::byte{8},
                          std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};
    for (unsigned proto = 0; proto < 256; ++proto) {
        if (proto == 6 || proto == 17) {
            continue;  // the builder gives these headers of their own
        }
        const bool has_ports = proto == 33 || proto == 132 || proto == 136;
        const PacketHeaders headers =
            seen(Frame{static_cast<std::uint8_t>(proto)}.carries(ports).bytes());
        EXPECT_EQ(headers.fields.has(Field::L4Sport), has_ports) << proto;
        EXPECT_EQ(headers.fields.has(Field::L4Dport), has_ports) << proto;
        EXPECT_EQ(headers.fields.has(Field::IcmpType), proto == 1) << proto;
        EXPECT_EQ(headers.fields.has(Field::PayloadLen), proto == 1) << proto;
        if (has_ports) {
            EXPECT_EQ(headers.sport, 7);
            EXPECT_EQ(headers.dport, 8);
        }
    }
}

TEST(ParseTransport, TwelveBitsOfFlags) {
    for (std::uint16_t flags = 0; flags < 0x1000; ++flags) {
        ASSERT_EQ(seen(tcp().flags(flags).bytes()).tcp_flags, flags);
    }
}

// As much of a header as a capture holds is read, field by field of interest.
TEST(ParseTransport, WhatTheCaptureHoldsOfAHeader) {
    const struct {
        Octets frame;
        Field first;
        std::size_t first_at;  // bytes of the header that it takes to know this field
        Field last;
        std::size_t last_at;
    } rows[] = {
        {tcp().payload(9).bytes(), Field::L4Dport, 4, Field::TcpFlags, 14},
        {udp().payload(9).bytes(), Field::L4Sport, 4, Field::PayloadLen, 6},
        {icmp(3, 1).payload(9).bytes(), Field::IcmpType, 2, Field::PayloadLen, 2},
        {Frame{132}.payload(12).bytes(), Field::L4Sport, 4, Field::L4Dport, 4},
    };
    for (const auto& row : rows) {
        for (std::size_t size = 34; size <= row.frame.size(); ++size) {
            const Octets head = head_of(row.frame, size);
            const PacketHeaders headers = seen(head, {}, row.frame.size());
            const std::size_t held = size - 34;
            EXPECT_EQ(headers.parsed, held < row.last_at ? Parsed::Cut : Parsed::Ok) << size;
            EXPECT_EQ(headers.fields.has(row.first), held >= row.first_at) << size;
            EXPECT_EQ(headers.fields.has(row.last), held >= row.last_at) << size;
        }
    }
}

}  // namespace
}  // namespace sluice::transport_test

#include "lib/packet/tunnel.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::tunnel_test {
namespace {

using test::arp;
using test::Frame;
using test::geneve;
using test::gre;
using test::gtpu;
using test::head_of;
using test::joined;
using test::kAllTunnels;
using test::kGenevePort;
using test::kGtpuPort;
using test::kOtherVxlanPort;
using test::kVxlanPort;
using test::label;
using test::metadata;
using test::Octets;
using test::seen;
using test::show;
using test::udp;
using test::vxlan;

constexpr std::uint16_t kInnerPort = 777;

Frame inner4() {
    return udp().src("192.0.2.7").dport(kInnerPort).payload(10);
}
Frame inner6() {
    return udp().src("2001:db8::7").dport(kInnerPort).payload(10);
}
Frame outer4(std::uint8_t proto) {
    return Frame{proto}.src("10.0.0.1").dst("10.0.0.2");
}
Frame outer6(std::uint8_t proto) {
    return Frame{proto}.src("fd00::1").dst("fd00::2");
}
Frame over_vxlan(const Octets& inner) {
    return outer4(17).dport(kVxlanPort).carries(vxlan(inner));
}

Frame over_udp(std::uint16_t port, const Octets& carried) {
    return outer4(17).dport(port).carries(carried);
}

struct Row {
    std::string_view name;
    Octets frame;
    std::string outer;  // outer.ip.src; empty: not looked into
};

std::vector<Row> rows() {
    const Octets four = inner4().packet();
    const Octets six = inner6().packet();
    return {
        {"GRE, IPv4", outer4(47).carries(gre(0, 0x0800, four)).bytes(), "10.0.0.1"},
        {"GRE, IPv6", outer4(47).carries(gre(0, 0x86DD, six)).bytes(), "10.0.0.1"},
        {"GRE over IPv6", outer6(47).carries(gre(0, 0x0800, four)).bytes(), "fd00::1"},
        {"GRE, checksum", outer4(47).carries(gre(0x8000, 0x0800, four, 4)).bytes(), "10.0.0.1"},
        {"GRE, key", outer4(47).carries(gre(0x2000, 0x0800, four, 4)).bytes(), "10.0.0.1"},
        {"GRE, sequence", outer4(47).carries(gre(0x1000, 0x0800, four, 4)).bytes(), "10.0.0.1"},
        {"GRE, all three", outer4(47).carries(gre(0xB000, 0x0800, four, 12)).bytes(), "10.0.0.1"},
        {"GRE, bridged", outer4(47).carries(gre(0, 0x6558, inner4().bytes())).bytes(), "10.0.0.1"},
        {"GRE, bridged, tags and labels",
         outer4(47)
             .carries(
                 gre(0x2000, 0x6558, inner6().vlan(1).vlan(2).shim(0x8847, label(true)).bytes(), 4))
             .bytes(),
         "10.0.0.1"},
        {"GRE, source routes", outer4(47).carries(gre(0x4000, 0x0800, four)).bytes(), ""},
        {"GRE, version 1", outer4(47).carries(gre(0x2001, 0x880B, four, 4)).bytes(), ""},
        {"GRE, WCCP", outer4(47).carries(gre(0, 0x883E, four)).bytes(), "10.0.0.1"},
        {"GRE, WCCP version 2", outer4(47).carries(gre(0, 0x883E, four, 4)).bytes(), "10.0.0.1"},
        {"GRE over IPv6, WCCP version 2", outer6(47).carries(gre(0, 0x883E, six, 4)).bytes(),
         "fd00::1"},
        {"GRE, WCCP with a key", outer4(47).carries(gre(0x2000, 0x883E, four, 4)).bytes(), ""},
        {"GRE, WCCP of no IP", outer4(47).carries(gre(0, 0x883E, Octets(20), 4)).bytes(), ""},
        {"GRE, WCCP of nothing", outer4(47).carries(gre(0, 0x883E, {})).bytes(), ""},
        {"GRE, WCCP, ends in version 2", outer4(47).carries(gre(0, 0x883E, Octets(3))).bytes(), ""},
        {"GRE, only the first three bytes", outer4(47).carries(Octets(3)).bytes(), ""},
        {"GRE, ends in its options", outer4(47).carries(gre(0xB000, 0x0800, {}, 11)).bytes(), ""},
        {"GRE, bridged ARP", outer4(47).carries(gre(0, 0x6558, arp().bytes())).bytes(), ""},
        {"VXLAN, IPv4", over_vxlan(inner4().bytes()).bytes(), "10.0.0.1"},
        {"VXLAN, IPv6 in tags", over_vxlan(inner6().vlan(4).vlan(5).bytes()).bytes(), "10.0.0.1"},
        {"VXLAN over IPv6", outer6(17).dport(kVxlanPort).carries(vxlan(inner4().bytes())).bytes(),
         "fd00::1"},
        {"VXLAN without a valid VNI",
         outer4(17).dport(kVxlanPort).carries(vxlan(inner4().bytes(), 0)).bytes(), ""},
        {"VXLAN from its port, not to it",
         outer4(17).sport(kVxlanPort).carries(vxlan(inner4().bytes())).bytes(), ""},
        {"VXLAN's port, 7 bytes", outer4(17).dport(kVxlanPort).payload(7).bytes(), ""},
        {"VXLAN, ARP", over_vxlan(arp().bytes()).bytes(), ""},
        {"VXLAN, 13 bytes of Ethernet", over_vxlan(Octets(13)).bytes(), ""},
        {"VXLAN at a port that is named",
         over_udp(kOtherVxlanPort, vxlan(inner4().bytes())).bytes(), "10.0.0.1"},
        {"VXLAN, behind Cisco metadata",
         over_vxlan(inner4().shim(0x8909, metadata(0x0800)).bytes()).bytes(), "10.0.0.1"},
        {"GENEVE, IPv4", over_udp(kGenevePort, geneve(0x0800, four)).bytes(), "10.0.0.1"},
        {"GENEVE, IPv6", over_udp(kGenevePort, geneve(0x86DD, six)).bytes(), "10.0.0.1"},
        {"GENEVE, bridged, options",
         over_udp(kGenevePort, geneve(0x6558, inner6().vlan(4).bytes(), 252)).bytes(), "10.0.0.1"},
        {"GENEVE over IPv6", outer6(17).dport(kGenevePort).carries(geneve(0x0800, four)).bytes(),
         "fd00::1"},
        {"GENEVE, another version", over_udp(kGenevePort, geneve(0x0800, four, 0, 0x40)).bytes(),
         ""},
        {"GENEVE, another type", over_udp(kGenevePort, geneve(0x8847, four)).bytes(), ""},
        {"GENEVE, ends in its options", over_udp(kGenevePort, geneve(0x0800, {}, 0, 2)).bytes(),
         ""},
        {"GENEVE, 7 bytes", over_udp(kGenevePort, Octets(7)).bytes(), ""},
        {"GTP-U, IPv4", over_udp(kGtpuPort, gtpu(four)).bytes(), "10.0.0.1"},
        {"GTP-U, IPv6", over_udp(kGtpuPort, gtpu(six)).bytes(), "10.0.0.1"},
        {"GTP-U, a sequence number", over_udp(kGtpuPort, gtpu(four, {}, 0x32)).bytes(), "10.0.0.1"},
        {"GTP-U, extensions", over_udp(kGtpuPort, gtpu(four, {1, 3, 1})).bytes(), "10.0.0.1"},
        {"GTP-U, as many extensions as are walked",
         over_udp(kGtpuPort, gtpu(four, std::vector<std::uint8_t>(kMaxGtpuExtensions, 1))).bytes(),
         "10.0.0.1"},
        {"GTP-U, an extension of no size", over_udp(kGtpuPort, gtpu(four, {0})).bytes(), ""},
        {"GTP-U, ends in an extension",
         over_udp(kGtpuPort, gtpu({}, {1, 2})).cut(14 + 20 + 8 + 18).bytes(), ""},
        {"GTP-U, no IP", over_udp(kGtpuPort, gtpu(Octets(20))).bytes(), ""},
        {"GTP-U, nothing inside", over_udp(kGtpuPort, gtpu({})).bytes(), ""},
        {"GTP-U, an echo", over_udp(kGtpuPort, gtpu(four, {}, 0x30, 1)).bytes(), ""},
        {"GTP-U, version 2", over_udp(kGtpuPort, gtpu(four, {}, 0x50)).bytes(), ""},
        {"GTP'", over_udp(kGtpuPort, gtpu(four, {}, 0x20)).bytes(), ""},
        {"IPIP 4", outer4(4).carries(four).bytes(), "10.0.0.1"},
        {"IPIP 4 in 6", outer6(4).carries(four).bytes(), "fd00::1"},
        {"IPIP 6 in 4", outer4(41).carries(six).bytes(), "10.0.0.1"},
        {"IPIP 6 in 6", outer6(41).carries(six).bytes(), "fd00::1"},
        {"behind IPv6 extensions",
         outer6(41).extensions(60, test::extension(41, 0)).carries(six).bytes(), "fd00::1"},
        {"the outermost of three",
         outer4(41).carries(outer6(4).carries(outer4(4).carries(four).packet()).packet()).bytes(),
         "10.0.0.1"},
    };
}

TEST(LookInside, FindsTheInnermostPacket) {
    for (const Row& row : rows()) {
        const PacketHeaders headers = seen(row.frame, kAllTunnels);
        EXPECT_EQ(headers.parsed, Parsed::Ok) << row.name;
        EXPECT_EQ(field_text(Field::OuterIpSrc, headers, row.frame, ""), row.outer) << row.name;
        EXPECT_EQ(headers.fields.has(Field::OuterIpDst), !row.outer.empty()) << row.name;
        EXPECT_EQ(headers.dport == kInnerPort, !row.outer.empty()) << row.name;
        EXPECT_EQ(headers.outer_l3_at, 14) << row.name;
        EXPECT_EQ(headers.l3_at > 14, !row.outer.empty()) << row.name;
    }
}

// What is not asked for, or not a tunnel, reads exactly as without tunnels.
TEST(LookInside, OnlyWhereAskedFor) {
    for (const Row& row : rows()) {
        const std::string plain = show(row.frame, seen(row.frame));
        EXPECT_EQ(plain.find("outer."), std::string::npos) << row.name;
        if (row.outer.empty()) {
            EXPECT_EQ(show(row.frame, seen(row.frame, kAllTunnels)), plain) << row.name;
        }
        const unsigned proto = seen(row.frame).proto;
        const Tunnels others{.gre = proto != 47,
                             .vxlan = proto != 17,
                             .ipip = proto != 4 && proto != 41,
                             .geneve = proto != 17,
                             .gtpu = proto != 17,
                             .others = {{{1, UdpTunnel::Gtpu}}}};
        EXPECT_EQ(show(row.frame, seen(row.frame, others)), plain) << row.name;
    }
}

TEST(LookInside, TheFirstFragmentOfATunnelIsLookedIntoAndNoOther) {
    const Octets first = outer4(4).carries(inner4().packet()).frag(0, true).bytes();
    EXPECT_EQ(seen(first, kAllTunnels).parsed, Parsed::Ok);
    EXPECT_TRUE(seen(first, kAllTunnels).fields.has(Field::OuterIpSrc));
    EXPECT_EQ(seen(first).parsed, Parsed::FirstFragment);
    const Octets later = outer4(4).carries(inner4().packet()).frag(4, false).bytes();
    EXPECT_EQ(seen(later, kAllTunnels).parsed, Parsed::LaterFragment);
    EXPECT_FALSE(seen(later, kAllTunnels).fields.has(Field::OuterIpSrc));
}

// The first fragment of an IPv4 datagram, of so many bytes of its frame.
Octets first_fragment(const Octets& frame, std::size_t size) {
    constexpr std::size_t kLengthAt = 14 + 2;
    constexpr std::size_t kFlagsAt = 14 + 6;
    Octets first = head_of(frame, size);
    store_be16(first, kLengthAt, static_cast<std::uint16_t>(size - 14));
    first[kFlagsAt] |= std::byte{0x20};
    return first;
}

// Wherever it ends: what lies behind comes in a fragment that nobody looks into.
TEST(LookInside, OfAFirstFragmentTheInnerPacketIsJudgedOrNothingPasses) {
    int truncated = 0;
    for (const Row& row : rows()) {
        if (row.outer != "10.0.0.1") {
            continue;
        }
        for (std::size_t size = 34; size < row.frame.size(); ++size) {
            const Octets first = first_fragment(row.frame, size);
            const PacketHeaders headers = seen(first, kAllTunnels);
            const bool is_judged = headers.dport == kInnerPort;
            EXPECT_NE(is_judged, is_malformed(headers.parsed)) << row.name << " at " << size;
            EXPECT_EQ(headers.fragment_around_at == 14, headers.fields.has(Field::OuterIpSrc))
                << row.name << " at " << size;
            truncated += headers.parsed == Parsed::TruncatedL4 ? 1 : 0;
        }
    }
    EXPECT_GT(truncated, 500);
}

TEST(LookInside, AFirstFragmentThatEndsInATunnelsHeaderIsTruncated) {
    const Octets carried = vxlan(inner4().bytes());
    const Octets options = geneve(0x0800, {}, 8);
    const Octets extensions = gtpu(inner4().packet(), {1, 3});
    const Octets nested = over_vxlan(inner4().bytes()).packet();
    const struct {
        std::string_view name;
        Frame whole;
        Parsed of_first;
    } rows[] = {
        {"nothing of VXLAN", over_udp(kVxlanPort, {}), Parsed::TruncatedL4},
        {"half of VXLAN", over_udp(kVxlanPort, head_of(carried, 4)), Parsed::TruncatedL4},
        {"VXLAN alone", over_udp(kVxlanPort, head_of(carried, 8)), Parsed::TruncatedL4},
        {"half of Ethernet", over_udp(kVxlanPort, head_of(carried, 16)), Parsed::TruncatedL4},
        {"a VXLAN port that is named", over_udp(kOtherVxlanPort, {}), Parsed::TruncatedL4},
        {"VXLAN over IPv6", outer6(17).dport(kVxlanPort).carries(head_of(carried, 8)),
         Parsed::TruncatedL4},
        {"nothing of GENEVE", over_udp(kGenevePort, {}), Parsed::TruncatedL4},
        {"half of GENEVE's options", over_udp(kGenevePort, head_of(options, 12)),
         Parsed::TruncatedL4},
        {"nothing of GTP-U", over_udp(kGtpuPort, {}), Parsed::TruncatedL4},
        {"GTP-U alone", over_udp(kGtpuPort, head_of(extensions, 8)), Parsed::TruncatedL4},
        {"half of an extension", over_udp(kGtpuPort, head_of(extensions, 20)), Parsed::TruncatedL4},
        {"nothing of GRE", outer4(47), Parsed::TruncatedL4},
        {"half of GRE's options", outer4(47).carries(gre(0xB000, 0x0800, {}, 4)),
         Parsed::TruncatedL4},
        {"WCCP alone", outer4(47).carries(gre(0, 0x883E, {})), Parsed::TruncatedL4},
        {"inside another tunnel", outer4(4).carries(head_of(nested, 32)), Parsed::TruncatedL4},
        {"a port of no tunnel", over_udp(kVxlanPort + 1, {}), Parsed::FirstFragment},
        {"from VXLAN's port, not to it", over_udp(9, {}).sport(kVxlanPort), Parsed::FirstFragment},
        {"VXLAN without a valid VNI", over_udp(kVxlanPort, vxlan({}, 0)), Parsed::FirstFragment},
        {"GENEVE, another version", over_udp(kGenevePort, geneve(0x0800, {}, 0, 0x41)),
         Parsed::FirstFragment},
        {"GTP-U, an echo", over_udp(kGtpuPort, gtpu({}, {}, 0x30, 1)), Parsed::FirstFragment},
        {"GRE, version 1", outer4(47).carries(gre(0x2001, 0x880B, {})), Parsed::FirstFragment},
        {"GRE of something else", outer4(47).carries(gre(0, 0x88BE, {})), Parsed::FirstFragment},
    };
    for (const auto& row : rows) {
        const Octets first = Frame{row.whole}.frag(0, true).bytes();
        EXPECT_EQ(seen(first, kAllTunnels).parsed, row.of_first) << row.name;
        EXPECT_EQ(seen(first).parsed, Parsed::FirstFragment) << row.name << ", not asked for";
        EXPECT_EQ(seen(row.whole.bytes(), kAllTunnels).parsed, Parsed::Ok) << row.name << ", whole";
        const Octets later = Frame{row.whole}.frag(1, false).bytes();
        EXPECT_EQ(seen(later, kAllTunnels).parsed, Parsed::LaterFragment) << row.name;
    }
}

// The outermost first fragment that a packet inside has come in.
TEST(LookInside, NamesTheFragmentAroundThePacket) {
    const Octets packet = inner4().packet();
    const auto around = [](const Frame& frame) {
        return seen(frame.bytes(), kAllTunnels).fragment_around_at;
    };
    EXPECT_EQ(around(outer4(4).carries(packet)), 0);
    EXPECT_EQ(around(outer4(4).carries(packet).frag(0, true)), 14);
    EXPECT_EQ(around(outer6(4).carries(packet).frag(0, true)), 14);
    EXPECT_EQ(around(outer4(4).carries(outer4(4).carries(packet).frag(0, true).packet())), 34);
    const Frame both = outer4(4).carries(outer4(4).carries(packet).frag(0, true).packet());
    EXPECT_EQ(around(Frame{both}.frag(0, true)), 14);
    EXPECT_EQ(around(outer4(4).carries(inner4().frag(0, true).packet())), 0);
    EXPECT_EQ(around(inner4().frag(0, true)), 0) << "the packet itself is the fragment";
}

TEST(LookInside, AFragmentInsideIsAFragment) {
    const Octets frame = outer4(4).carries(inner4().frag(0, true).packet()).bytes();
    const PacketHeaders headers = seen(frame, kAllTunnels);
    EXPECT_EQ(headers.parsed, Parsed::FirstFragment);
    EXPECT_EQ(headers.dport, kInnerPort);
    const Octets later = outer4(4).carries(inner4().frag(7, true).packet()).bytes();
    EXPECT_EQ(seen(later, kAllTunnels).parsed, Parsed::LaterFragment);
    EXPECT_FALSE(seen(later, kAllTunnels).fields.has(Field::L4Dport));
    EXPECT_TRUE(seen(later, kAllTunnels).fields.has(Field::OuterIpSrc));
}

TEST(LookInside, ABrokenInnerPacketBreaksTheFrame) {
    const struct {
        std::string_view name;
        Octets frame;
        Parsed outcome;
    } rows[] = {
        {"IPv6 where IPv4 is announced", outer4(4).carries(inner6().packet()).bytes(),
         Parsed::BadIpHeader},
        {"nothing", outer4(4).bytes(), Parsed::TruncatedL3},
        {"half an IPv6 header", outer4(41).carries(head_of(inner6().packet(), 39)).bytes(),
         Parsed::TruncatedL3},
        {"IHL of 3 in VXLAN", over_vxlan(inner4().ihl(3).bytes()).bytes(), Parsed::BadIpHeader},
        {"more GTP-U extensions than are walked",
         over_udp(kGtpuPort,
                  gtpu(inner4().packet(), std::vector<std::uint8_t>(kMaxGtpuExtensions + 1, 1)))
             .bytes(),
         Parsed::TooDeep},
        {"a GTP-U extension that reads as IPv4",
         over_udp(kGtpuPort, gtpu(inner4().packet(), {0x45, 1})).bytes(), Parsed::TooDeep},
        {"one that reads as IPv6", over_udp(kGtpuPort, gtpu(inner4().packet(), {0x60})).bytes(),
         Parsed::TooDeep},
        {"IHL of 3 in GENEVE",
         over_udp(kGenevePort, geneve(0x6558, inner4().ihl(3).bytes())).bytes(),
         Parsed::BadIpHeader},
        {"half of UDP in GRE",
         outer4(47).carries(gre(0, 0x0800, head_of(inner4().packet(), 24))).bytes(),
         Parsed::TruncatedL4},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(seen(row.frame, kAllTunnels).parsed, row.outcome) << row.name;
        EXPECT_FALSE(is_malformed(seen(row.frame).parsed)) << row.name;
    }
}

TEST(LookInside, FollowsFourIpHeadersAndNoFifth) {
    Octets packet = inner4().packet();
    for (unsigned depth = 2; depth <= kMaxTunnelDepth + 1; ++depth) {
        Frame around = outer4(4).carries(packet);
        const PacketHeaders headers = seen(around.bytes(), kAllTunnels);
        EXPECT_EQ(headers.parsed, depth <= kMaxTunnelDepth ? Parsed::Ok : Parsed::TooDeep) << depth;
        packet = around.packet();
    }
}

// Outer and inner claim different lengths: nothing beyond the outer packet belongs to the inner.
TEST(LookInside, TheInnerPacketEndsWhereTheOuterDoes) {
    const Octets lying = inner4().udp_len(0).ip_len(5000).packet();
    const PacketHeaders headers = seen(outer4(4).carries(lying).pad(30).bytes(), kAllTunnels);
    EXPECT_EQ(headers.payload_len, 10U);
    EXPECT_EQ(headers.byte_units, 38U);
    EXPECT_EQ(headers.ip_len, 5000U);
}

// A packet of which only the bytes at hand end: nobody knows of one inside, and nobody takes the
// outer one for it.
TEST(LookInside, AHeaderThatIsNotAtHandIsCut) {
    const Octets whole = over_vxlan(inner4().bytes()).bytes();
    for (std::size_t size = 42; size < 84; ++size) {
        const Octets head = head_of(whole, size);
        const PacketHeaders headers = seen(head, kAllTunnels, whole.size());
        EXPECT_EQ(headers.parsed, Parsed::Cut) << size;
        EXPECT_EQ(field_text(Field::IpSrc, headers, head, ""), "10.0.0.1") << size;
    }
    EXPECT_EQ(seen(head_of(whole, 92), kAllTunnels, whole.size()).parsed, Parsed::Ok);
}

TEST(LookInside, ACaptureCutInsideKeepsTheOuterFields) {
    const Octets whole = outer4(4).carries(inner4().packet()).bytes();
    for (std::size_t size = 34; size <= whole.size(); ++size) {
        const Octets head = head_of(whole, size);
        const PacketHeaders headers = seen(head, kAllTunnels, whole.size());
        EXPECT_FALSE(is_malformed(headers.parsed)) << size;
        EXPECT_EQ(field_text(Field::IpSrc, headers, head, ""), size < 54 ? "10.0.0.1" : "192.0.2.7")
            << size;
        EXPECT_EQ(headers.fields.has(Field::OuterIpSrc), size >= 54) << size;
    }
}

}  // namespace
}  // namespace sluice::tunnel_test

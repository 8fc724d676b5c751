#include "lib/packet/parse.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::parse_test {
namespace {

using test::arp;
using test::Frame;
using test::gre;
using test::icmp;
using test::icmpv6;
using test::kAllTunnels;
using test::label;
using test::Octets;
using test::pppoe;
using test::put;
using test::put16;
using test::put8;
using test::seen;
using test::show;
using test::tcp;
using test::udp;
using test::vxlan;

struct Row {
    std::string_view name;
    Octets frame;
    Tunnels tunnels;
    Parsed outcome;
    std::string fields;
};

const std::string kUdp4 =
    "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
    "ip.dscp=0 ip.len=38 ip.frag=none l4.sport=40000 l4.dport=9 payload.len=10 ";
const std::string kUdp4NoType = kUdp4.substr(kUdp4.find(' ') + 1);

std::vector<Row> rows() {
    const Frame ten = udp().payload(10);
    const Octets hop_by_hop = {std::byte{17}, std::byte{0}, std::byte{0}, std::byte{0},
                               std::byte{0},  std::byte{0}, std::byte{0}, std::byte{0}};
    return {
        {"udp", ten.bytes(), {}, Parsed::Ok, kUdp4},
        {"vlan",
         Frame{ten}.vlan(5).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 " + kUdp4NoType},
        {"qinq and more",
         Frame{ten}.vlan(5, 0x88A8).vlan(6).vlan(7).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 vlan.inner_id=6 " + kUdp4NoType},
        {"priority bits are not the id",
         Frame{ten}.vlan(0xE005).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 " + kUdp4NoType},
        {"mpls",
         Frame{ten}
             .shim(0x8847,
                   [] {
                       Octets o = label(false);
                       put(o, label(true));
                       return o;
                   }())
             .bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x8847 " + kUdp4NoType},
        {"pppoe",
         Frame{ten}.shim(0x8864, pppoe(0x21)).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x8864 " + kUdp4NoType},
        {"pppoe control",
         Frame{ten}.shim(0x8864, pppoe(0xC021)).bytes(),
         {},
         Parsed::NotIp,
         "eth.type=0x8864 "},
        {"arp", arp().bytes(), {}, Parsed::NotIp, "eth.type=0x0806 "},
        {"802.3 length", arp().ether_type(28).bytes(), {}, Parsed::NotIp, ""},
        {"ipv4 options",
         Frame{ten}.options(Octets(8)).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
         "ip.dscp=0 ip.len=46 ip.frag=none l4.sport=40000 l4.dport=9 payload.len=10 "},
        {"first fragment",
         udp().payload(16).frag(0, true).bytes(),
         {},
         Parsed::FirstFragment,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
         "ip.dscp=0 ip.len=44 ip.frag=first l4.sport=40000 l4.dport=9 payload.len=16 "},
        {"later fragment",
         udp().payload(16).frag(3, false).bytes(),
         {},
         Parsed::LaterFragment,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
         "ip.dscp=0 ip.len=36 ip.frag=later "},
        {"tcp",
         tcp().flags(0x112).tos(0xB9).payload(3).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=6 ip.ttl=64 "
         "ip.dscp=46 ip.len=43 ip.frag=none l4.sport=40000 l4.dport=9 tcp.flags.syn=1 "
         "tcp.flags.ack=1 tcp.flags.fin=0 tcp.flags.rst=0 tcp.flags.psh=0 tcp.flags.urg=0 "
         "tcp.flags=274 payload.len=3 "},
        {"icmp",
         icmp(8, 1).payload(5).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=1 ip.ttl=64 "
         "ip.dscp=0 ip.len=33 ip.frag=none icmp.type=8 icmp.code=1 payload.len=5 "},
        {"icmpv6",
         icmpv6(135, 0).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x86dd ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::2 ip.proto=58 ip.ttl=64 "
         "ip.dscp=0 ip.len=48 ip.frag=none icmp.type=135 icmp.code=0 payload.len=0 "},
        {"icmp inside IPv6 has no icmp fields",
         Frame{1}.src("2001:db8::1").payload(9).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x86dd ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::99 ip.proto=1 "
         "ip.ttl=64 ip.dscp=0 ip.len=57 ip.frag=none "},
        {"ipv6 extension",
         udp().src("2001:db8::1").extensions(0, hop_by_hop).payload(4).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x86dd ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::99 ip.proto=17 "
         "ip.ttl=64 ip.dscp=0 ip.len=60 ip.frag=none l4.sport=40000 l4.dport=9 payload.len=4 "},
        {"ipv6 first fragment",
         udp().src("2001:db8::1").frag(0, true).payload(4).bytes(),
         {},
         Parsed::FirstFragment,
         "eth.type=0x86dd ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::99 ip.proto=17 "
         "ip.ttl=64 ip.dscp=0 ip.len=60 ip.frag=first l4.sport=40000 l4.dport=9 payload.len=4 "},
        {"ipv6 atomic fragment",
         udp().src("2001:db8::1").frag(0, false).payload(4).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x86dd ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::99 ip.proto=17 "
         "ip.ttl=64 ip.dscp=0 ip.len=60 ip.frag=none l4.sport=40000 l4.dport=9 payload.len=4 "},
        {"ipv6 later fragment",
         udp().src("2001:db8::1").frag(9, true).payload(4).bytes(),
         {},
         Parsed::LaterFragment,
         "eth.type=0x86dd ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::99 ip.proto=17 "
         "ip.ttl=64 ip.dscp=0 ip.len=52 ip.frag=later "},
        {"length beyond the frame",
         Frame{ten}.ip_len(9999).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
         "ip.dscp=0 ip.len=9999 ip.frag=none l4.sport=40000 l4.dport=9 payload.len=10 "},
        {"padding is not payload", Frame{ten}.pad(8).bytes(), {}, Parsed::Ok, kUdp4},
        {"sctp has ports",
         Frame{132}
             .carries([] {
                 Octets o;
                 put16(o, 7);
                 put16(o, 8);
                 return o;
             }())
             .bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=132 ip.ttl=64 "
         "ip.dscp=0 ip.len=24 ip.frag=none l4.sport=7 l4.dport=8 "},
        // Tunnels.
        {"gre not asked for",
         Frame{47}.carries(gre(0, 0x0800, ten.packet())).bytes(),
         {},
         Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=47 ip.ttl=64 "
         "ip.dscp=0 ip.len=62 ip.frag=none "},
        {"gre",
         Frame{47}
             .src("10.0.0.1")
             .dst("10.0.0.2")
             .carries(gre(0x3000, 0x0800, ten.packet(), 8))
             .bytes(),
         kAllTunnels, Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
         "ip.dscp=0 ip.len=38 ip.frag=none outer.ip.src=10.0.0.1 outer.ip.dst=10.0.0.2 "
         "l4.sport=40000 l4.dport=9 payload.len=10 "},
        {"gre of something else", Frame{47}.carries(gre(0, 0x88BE, ten.packet())).bytes(),
         kAllTunnels, Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=47 ip.ttl=64 "
         "ip.dscp=0 ip.len=62 ip.frag=none "},
        {"vxlan",
         udp()
             .src("10.0.0.1")
             .dst("10.0.0.2")
             .dport(4789)
             .carries(vxlan(Frame{ten}.vlan(9).bytes()))
             .bytes(),
         kAllTunnels, Parsed::Ok,
         "eth.type=0x0800 ip.version=4 ip.src=192.0.2.1 ip.dst=198.51.100.1 ip.proto=17 ip.ttl=64 "
         "ip.dscp=0 ip.len=38 ip.frag=none outer.ip.src=10.0.0.1 outer.ip.dst=10.0.0.2 "
         "l4.sport=40000 l4.dport=9 payload.len=10 "},
        {"6in4 in gre: outermost is outer",
         Frame{47}
             .src("10.0.0.1")
             .dst("10.0.0.2")
             .carries(gre(0, 0x0800,
                          Frame{41}.carries(udp().src("2001:db8::1").payload(2).packet()).packet()))
             .bytes(),
         kAllTunnels, Parsed::Ok,
         "eth.type=0x0800 ip.version=6 ip.src=2001:db8::1 ip.dst=2001:db8::99 ip.proto=17 "
         "ip.ttl=64 ip.dscp=0 ip.len=50 ip.frag=none outer.ip.src=10.0.0.1 outer.ip.dst=10.0.0.2 "
         "l4.sport=40000 l4.dport=9 payload.len=2 "},
    };
}

TEST(ParseFrame, FindsEveryField) {
    for (const Row& row : rows()) {
        const PacketHeaders headers = seen(row.frame, row.tunnels);
        EXPECT_EQ(headers.parsed, row.outcome) << row.name;
        EXPECT_EQ(show(row.frame, headers), row.fields) << row.name;
    }
}

TEST(ParseFrame, ReadsMacAddresses) {
    const Octets frame = udp().bytes();
    const PacketHeaders headers = seen(frame);
    EXPECT_EQ(field_text(Field::EthDst, headers, frame, ""), "02:03:04:05:06:07");
    EXPECT_EQ(field_text(Field::EthSrc, headers, frame, ""), "16:17:18:19:1a:1b");
}

struct Bad {
    std::string_view name;
    Octets frame;
    Parsed outcome;
};

TEST(ParseFrame, NamesWhatIsMalformed) {
    Octets many;
    for (unsigned i = 0; i <= kMaxIpv6Extensions; ++i) {
        put8(many, 60);
        many.resize(many.size() + 7);
    }
    Octets nested = udp().packet();
    for (unsigned i = 0; i < kMaxTunnelDepth; ++i) {
        nested = Frame{4}.carries(nested).packet();
    }
    const Bad rows[] = {
        {"empty", {}, Parsed::TruncatedL2},
        {"runt", udp().cut(13).bytes(), Parsed::TruncatedL2},
        {"ends in a tag", udp().vlan(1).cut(17).bytes(), Parsed::TruncatedL2},
        {"ends in a label", udp().shim(0x8847, label(false)).cut(18).bytes(), Parsed::TruncatedL2},
        {"ends in IPv4", udp().cut(33).bytes(), Parsed::TruncatedL3},
        {"ends in IPv4 options", udp().options(Octets(8)).cut(40).bytes(), Parsed::TruncatedL3},
        {"ends in IPv6", udp().src("::1").cut(53).bytes(), Parsed::TruncatedL3},
        {"ends in UDP", udp().cut(41).bytes(), Parsed::TruncatedL4},
        {"ends in TCP", tcp().cut(53).bytes(), Parsed::TruncatedL4},
        {"ends in ICMP", icmp(8, 0).cut(41).bytes(), Parsed::TruncatedL4},
        {"no room for TCP by the IP length", tcp().ip_len(30).bytes(), Parsed::TruncatedL4},
        {"tiny first fragment", tcp().frag(0, true).ip_len(28).bytes(), Parsed::TruncatedL4},
        {"header length below 20", udp().ihl(4).bytes(), Parsed::BadIpHeader},
        {"total length below the header", udp().ip_len(19).bytes(), Parsed::BadIpHeader},
        {"IPv6 in an IPv4 frame", udp().src("::1").ether_type(0x0800).bytes(), Parsed::BadIpHeader},
        {"IPv4 in an IPv6 frame", udp().payload(40).ether_type(0x86DD).bytes(),
         Parsed::BadIpHeader},
        {"data offset below 5", tcp().data_offset(4).bytes(), Parsed::BadL4Header},
        {"data offset beyond the segment", tcp().data_offset(6).bytes(), Parsed::BadL4Header},
        {"UDP length below 8", udp().udp_len(7).bytes(), Parsed::BadL4Header},
        {"too many extensions", udp().src("::1").extensions(60, many).bytes(), Parsed::TooDeep},
        {"too many tunnels", Frame{4}.carries(nested).bytes(), Parsed::TooDeep},
        {"malformed inside a tunnel", Frame{4}.carries(udp().ihl(2).packet()).bytes(),
         Parsed::BadIpHeader},
    };
    for (const Bad& row : rows) {
        EXPECT_EQ(seen(row.frame, kAllTunnels).parsed, row.outcome) << row.name;
    }
}

// Cut at every byte: by the wire it is truncated or still whole, by the capture it is Cut, and no
// field is ever read from beyond.
TEST(ParseFrame, IsSafeWhereverAFrameEnds) {
    for (const Row& row : rows()) {
        for (std::size_t size = 0; size <= row.frame.size(); ++size) {
            const Octets head{row.frame.begin(),
                              row.frame.begin() + static_cast<std::ptrdiff_t>(size)};
            const PacketHeaders by_wire = seen(head, row.tunnels);
            EXPECT_NE(by_wire.parsed, Parsed::Cut) << row.name << " at " << size;
            const PacketHeaders by_capture =
                seen(head, row.tunnels, static_cast<std::uint32_t>(row.frame.size()));
            EXPECT_FALSE(is_malformed(by_capture.parsed)) << row.name << " at " << size;
            (void)show(head, by_wire);
            (void)show(head, by_capture);
        }
    }
}

struct Cost {
    std::string_view name;
    Octets frame;
    std::uint32_t units;
    Tunnels tunnels{};
};

TEST(ParseFrame, ChargesTheBytesOfTheIpPacket) {
    const Cost rows[] = {
        {"IPv4 total length", udp().payload(100).bytes(), 128},
        {"tags do not count", udp().payload(100).vlan(1).vlan(2).bytes(), 128},
        {"IPv6 40 + payload length", udp().src("::1").payload(100).bytes(), 148},
        {"padding up to 60 does not count", udp().payload(4).pad(14).bytes(), 32},
        {"more than padding counts", udp().payload(4).pad(15).bytes(), 47},
        {"a length beyond the frame", udp().payload(100).ip_len(5000).bytes(), 128},
        {"a length of zero", udp().payload(100).ip_len(0).bytes(), 128},
        {"a length of zero, padded", udp().payload(4).ip_len(0).pad(14).bytes(), 46},
        {"not IP: what is behind Ethernet", arp().bytes(), 28},
        {"not IP: what is behind the tag", arp().vlan(3).bytes(), 28},
        {"each fragment its own", udp().payload(64).frag(5, true).bytes(), 84},
        {"a tunnel not looked into", Frame{4}.carries(udp().payload(100).packet()).bytes(), 148},
        {"inside a tunnel", Frame{4}.carries(udp().payload(100).packet()).bytes(), 128,
         kAllTunnels},
        {"inside vxlan, with the inner frame's padding",
         udp().dport(4789).carries(vxlan(udp().payload(4).pad(14).bytes())).bytes(), 32,
         kAllTunnels},
        {"inside gre, no padding there",
         Frame{47}.carries(gre(0, 0x0800, udp().payload(50).ip_len(70).packet())).bytes(), 78,
         kAllTunnels},
    };
    for (const Cost& row : rows) {
        EXPECT_EQ(seen(row.frame, row.tunnels).byte_units, row.units) << row.name;
    }
}

TEST(ParseFrame, CountsTheWireAndNotTheCapture) {
    const Octets whole = udp().payload(1000).bytes();
    const Octets head{whole.begin(), whole.begin() + 60};
    const PacketHeaders headers = seen(head, {}, static_cast<std::uint32_t>(whole.size()));
    EXPECT_EQ(headers.parsed, Parsed::Ok);
    EXPECT_EQ(headers.byte_units, 1028U);
    EXPECT_EQ(headers.payload_len, 1000U);
}

// A snap length of 68 is common: behind IPv6 it ends right after TCP's flags.
TEST(ParseFrame, ACutHeaderStillGivesTheFieldsThatAreThere) {
    struct {
        std::string_view name;
        Octets frame;
        std::size_t held;
        std::string_view has;
        std::string_view lacks;
    } const rows[] = {
        {"ports", tcp().dport(443).bytes(), 38, "l4.sport=40000 l4.dport=443", "tcp.flags"},
        {"no flags yet", tcp().bytes(), 47, "l4.dport=9", "tcp.flags"},
        {"flags", tcp().src("::1").flags(0x12).payload(5).bytes(), 68, "tcp.flags.ack=1",
         "none of these"},
        {"payload of TCP", tcp().src("::1").payload(5).bytes(), 68, "payload.len=5", "icmp"},
        {"no UDP length", udp().payload(5).bytes(), 39, "l4.dport=9", "payload.len"},
        {"UDP length", udp().payload(5).bytes(), 40, "payload.len=5", "tcp"},
        {"half of ICMP", icmp(8, 1).payload(5).bytes(), 35, "ip.proto=1", "icmp"},
        {"ICMP", icmp(8, 1).payload(5).bytes(), 36, "icmp.type=8 icmp.code=1 payload.len=5", "l4"},
    };
    for (const auto& row : rows) {
        const Octets head{row.frame.begin(),
                          row.frame.begin() + static_cast<std::ptrdiff_t>(row.held)};
        const PacketHeaders headers =
            seen(head, kAllTunnels, static_cast<std::uint32_t>(row.frame.size()));
        const std::string fields = show(head, headers);
        EXPECT_NE(fields.find(row.has), std::string::npos) << row.name << ": " << fields;
        EXPECT_EQ(fields.find(row.lacks), std::string::npos) << row.name << ": " << fields;
    }
}

TEST(ParseFrame, StepsOverLabelsInsidePppoe) {
    for (const unsigned protocol : {0x0281U, 0x0283U}) {
        Octets shim;
        test::put32(shim, 0x1100'0001);
        test::put16(shim, 40);
        test::put16(shim, protocol);
        test::put32(shim, 0x0001'0140);
        const PacketHeaders headers = seen(udp().dport(53).shim(0x8864, shim).bytes());
        EXPECT_EQ(headers.parsed, Parsed::Ok);
        EXPECT_EQ(headers.dport, 53U);
    }
}

// Where the wire ends says what is missing; where only the capture ends, nothing is malformed.
TEST(ParseFrame, NamesTheLayerThatIsMissing) {
    const struct {
        std::string_view name;
        Octets frame;
        std::size_t l2, l3, l4;  // where each layer's headers are whole
    } rows[] = {
        {"TCP over IPv4", tcp().payload(9).bytes(), 14, 34, 54},
        {"TCP over IPv4, tagged twice", tcp().vlan(1).vlan(2).payload(9).bytes(), 22, 42, 62},
        {"UDP over IPv4 with options", udp().options(Octets(12)).payload(9).bytes(), 14, 46, 54},
        {"UDP over IPv6", udp().src("::1").payload(9).bytes(), 14, 54, 62},
        {"ICMPv6 behind an extension",
         icmpv6(128, 0).extensions(60, test::extension(58, 1, 16)).bytes(), 14, 70, 78},
        {"UDP behind a label", udp().shim(0x8847, label(true)).bytes(), 18, 38, 46},
        {"UDP behind PPPoE", udp().shim(0x8864, pppoe(0x21)).bytes(), 22, 42, 50},
    };
    for (const auto& row : rows) {
        for (std::size_t size = 0; size <= row.frame.size(); ++size) {
            const Octets head = test::head_of(row.frame, size);
            const Parsed truncated = size < row.l2   ? Parsed::TruncatedL2
                                     : size < row.l3 ? Parsed::TruncatedL3
                                     : size < row.l4 ? Parsed::TruncatedL4
                                                     : Parsed::Ok;
            EXPECT_EQ(seen(head).parsed, truncated) << row.name << " at " << size;
            const Parsed cut = seen(head, {}, row.frame.size()).parsed;
            EXPECT_TRUE(cut == Parsed::Cut || (cut == Parsed::Ok && size >= row.l3))
                << row.name << " at " << size;
        }
    }
}

TEST(ParseFrame, AMalformedFrameCostsWhatIsBehindItsTags) {
    const Cost rows[] = {
        {"nothing", {}, 0},
        {"no whole Ethernet header", udp().cut(13).bytes(), 0},
        {"IPv4", udp().payload(100).vlan(1).ihl(3).bytes(), 128},
        {"UDP, with trailing bytes", udp().payload(4).udp_len(7).pad(20).bytes(), 52},
        {"TCP behind a label", tcp().shim(0x8847, label(true)).data_offset(1).bytes(), 44},
        {"inside a tunnel", Frame{4}.carries(udp().ihl(2).packet()).bytes(), 48, kAllTunnels},
    };
    for (const Cost& row : rows) {
        EXPECT_TRUE(is_malformed(seen(row.frame, row.tunnels).parsed)) << row.name;
        EXPECT_EQ(seen(row.frame, row.tunnels).byte_units, row.units) << row.name;
    }
}

TEST(ParseFrame, LeavesNothingOfAnEarlierFrame) {
    PacketHeaders used;
    used.port = 7;
    for (const Row& before : rows()) {
        for (const Row& row : rows()) {
            PacketHeaders fresh;
            fresh.port = 7;
            parse_frame({before.frame, 0}, before.tunnels, used);
            parse_frame({row.frame, 0}, row.tunnels, used);
            parse_frame({row.frame, 0}, row.tunnels, fresh);
            ASSERT_EQ(used, fresh) << row.name << " after " << before.name;
        }
    }
}

TEST(ParseFrame, AWireSizeBelowTheBytesIsNotBelieved) {
    const Octets frame = udp().payload(100).bytes();
    PacketHeaders headers;
    EXPECT_EQ(parse_frame({frame, 3}, {}, headers), Parsed::Ok);
    EXPECT_EQ(headers.byte_units, 128U);
    EXPECT_EQ(headers.payload_len, 100U);
}

TEST(ParseFrame, FramesAboveSixtyFourKilobytesDoNotWrap) {
    const Octets frame = tcp().payload(70'000).ip_len(0).bytes();
    const PacketHeaders headers = seen(frame);
    EXPECT_EQ(headers.parsed, Parsed::Ok);
    EXPECT_EQ(headers.payload_len, 70'000U);
    EXPECT_EQ(headers.byte_units, 70'040U);
    const Octets head = test::head_of(frame, 100);
    EXPECT_EQ(seen(head, {}, UINT32_MAX).payload_len, UINT32_MAX - 54);
    EXPECT_EQ(seen(head, {}, UINT32_MAX).byte_units, UINT32_MAX - 14);
}

TEST(ParseFrame, StepsOverAsManyTagsAsFitAndNoFurther) {
    Frame tagged = udp();
    for (int i = 0; i < 20'000; ++i) {
        tagged.vlan(1);
    }
    EXPECT_EQ(seen(tagged.bytes()).parsed, Parsed::TooDeep);
}

}  // namespace
}  // namespace sluice::parse_test

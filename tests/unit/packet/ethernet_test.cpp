#include "lib/packet/ethernet.hpp"

#include "tests/packets/seen.hpp"

#include <gtest/gtest.h>

namespace sluice::ethernet_test {
namespace {

using test::arp;
using test::compressed_pppoe;
using test::Frame;
using test::joined;
using test::label;
using test::metadata;
using test::Octets;
using test::pppoe;
using test::seen;
using test::show;
using test::udp;

struct Row {
    std::string_view name;
    Octets frame;
    Parsed outcome;
    std::string fields;  // how they begin; IP's own are tested elsewhere
};

std::vector<Row> rows() {
    const Frame v4 = udp();
    const Frame v6 = udp().src("2001:db8::1");
    const Octets one = label(true);
    const Octets two = joined(label(false), label(true));
    Octets not_ip = one;
    test::put32(not_ip, 0x0000'0000);  // a pseudowire's control word
    return {
        {"TPID 0x8100", Frame{v4}.vlan(5, 0x8100).bytes(), Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 ip.version=4 "},
        {"TPID 0x88a8", Frame{v4}.vlan(5, 0x88A8).bytes(), Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 ip.version=4 "},
        {"TPID 0x9100", Frame{v4}.vlan(5, 0x9100).bytes(), Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 ip.version=4 "},
        {"TPID 0x9200", Frame{v4}.vlan(5, 0x9200).bytes(), Parsed::Ok,
         "eth.type=0x0800 vlan.id=5 ip.version=4 "},
        {"no such TPID", Frame{v4}.vlan(5, 0x9300).bytes(), Parsed::NotIp, "eth.type=0x9300 "},
        {"a hundred tags",
         [&] {
             Frame frame = v4;
             for (std::uint16_t id = 1; id <= 100; ++id) {
                 frame.vlan(id);
             }
             return frame.bytes();
         }(),
         Parsed::Ok, "eth.type=0x0800 vlan.id=1 vlan.inner_id=2 ip.version=4 "},
        {"tag before ARP", arp().vlan(4095).bytes(), Parsed::NotIp,
         "eth.type=0x0806 vlan.id=4095 "},
        {"largest 802.3 length", arp().ether_type(0x05FF).bytes(), Parsed::NotIp, ""},
        {"smallest EtherType", arp().ether_type(0x0600).bytes(), Parsed::NotIp, "eth.type=0x0600 "},
        {"802.3 length behind a tag", arp().vlan(7).ether_type(28).bytes(), Parsed::NotIp,
         "vlan.id=7 "},
        {"MPLS unicast", Frame{v4}.shim(0x8847, two).bytes(), Parsed::Ok,
         "eth.type=0x8847 ip.version=4 "},
        {"MPLS multicast", Frame{v4}.shim(0x8848, one).bytes(), Parsed::Ok,
         "eth.type=0x8848 ip.version=4 "},
        {"IPv6 behind MPLS and a tag", Frame{v6}.vlan(3).shim(0x8847, one).bytes(), Parsed::Ok,
         "eth.type=0x8847 vlan.id=3 ip.version=6 "},
        {"neither 4 nor 6 behind MPLS", Frame{v4}.shim(0x8847, not_ip).bytes(), Parsed::NotIp,
         "eth.type=0x8847 "},
        {"nothing behind MPLS", Frame{v4}.shim(0x8847, one).cut(18).bytes(), Parsed::TruncatedL3,
         "eth.type=0x8847 "},
        {"no bottom of the MPLS stack", Frame{v4}.shim(0x8847, label(false)).cut(18).bytes(),
         Parsed::TruncatedL2, "eth.type=0x8847 "},
        {"PPPoE session, IPv6", Frame{v6}.shim(0x8864, pppoe(0x57)).bytes(), Parsed::Ok,
         "eth.type=0x8864 ip.version=6 "},
        {"MPLS unicast in PPPoE", Frame{v4}.shim(0x8864, joined(pppoe(0x281), two)).bytes(),
         Parsed::Ok, "eth.type=0x8864 ip.version=4 "},
        {"MPLS multicast in PPPoE", Frame{v6}.shim(0x8864, joined(pppoe(0x283), one)).bytes(),
         Parsed::Ok, "eth.type=0x8864 ip.version=6 "},
        {"PPPoE session, IPv4 in one octet", Frame{v4}.shim(0x8864, compressed_pppoe(0x21)).bytes(),
         Parsed::Ok, "eth.type=0x8864 ip.version=4 "},
        {"PPPoE session, IPv6 in one octet", Frame{v6}.shim(0x8864, compressed_pppoe(0x57)).bytes(),
         Parsed::Ok, "eth.type=0x8864 ip.version=6 "},
        {"PPPoE session, OSI in one octet", Frame{v4}.shim(0x8864, compressed_pppoe(0x23)).bytes(),
         Parsed::NotIp, "eth.type=0x8864 "},
        {"PPPoE session, LCP", Frame{v4}.shim(0x8864, pppoe(0xC021)).bytes(), Parsed::NotIp,
         "eth.type=0x8864 "},
        {"PPPoE discovery", arp().ether_type(0x8863).bytes(), Parsed::NotIp, "eth.type=0x8863 "},
        {"ends in PPPoE", Frame{v4}.shim(0x8864, pppoe(0x21)).cut(21).bytes(), Parsed::TruncatedL2,
         "eth.type=0x8864 "},
        {"ends before the PPP protocol", Frame{v4}.shim(0x8864, pppoe(0x21)).cut(20).bytes(),
         Parsed::TruncatedL2, "eth.type=0x8864 "},
        {"ends behind a PPP protocol of one octet",
         Frame{v4}.shim(0x8864, compressed_pppoe(0x21)).cut(21).bytes(), Parsed::TruncatedL3,
         "eth.type=0x8864 "},
        {"Cisco metadata", Frame{v4}.shim(0x8909, metadata(0x0800)).bytes(), Parsed::Ok,
         "eth.type=0x0800 ip.version=4 "},
        {"Cisco metadata of 24 bytes behind a tag",
         Frame{v6}.vlan(5).shim(0x8909, metadata(0x86DD, 3, 3)).bytes(), Parsed::Ok,
         "eth.type=0x86dd vlan.id=5 ip.version=6 "},
        {"Cisco metadata, a tag, metadata",
         Frame{v4}
             .shim(0x8909,
                   joined(joined(metadata(0x8100),
                                 joined(Octets(2), Octets{std::byte{0x89}, std::byte{0x09}})),
                          metadata(0x0800)))
             .bytes(),
         Parsed::Ok, "eth.type=0x0800 vlan.id=0 ip.version=4 "},
        {"Cisco metadata before MPLS",
         Frame{v4}.shim(0x8909, joined(metadata(0x8847), two)).bytes(), Parsed::Ok,
         "eth.type=0x8847 ip.version=4 "},
        {"Cisco metadata before ARP", arp().shim(0x8909, metadata(0x0806)).bytes(), Parsed::NotIp,
         "eth.type=0x0806 "},
        {"Cisco metadata of no size", Frame{v4}.shim(0x8909, metadata(0x0800, 0)).bytes(),
         Parsed::NotIp, "eth.type=0x8909 "},
        {"ends in Cisco metadata", Frame{v4}.shim(0x8909, metadata(0x0800)).cut(21).bytes(),
         Parsed::TruncatedL2, ""},
        {"Cisco metadata longer than the frame",
         Frame{v4}.shim(0x8909, metadata(0x0800, 255)).bytes(), Parsed::TruncatedL2, ""},
        {"ends in the second tag", Frame{v4}.vlan(5).vlan(6).cut(21).bytes(), Parsed::TruncatedL2,
         "vlan.id=5 "},
    };
}

TEST(ParseEthernet, StepsOverWhatStandsBeforeIp) {
    for (const Row& row : rows()) {
        const PacketHeaders headers = seen(row.frame);
        EXPECT_EQ(headers.parsed, row.outcome) << row.name;
        const std::string fields = show(row.frame, headers);
        EXPECT_EQ(fields.substr(0, row.fields.size()), row.fields) << row.name;
        if (row.outcome == Parsed::NotIp) {
            EXPECT_EQ(fields, row.fields) << row.name;
            EXPECT_EQ(headers.l3_at, 0) << row.name;
            EXPECT_EQ(headers.outer_version, IpVersion::None) << row.name;
        }
    }
}

TEST(ParseEthernet, FindsIpBehindEverything) {
    const struct {
        Octets frame;
        std::uint16_t l3_at;
    } rows[] = {
        {udp().bytes(), 14},
        {udp().vlan(1).vlan(2).bytes(), 22},
        {udp().vlan(1).shim(0x8847, joined(label(false), label(true))).bytes(), 26},
        {udp().shim(0x8864, pppoe(0x21)).bytes(), 22},
        {udp().shim(0x8864, compressed_pppoe(0x21)).bytes(), 21},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(seen(row.frame).l3_at, row.l3_at);
        EXPECT_EQ(seen(row.frame).l4_at, row.l3_at + 20);
        EXPECT_EQ(seen(row.frame).payload_at, row.l3_at + 28);
    }
}

}  // namespace
}  // namespace sluice::ethernet_test

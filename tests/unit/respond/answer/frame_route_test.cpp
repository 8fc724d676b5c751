#include "lib/respond/answer/frame_route.hpp"

#include "tests/unit/respond/answer/sent_frame.hpp"

#include <vector>

namespace sluice::frame_route_test {
namespace {

using test::Frame;
using test::headers_of;
using test::Octets;
using test::put16;
using test::put8;
using test::SentFrame;
using test::tcp;
using test::udp;

// A UDP datagram of four bytes.
SentFrame sent_along(const FrameRoute& route) {
    Octets frame(route.frame_size(12), std::byte{0xEE});
    const MutableBytes transport = MutableBytes{frame}.subspan(route.transport_at(), 12);
    store_be16(transport, 0, route.sport());
    store_be16(transport, 2, route.dport());
    store_be16(transport, 4, 12);
    store_be16(transport, 6, 0);
    route.write_headers(frame, 17, 12);
    store_be16(transport, 6, route.transport_checksum(frame, 17, 12));
    return SentFrame{frame};
}
// Along the route of a frame that came.
SentFrame sent_for(const Octets& came, Toward toward) {
    FrameRoute route;
    EXPECT_EQ(FrameRoute::find(headers_of(came), came, toward, route), RouteFault::None);
    return sent_along(route);
}

RouteFault fault_of(const Octets& came, Tunnels tunnels = {}) {
    FrameRoute route;
    return FrameRoute::find(headers_of(came, tunnels), came, Toward::Source, route);
}

Octets pppoe(std::initializer_list<unsigned> protocol) {
    Octets shim;
    put16(shim, 0x1100);
    put16(shim, 0xBEEF);  // the session
    put16(shim, 0x7777);  // the length, which is another one in what is made
    for (const unsigned octet : protocol) {
        put8(shim, octet);
    }
    return shim;
}

std::vector<Octets> link_layers(const char* address, unsigned ppp) {
    const auto from = [&] { return udp().src(address).sport(1234).dport(5678).tos(0xB8).ttl(3); };
    return {from().bytes(), from().vlan(0x6064).bytes(), from().vlan(7, 0x88A8).vlan(8).bytes(),
            from().shim(0x8864, pppoe({0, ppp})).bytes(),
            from().vlan(9).shim(0x8864, pppoe({ppp})).bytes()};
}

// There and back: what a turned route writes is what one that was found toward the sender does.
TEST(FrameRoute, TurnsRound) {
    for (const auto& [address, ppp] : {std::pair{"192.0.2.1", 0x21U}, {"2001:db8::7", 0x57U}}) {
        for (const Octets& came : link_layers(address, ppp)) {
            FrameRoute on;
            EXPECT_EQ(FrameRoute::find(headers_of(came), came, Toward::Destination, on),
                      RouteFault::None);
            EXPECT_EQ(sent_along(on.reversed()).bytes(), sent_for(came, Toward::Source).bytes());
            EXPECT_EQ(sent_along(on.reversed().reversed()).bytes(),
                      sent_for(came, Toward::Destination).bytes());
        }
    }
}

TEST(FrameRoute, BackToTheSenderMirrorsLinkLayerAndEnds) {
    for (const auto& [address, ppp] : {std::pair{"192.0.2.1", 0x21U}, {"2001:db8::7", 0x57U}}) {
        for (const Octets& came : link_layers(address, ppp)) {
            const SentFrame sent = sent_for(came, Toward::Source);
            const PacketHeaders before = headers_of(came);
            EXPECT_TRUE(sent.swaps_macs_of(came));
            EXPECT_EQ(sent.headers().src, before.dst);
            EXPECT_EQ(sent.headers().dst, before.src);
            EXPECT_EQ(sent.headers().sport, 5678);
            EXPECT_EQ(sent.headers().dport, 1234);
            EXPECT_EQ(sent.headers().l3_at, before.l3_at);
            EXPECT_EQ(sent.headers().vlan_id, before.vlan_id);
            EXPECT_EQ(sent.headers().vlan_inner_id, before.vlan_inner_id);
        }
    }
}

TEST(FrameRoute, OnToTheReceiverKeepsTheEnds) {
    for (const Octets& came : link_layers("2001:db8::7", 0x57)) {
        const SentFrame sent = sent_for(came, Toward::Destination);
        const PacketHeaders before = headers_of(came);
        EXPECT_TRUE(std::equal(came.begin(), came.begin() + 12, sent.bytes().begin()));
        EXPECT_EQ(sent.headers().src, before.src);
        EXPECT_EQ(sent.headers().dst, before.dst);
        EXPECT_EQ(sent.headers().sport, 1234);
        EXPECT_EQ(sent.headers().dport, 5678);
    }
}

TEST(FrameRoute, PppoeCountsWhatIsBehindItsHeader) {
    for (const Octets& shim : {pppoe({0, 0x21}), pppoe({0x21})}) {
        const SentFrame sent = sent_for(udp().shim(0x8864, shim).bytes(), Toward::Source);
        EXPECT_EQ(load_be16(sent.bytes(), 16), 0xBEEF);
        EXPECT_EQ(load_be16(sent.bytes(), 18), shim.size() - 6 + 20 + 12);
    }
}

TEST(FrameRoute, NeitherOptionsNorExtensionHeadersGoBack) {
    const SentFrame v4 = sent_for(udp().options(Octets(8, std::byte{1})).bytes(), Toward::Source);
    EXPECT_EQ(v4.headers().ip_len, 32U);
    Octets hop_by_hop(8);
    hop_by_hop[0] = std::byte{17};
    hop_by_hop[2] = std::byte{1};
    hop_by_hop[3] = std::byte{4};
    const Octets v6 = udp().src("2001:db8::7").extensions(0, hop_by_hop).bytes();
    EXPECT_EQ(sent_for(v6, Toward::Source).headers().ip_len, 52U);
    const Octets first = udp().frag(0, true).payload(8).bytes();
    EXPECT_EQ(sent_for(first, Toward::Source).headers().frag, Fragment::None);
}

TEST(FrameRoute, SaysWhyThereIsNone) {
    EXPECT_EQ(fault_of(test::arp().bytes()), RouteFault::NoPorts);
    EXPECT_EQ(fault_of(test::icmp(8, 0).bytes()), RouteFault::NoPorts);
    EXPECT_EQ(fault_of(Frame{132}.payload(8).bytes()), RouteFault::NoPorts);
    EXPECT_EQ(fault_of(udp().frag(5, false).payload(8).bytes()), RouteFault::NoPorts);
    EXPECT_EQ(fault_of(udp().cut(30).bytes()), RouteFault::NoPorts);
    EXPECT_EQ(fault_of(Frame{4}.carries(udp().packet()).bytes(), {.ipip = true}),
              RouteFault::Tunnel);
    const Octets label{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{64}};
    EXPECT_EQ(fault_of(udp().shim(0x8847, label).bytes()), RouteFault::Labels);
    Octets in_ppp = pppoe({0x02, 0x81});
    test::put(in_ppp, label);
    EXPECT_EQ(fault_of(udp().shim(0x8864, in_ppp).bytes()), RouteFault::Labels);
    Frame tagged = udp();
    for (std::uint16_t i = 0; i < 12; ++i) {
        tagged.vlan(i);
    }
    EXPECT_EQ(fault_of(tagged.bytes()), RouteFault::None);
    EXPECT_EQ(fault_of(tagged.vlan(12).bytes()), RouteFault::TooManyTags);
}

// RFC 9293, 3.9.2.3: nothing is sent in the name of a group, nor to one.
TEST(FrameRoute, GroupsGetNoAnswer) {
    for (const char* address : {"0.1.2.3", "127.0.0.1", "224.0.0.1", "239.255.255.255",
                                "255.255.255.255", "::", "::1", "ff02::1"}) {
        EXPECT_EQ(fault_of(udp().src(address).bytes()), RouteFault::GroupAddress) << address;
        EXPECT_EQ(fault_of(udp().dst(address).bytes()), RouteFault::GroupAddress) << address;
    }
    for (const char* address :
         {"1.0.0.0", "126.1.1.1", "223.255.255.255", "240.0.0.1", "::2", "100::", "fe80::1"}) {
        EXPECT_EQ(fault_of(tcp().src(address).bytes()), RouteFault::None) << address;
    }
    for (const std::size_t at : {std::size_t{0}, std::size_t{6}}) {
        Octets came = udp().bytes();
        came[at] |= std::byte{1};
        EXPECT_EQ(fault_of(came), RouteFault::GroupAddress) << at;
    }
}

TEST(FrameRoute, FaultsHaveNames) {
    EXPECT_EQ(name_of(RouteFault::None), "none");
    EXPECT_EQ(name_of(RouteFault::GroupAddress), "group_address");
}

}  // namespace
}  // namespace sluice::frame_route_test

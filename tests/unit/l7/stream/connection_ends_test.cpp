#include "lib/l7/stream/connection_ends.hpp"

#include "lib/packet/parse_columns.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace sluice::connection_ends_test {
namespace {

using test::Frame;
using test::Octets;
using test::tcp;
using test::udp;

const KeyHasher kHash{HashSecret{1, 2}};

// A packet, and where it came in.
struct Packet {
    Octets bytes;
    Direction dir = Direction::In;
    std::uint64_t pair = 7;

    Packet(const Frame& frame, Direction direction = Direction::In, std::uint64_t name = 7)
        : bytes{frame.bytes()}, dir{direction}, pair{name} {}
};

RowEnds ends_of(const std::vector<Packet>& packets, HeaderColumns& headers,
                const KeyHasher& hash = kHash) {
    FrameColumns frames;
    for (const Packet& packet : packets) {
        headers.set_ingress(frames.size, packet.dir, packet.pair);
        frames.add(packet.bytes, static_cast<std::uint32_t>(packet.bytes.size()));
    }
    parse_columns(frames, {}, headers);
    RowEnds ends;
    fill_connection_ends(headers, headers.rows(), hash, ends);
    return ends;
}

ConnectionEnds ends_of(const Packet& packet) {
    HeaderColumns headers;
    return ends_of({packet}, headers)[0];
}

Frame from_client(Frame frame = tcp()) {
    return frame.src("10.0.0.9").dst("192.0.2.1").sport(40000).dport(80);
}
Frame from_server(Frame frame = tcp()) {
    return frame.src("192.0.2.1").dst("10.0.0.9").sport(80).dport(40000);
}
Frame from_client_v6(Frame frame = tcp()) {
    return frame.src("2001:db8::9").dst("2001:db8::1").sport(40000).dport(80);
}
Frame from_server_v6(Frame frame = tcp()) {
    return frame.src("2001:db8::1").dst("2001:db8::9").sport(80).dport(40000);
}

TEST(ConnectionEnds, AreTheSameInBothDirections) {
    struct Case {
        const char* what;
        Frame there;
        Frame back;
    };
    const std::vector<Case> cases{
        {"tcp", from_client(), from_server()},
        {"udp", from_client(udp()), from_server(udp())},
        {"ipv6", from_client_v6(), from_server_v6()},
        {"a tag", from_client().vlan(5), from_server().vlan(5)},
        {"two tags", from_client().vlan(5, 0x88A8).vlan(6), from_server().vlan(5, 0x88A8).vlan(6)},
        {"two tags, ipv6", from_client_v6().vlan(5).vlan(6), from_server_v6().vlan(5).vlan(6)},
        {"ports alone differ", tcp().src("10.0.0.1").dst("10.0.0.1").sport(9).dport(8),
         tcp().src("10.0.0.1").dst("10.0.0.1").sport(8).dport(9)},
        {"one end", tcp().src("10.0.0.1").dst("10.0.0.1").sport(9).dport(9),
         tcp().src("10.0.0.1").dst("10.0.0.1").sport(9).dport(9)},
    };
    for (const Case& row : cases) {
        const ConnectionEnds there = ends_of({row.there, Direction::In});
        const ConnectionEnds back = ends_of({row.back, Direction::Out});
        EXPECT_EQ(there.digest, back.digest) << row.what;
        EXPECT_NE(there.from_low, back.from_low) << row.what;
        EXPECT_EQ(there.low_is_outside(), back.low_is_outside()) << row.what;
        EXPECT_EQ(there.along(), back.against()) << row.what;
        EXPECT_EQ(there.against(), back.along()) << row.what;
        EXPECT_NE(there.along(), there.against()) << row.what;
        EXPECT_TRUE(there.from_outside);
        EXPECT_FALSE(back.from_outside);
    }
}

TEST(ConnectionEnds, DifferByEachPartOfThem) {
    const std::vector<std::pair<std::string, Packet>> packets{
        {"the connection", {from_client()}},
        {"seen on the other side", {from_client(), Direction::Out}},
        {"another pair", {from_client(), Direction::In, 8}},
        {"no pair", {from_client(), Direction::In, 0}},
        {"a tag", {from_client().vlan(5)}},
        {"another tag", {from_client().vlan(6)}},
        {"the tag of 0x1000's low bits", {from_client().vlan(0xFFF)}},
        {"two tags", {from_client().vlan(5).vlan(6)}},
        {"two tags, changed over", {from_client().vlan(6).vlan(5)}},
        {"udp", {from_client(udp())}},
        {"another source", {from_client().src("10.0.0.8")}},
        {"another destination", {from_client().dst("192.0.2.2")}},
        {"another source port", {from_client().sport(40001)}},
        {"another destination port", {from_client().dport(81)}},
        {"ports changed over", {from_client().sport(80).dport(40000)}},
        {"ipv6", {from_client_v6()}},
        {"ipv6, seen on the other side", {from_client_v6(), Direction::Out}},
        {"ipv6, the beginning of the source", {from_client_v6().src("2001:db9::9")}},
        {"ipv6, two tags", {from_client_v6().vlan(5).vlan(6)}},
    };
    std::map<std::uint64_t, std::string> digests;
    std::map<std::uint64_t, std::string> directions;
    for (const auto& [what, packet] : packets) {
        const ConnectionEnds ends = ends_of(packet);
        const auto [known, is_new] = digests.emplace(ends.digest, what);
        EXPECT_TRUE(is_new) << what << " is " << known->second;
        EXPECT_TRUE(directions.emplace(ends.along(), what).second) << what;
        EXPECT_TRUE(directions.emplace(ends.against(), what).second) << what;
    }
}

TEST(ConnectionEnds, AreKeyed) {
    HeaderColumns headers;
    const RowEnds ends = ends_of({{from_client()}}, headers, KeyHasher{HashSecret{1, 3}});
    EXPECT_NE(ends[0].digest, ends_of({from_client()}).digest);
}

// A tag of VID 0 is a priority: hosts take the frame as if the tag were not there.
TEST(ConnectionEnds, AVidOf0IsNoTag) {
    const std::vector<std::pair<Packet, Packet>> same{
        {{from_client()}, {from_client().vlan(0)}},
        {{from_client()}, {from_client().vlan(0, 0x88A8).vlan(0)}},
        {{from_client().vlan(5)}, {from_client().vlan(5).vlan(0)}},
        {{from_client().vlan(5)}, {from_client().vlan(0).vlan(5)}},
        {{from_client_v6().vlan(5)}, {from_client_v6().vlan(0).vlan(5)}},
        {{from_client_v6()}, {from_client_v6().vlan(0)}},
    };
    for (const auto& [one, other] : same) {
        EXPECT_EQ(ends_of(one).along(), ends_of(other).along());
    }
}

// A burst of every shape, among them packets without ports and frames that are not IP.
TEST(ConnectionEnds, OfABurstAreThoseOfItsPackets) {
    std::mt19937_64 random{5};
    const auto one_of = [&](std::size_t count) { return random() % count; };
    const auto frame = [&] {
        Frame made = one_of(2) == 0 ? tcp() : udp();
        const char* const v4[] = {"10.0.0.1", "10.0.0.2", "192.0.2.200"};
        const char* const v6[] = {"2001:db8::1", "2001:db8::2", "fe80::1"};
        const auto& addresses = one_of(3) == 0 ? v6 : v4;
        made.src(addresses[one_of(3)]).dst(addresses[one_of(3)]);
        made.sport(static_cast<std::uint16_t>(one_of(3)));
        made.dport(static_cast<std::uint16_t>(one_of(3)));
        for (std::size_t tags = one_of(4); tags > 1; --tags) {
            made.vlan(static_cast<std::uint16_t>(one_of(3)));
        }
        switch (one_of(8)) {
            case 0:
                return made.proto(47);  // no ports
            case 1:
                return made.ether_type(0x88CC);  // not IP
            case 2:
                return made.frag(8, true);
            default:
                return made;
        }
    };
    for (int round = 0; round < 100; ++round) {
        std::vector<Packet> packets;
        for (std::size_t i = 0; i < kMaxBurst; ++i) {
            packets.emplace_back(frame(), one_of(2) == 0 ? Direction::In : Direction::Out,
                                 one_of(3));
        }
        HeaderColumns headers;
        const RowEnds ends = ends_of(packets, headers);
        EXPECT_EQ(ends.filled, headers.rows());
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            EXPECT_EQ(ends[row], connection_ends(headers.headers(row), kHash)) << row;
        }
    }
}

}  // namespace
}  // namespace sluice::connection_ends_test

#include "lib/packet/parse.hpp"

#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sluice::common_shape_test {
namespace {

using test::Frame;
using test::Octets;
using test::tcp;
using test::udp;

FrameView view_of(const Octets& frame) {
    return {frame, static_cast<std::uint32_t>(frame.size())};
}

struct Row {
    std::string_view name;
    Frame frame;
    bool common;
};

const Row kRows[] = {
    {"UDP over IPv4", udp().src("10.0.0.1").dport(53).size(100), true},
    {"TCP over IPv4", tcp().src("10.0.0.1").size(100), true},
    {"UDP over IPv6", udp().src("2001:db8::1").dst("2001:db8::2").size(100), true},
    {"TCP over IPv6", tcp().src("2001:db8::1").dst("2001:db8::2").size(100), true},
    {"padded to Ethernet's minimum", udp().src("10.0.0.1").pad(18), true},
    {"a tag", udp().src("10.0.0.1").vlan(5), true},
    {"a tag before IPv6", tcp().src("2001:db8::1").dst("2001:db8::2").vlan(5).size(100), true},
    {"two tags", udp().src("10.0.0.1").vlan(5).vlan(6), false},
    {"options", udp().src("10.0.0.1").options(Octets(4)), false},
    {"a first fragment", udp().src("10.0.0.1").frag(0, true), false},
    {"a later fragment", udp().src("10.0.0.1").frag(8, false), false},
    {"a UDP length that cannot be", udp().src("10.0.0.1").udp_len(7), false},
    {"a TCP header longer than the packet", tcp().src("10.0.0.1").data_offset(15), false},
    {"an IP length beyond the frame", udp().src("10.0.0.1").ip_len(2000), false},
    {"an IP length of zero", udp().src("10.0.0.1").ip_len(0), false},
    {"ARP", test::arp(), false},
};

TEST(CommonShape, IsWhatItSaysAndNoMore) {
    for (const Row& row : kRows) {
        const Octets bytes = row.frame.bytes();
        PacketHeaders headers;
        EXPECT_EQ(parse_common_shape(view_of(bytes), {}, headers), row.common) << row.name;
    }
}

// With tunnels looked into, UDP may be one, and TCP cannot.
TEST(CommonShape, LeavesTunnelsToTheWalk) {
    PacketHeaders headers;
    const Octets datagram = udp().src("10.0.0.1").dport(4789).size(100).bytes();
    EXPECT_FALSE(parse_common_shape(view_of(datagram), {.vxlan = true}, headers));
    const Octets segment = tcp().src("10.0.0.1").size(100).bytes();
    EXPECT_TRUE(
        parse_common_shape(view_of(segment), {.gre = true, .vxlan = true, .ipip = true}, headers));
}

// The values of the fields that both have, and what stands beside the fields.
void expect_same(const PacketHeaders& a, const PacketHeaders& b, ByteView frame) {
    ASSERT_EQ(a.fields, b.fields);
    for (std::size_t i = 0; i < kFieldCount; ++i) {
        const auto field = static_cast<Field>(i);
        const FieldKind kind = row_of(field).kind;
        if (!a.fields.has(field)) {
            continue;
        }
        if (kind == FieldKind::Address) {
            EXPECT_EQ(read_address(field, a, frame), read_address(field, b, frame)) << i;
        } else {
            EXPECT_EQ(read_number(field, a, frame), read_number(field, b, frame)) << i;
        }
    }
    EXPECT_EQ(a.parsed, b.parsed);
    EXPECT_EQ(a.byte_units, b.byte_units);
    EXPECT_EQ(a.l3_at, b.l3_at);
    EXPECT_EQ(a.outer_l3_at, b.outer_l3_at);
    EXPECT_EQ(a.ip_version, b.ip_version);
    EXPECT_EQ(a.outer_version, b.outer_version);
    EXPECT_EQ(a.dscp, b.dscp);
}

// A row of a burst is used again and again: no frame is seen with the eyes of one before it.
TEST(ParseFrame, LeavesNothingOfAnEarlierFrame) {
    std::mt19937_64 random{23};
    PacketHeaders used;
    used.port = 7;
    for (int i = 0; i < 20'000; ++i) {
        const Octets bytes = kRows[random() % std::size(kRows)].frame.bytes();
        PacketHeaders fresh;
        fresh.port = 7;
        (void)parse_frame(view_of(bytes), {}, used);
        (void)walk_frame(view_of(bytes), {}, fresh);
        expect_same(used, fresh, bytes);
        ASSERT_FALSE(HasFailure()) << i;
    }
}

// Whatever takes the short way comes out as the walk would have it.
TEST(CommonShape, AgreesWithTheWalkOnMutatedFrames) {
    std::mt19937_64 random{17};
    std::size_t common = 0;
    for (int i = 0; i < 400'000; ++i) {
        Octets bytes = kRows[random() % std::size(kRows)].frame.bytes();
        for (std::uint64_t flips = random() % 4; flips > 0; --flips) {
            bytes[12 + random() % (std::min<std::size_t>(bytes.size(), 70) - 12)] =
                static_cast<std::byte>(random());
        }
        bytes.resize(random() % 8 == 0 ? random() % bytes.size() : bytes.size());
        FrameView frame = view_of(bytes);
        frame.wire_size += random() % 16 == 0 ? static_cast<std::uint32_t>(random() % 30) : 0U;
        const Tunnels tunnels{.gre = random() % 2 == 0, .vxlan = random() % 4 == 0};
        PacketHeaders quick;
        PacketHeaders walked;
        quick.port = walked.port = random() % 2;
        if (parse_common_shape(frame, tunnels, quick)) {
            (void)walk_frame(frame, tunnels, walked);
            ASSERT_EQ(quick, walked) << i;
            ++common;
        }
    }
    EXPECT_GT(common, 50'000U);
}

}  // namespace
}  // namespace sluice::common_shape_test

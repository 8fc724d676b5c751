#include "lib/act/tag.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using test::checksum_of;
using test::Frame;
using test::Octets;
using test::udp;

Flow parse(const Octets& frame, Tunnels tunnels = {}) {
    Flow flow;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, tunnels, flow);
    return flow;
}

TEST(TagFrame, EveryDscpOverEveryTosKeepsEcnAndTheChecksum) {
    for (unsigned tos = 0; tos < 256; ++tos) {
        for (std::uint8_t dscp = 0; dscp < 64; ++dscp) {
            Octets frame = udp().tos(static_cast<std::uint8_t>(tos)).payload(3).bytes();
            tag_frame(frame, parse(frame), dscp, std::nullopt);
            const auto now = std::to_integer<unsigned>(frame[15]);
            ASSERT_EQ(now >> 2, dscp);
            ASSERT_EQ(now & 3U, tos & 3U);
            ASSERT_EQ(checksum_of(frame, 14, 20), 0U) << tos << " " << unsigned{dscp};
        }
    }
}

TEST(TagFrame, ChangesNothingElse) {
    Octets frame = udp().vlan(7).payload(9).bytes();
    const Octets before = frame;
    tag_frame(frame, parse(frame), 46, 5);
    for (std::size_t i = 0; i < frame.size(); ++i) {
        const bool written = i == 14 || i == 19 || i == 28 || i == 29;  // PCP, DSCP, checksum
        if (!written) {
            EXPECT_EQ(frame[i], before[i]) << i;
        }
    }
    EXPECT_EQ(parse(frame).dscp, 46);
    EXPECT_EQ(parse(frame).vlan_id, 7);
    EXPECT_EQ(std::to_integer<unsigned>(frame[14]) >> 5, 5U);
}

TEST(TagFrame, Ipv6KeepsEcnAndFlowLabel) {
    Octets frame = udp().src("2001:db8::1").tos(0x03).bytes();
    frame[16] = std::byte{0xAB};
    tag_frame(frame, parse(frame), 46, std::nullopt);
    EXPECT_EQ(parse(frame).dscp, 46);
    EXPECT_EQ(std::to_integer<unsigned>(frame[15]) & 0xF0U, 0xB0U);  // 46 << 2 | 3, low nibble up
    EXPECT_EQ(frame[16], std::byte{0xAB});
}

TEST(TagFrame, MarksTheOutermostHeaderOfATunnel) {
    Octets frame = Frame{4}.carries(udp().packet()).bytes();
    const Octets before = frame;
    tag_frame(frame, parse(frame, {.ipip = true}), 8, std::nullopt);
    EXPECT_EQ(parse(frame).dscp, 8);
    EXPECT_TRUE(std::equal(frame.begin() + 34, frame.end(), before.begin() + 34));
}

TEST(TagFrame, LeavesAloneWhatHasNoPlaceForIt) {
    Octets frame = test::arp().bytes();
    const Octets before = frame;
    tag_frame(frame, parse(frame), 46, 5);
    EXPECT_EQ(frame, before);
}

}  // namespace
}  // namespace sluice

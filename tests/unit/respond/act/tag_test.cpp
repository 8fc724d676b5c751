#include "lib/respond/act/tag.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice::tag_test {
namespace {

using test::checksum_of;
using test::Frame;
using test::Octets;
using test::udp;

PacketHeaders parse(const Octets& frame, Tunnels tunnels = {}) {
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, tunnels, headers);
    return headers;
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

TEST(TagFrame, EveryDscpOverEveryTrafficClass) {
    for (unsigned tos = 0; tos < 256; ++tos) {
        for (std::uint8_t dscp = 0; dscp < 64; ++dscp) {
            Octets frame = udp().src("2001:db8::1").tos(static_cast<std::uint8_t>(tos)).bytes();
            Octets wanted = udp()
                                .src("2001:db8::1")
                                .tos(static_cast<std::uint8_t>((dscp << 2) | (tos & 3U)))
                                .bytes();
            tag_frame(frame, parse(frame), dscp, std::nullopt);
            ASSERT_EQ(frame, wanted) << tos << " " << unsigned{dscp};
        }
    }
}

// Every value a header checksum can have, also where one's complement has two zeroes.
TEST(TagFrame, EveryChecksumStaysRight) {
    Octets frame = udp().tos(0x04).bytes();
    for (unsigned id = 0; id <= 0xFFFF; ++id) {
        frame[18] = static_cast<std::byte>(id >> 8);
        frame[19] = static_cast<std::byte>(id & 0xFF);
        frame[24] = frame[25] = std::byte{0};
        const std::uint16_t checksum = checksum_of(frame, 14, 20);
        frame[24] = static_cast<std::byte>(checksum >> 8);
        frame[25] = static_cast<std::byte>(checksum & 0xFF);
        Octets tagged = frame;
        tag_frame(tagged, parse(tagged), 46, std::nullopt);
        ASSERT_EQ(checksum_of(tagged, 14, 20), 0U) << id;
    }
}

TEST(TagFrame, AWrongChecksumStaysWrong) {
    Octets frame = udp().bytes();
    frame[24] ^= std::byte{0x10};
    const std::uint16_t off_by = checksum_of(frame, 14, 20);
    tag_frame(frame, parse(frame), 46, std::nullopt);
    EXPECT_EQ(checksum_of(frame, 14, 20), off_by);
}

TEST(TagFrame, OnlyThePriorityOfTheOutermostTag) {
    for (std::uint8_t pcp = 0; pcp < 8; ++pcp) {
        Octets frame = udp().vlan(0xBABC, 0x88A8).vlan(0x7007).bytes();
        const Octets wanted = udp()
                                  .vlan(static_cast<std::uint16_t>(0x1ABC | (pcp << 13)), 0x88A8)
                                  .vlan(0x7007)
                                  .bytes();
        tag_frame(frame, parse(frame), std::nullopt, pcp);
        EXPECT_EQ(frame, wanted) << unsigned{pcp};
    }
}

TEST(TagFrame, NothingAskedNothingDone) {
    Octets frame = udp().vlan(0xA005).tos(0x55).bytes();
    const Octets before = frame;
    tag_frame(frame, parse(frame), std::nullopt, std::nullopt);
    EXPECT_EQ(frame, before);
}

// Whatever was cut off or is broken: nothing is written beyond the bytes, nor into what is no IP
// header. ASan watches over the first half of that.
TEST(TagFrame, StaysInsideTheBytesAtHand) {
    for (const Octets& whole : {udp().vlan(3).options(Octets(8)).bytes(), udp().src("::1").bytes(),
                                udp().ihl(3).bytes(), Frame{4}.carries(udp().packet()).bytes()}) {
        for (std::size_t size = 0; size <= whole.size(); ++size) {
            const std::span<const std::byte> held = std::span{whole}.first(size);
            const Octets head{held.begin(), held.end()};
            PacketHeaders headers;
            parse_frame({head, static_cast<std::uint32_t>(whole.size())}, {.ipip = true}, headers);
            Octets tagged = head;
            tag_frame(tagged, headers, 46, 5);
            EXPECT_EQ(std::equal(tagged.begin(), tagged.end(), head.begin()),
                      !headers.fields.has(Field::VlanId) && !headers.fields.has(Field::IpSrc))
                << size;
        }
    }
}

TEST(TagFrame, LeavesAloneWhatHasNoPlaceForIt) {
    Octets frame = test::arp().bytes();
    const Octets before = frame;
    tag_frame(frame, parse(frame), 46, 5);
    EXPECT_EQ(frame, before);
}

}  // namespace
}  // namespace sluice::tag_test

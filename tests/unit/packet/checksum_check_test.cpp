#include "lib/packet/checksum_check.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice::checksum_check_test {
namespace {

using test::Frame;
using test::Octets;

constexpr std::size_t kTcpSum = 14 + 20 + 16;
constexpr std::size_t kTcpSum6 = 14 + 40 + 16;

ChecksumFinding find_in(const Octets& bytes, std::size_t on_wire) {
    const FrameView frame{bytes, static_cast<std::uint32_t>(on_wire)};
    PacketHeaders headers;
    parse_frame(frame, {}, headers);
    return find_checksums(headers, frame);
}
ChecksumFinding find_in(const Octets& bytes) {
    return find_in(bytes, bytes.size());
}
Frame segment(bool v6 = false) {
    Frame frame{6};
    if (v6) {
        frame.src("2001:db8::1").dst("2001:db8::2");
    }
    return frame.carries({std::byte{'G'}, std::byte{'E'}, std::byte{'T'}});
}

TEST(ChecksumCheck, RightAndWrong) {
    for (const bool v6 : {false, true}) {
        EXPECT_EQ(find_in(segment(v6).summed().bytes()), ChecksumFinding::Right);
        EXPECT_EQ(find_in(segment(v6).summed().pad(20).bytes()), ChecksumFinding::Right);
        EXPECT_EQ(find_in(segment(v6).summed().vlan(5).bytes()), ChecksumFinding::Right);
        EXPECT_EQ(find_in(segment(v6).summed(1).bytes()), ChecksumFinding::Wrong);
        Octets bytes = segment(v6).summed().bytes();
        for (std::size_t at = 14 + (v6 ? 40 : 20); at < bytes.size(); ++at) {
            bytes[at] ^= std::byte{4};
            if (at != 14U + (v6 ? 40 : 20) + 12) {  // else the header has another length
                EXPECT_EQ(find_in(bytes), ChecksumFinding::Wrong) << at;
            }
            bytes[at] ^= std::byte{4};
        }
    }
}

TEST(ChecksumCheck, TheHeaderOfIpv4CountsAsWell) {
    Octets bytes = segment().summed().bytes();
    bytes[14 + 8] ^= std::byte{1};  // TTL
    EXPECT_EQ(find_in(bytes), ChecksumFinding::Wrong);
    EXPECT_EQ(find_in(segment().summed().options(Octets(4)).bytes()), ChecksumFinding::Right);
}

TEST(ChecksumCheck, ALengthThatIsNotTheFrames) {
    EXPECT_EQ(find_in(segment().ip_len(0).summed().bytes()), ChecksumFinding::Wrong);
    EXPECT_EQ(find_in(segment().ip_len(1000).summed().bytes()), ChecksumFinding::Wrong);
    EXPECT_EQ(find_in(segment(true).ip_len(0).summed().bytes()), ChecksumFinding::Wrong);
}

TEST(ChecksumCheck, WhatASenderLeavesToItsAdapter) {
    for (const bool v6 : {false, true}) {
        Octets bytes = segment(v6).summed().bytes();
        const std::size_t ends = v6 ? 14 + 8 : 14 + 12;
        for (const unsigned length : {23U, 0U}) {
            Octets pseudo{bytes.begin() + static_cast<std::ptrdiff_t>(ends),
                          bytes.begin() + static_cast<std::ptrdiff_t>(ends + (v6 ? 32 : 8))};
            test::put16(pseudo, 6);
            test::put16(pseudo, length);
            const auto sum =
                static_cast<std::uint16_t>(~test::checksum_of(pseudo, 0, pseudo.size()));
            const std::size_t at = v6 ? kTcpSum6 : kTcpSum;
            bytes[at] = static_cast<std::byte>(sum >> 8);
            bytes[at + 1] = static_cast<std::byte>(sum & 0xFF);
            EXPECT_EQ(find_in(bytes), ChecksumFinding::Unfinished) << length;
        }
    }
}

TEST(ChecksumCheck, WhatCannotBeKnown) {
    const Octets bytes = segment().payload(100).summed().bytes();
    EXPECT_EQ(find_in({bytes.begin(), bytes.begin() + 100}, bytes.size()),
              ChecksumFinding::Unknown);
    EXPECT_EQ(find_in(Frame{17}.bytes()), ChecksumFinding::Unknown);
    EXPECT_EQ(find_in(segment().frag(0, true).bytes()), ChecksumFinding::Unknown);
    // A routing header may keep the last destination.
    Octets routing(8);
    routing[0] = std::byte{6};
    EXPECT_EQ(find_in(segment(true).extensions(43, routing).summed(1).bytes()),
              ChecksumFinding::Unknown);
    EXPECT_EQ(find_in(segment(true).extensions(43, routing).summed().bytes()),
              ChecksumFinding::Right);
    // Padding keeps nothing; the address of a mobile host's home is a source.
    Octets padding(8);
    padding[0] = std::byte{6};
    padding[2] = std::byte{1};
    padding[3] = std::byte{4};
    EXPECT_EQ(find_in(segment(true).extensions(60, padding).summed(1).bytes()),
              ChecksumFinding::Wrong);
    EXPECT_EQ(find_in(segment(true).extensions(60, padding).summed().bytes()),
              ChecksumFinding::Right);
    padding[2] = std::byte{201};
    EXPECT_EQ(find_in(segment(true).extensions(60, padding).summed(1).bytes()),
              ChecksumFinding::Unknown);
}

struct Datagram {
    explicit Datagram(Frame maker) : frame{maker.bytes()} {
        parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    }
    // Over the pseudo-header and, where it is finished, the datagram, the slow way.
    void set_checksum(bool is_finished = true) {
        const std::size_t bytes = headers.ip_version == IpVersion::V6 ? 16 : 4;
        const std::size_t size = frame.size() - headers.l4_at;
        Octets covered{headers.src.bytes.begin(),
                       headers.src.bytes.begin() + static_cast<std::ptrdiff_t>(bytes)};
        covered.insert(covered.end(), headers.dst.bytes.begin(),
                       headers.dst.bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
        test::put16(covered, 17);
        test::put16(covered, static_cast<unsigned>(size));
        if (is_finished) {
            covered.insert(covered.end(), frame.begin() + headers.l4_at, frame.end());
        }
        const unsigned sum =
            test::checksum_of(covered, 0, covered.size()) ^ (is_finished ? 0U : 0xFFFFU);
        frame[headers.l4_at + 6U] = static_cast<std::byte>(sum >> 8);
        frame[headers.l4_at + 7U] = static_cast<std::byte>(sum & 0xFF);
    }
    [[nodiscard]] ChecksumFinding found() const {
        return find_checksums(headers, {frame, static_cast<std::uint32_t>(frame.size())});
    }

    Octets frame;
    PacketHeaders headers;
};

Octets payload(std::size_t size) {
    Octets bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i * 37 + 200);
    }
    return bytes;
}
Frame over(IpVersion version, std::size_t size) {
    Frame made = test::udp().carries(payload(size));
    return version == IpVersion::V4 ? made : made.src("2001:db8::1").dst("2001:db8:ffff::2");
}

TEST(UdpChecksum, EveryWrongBitIsSeen) {
    for (const IpVersion version : {IpVersion::V4, IpVersion::V6}) {
        for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 5U, 33U, 1472U}) {
            Datagram one{over(version, size)};
            one.set_checksum();
            EXPECT_EQ(one.found(), ChecksumFinding::Right) << size;
            for (std::size_t at = one.headers.l4_at; at < one.frame.size(); at += 7) {
                one.frame[at] ^= std::byte{0x10};
                // A changed length makes it no whole datagram.
                const bool is_length = at / 2 == one.headers.l4_at / 2U + 2;
                EXPECT_EQ(one.found(),
                          is_length ? ChecksumFinding::Unknown : ChecksumFinding::Wrong)
                    << size << " " << at;
                one.frame[at] ^= std::byte{0x10};
            }
        }
    }
}

TEST(UdpChecksum, NoneSaysNothingOverIpv4AndIsWrongOverIpv6) {
    EXPECT_EQ(Datagram{over(IpVersion::V4, 40)}.found(), ChecksumFinding::Unknown);
    EXPECT_EQ(Datagram{over(IpVersion::V6, 40)}.found(), ChecksumFinding::Wrong);
}

TEST(UdpChecksum, WhatASenderLeavesToItsAdapter) {
    for (const IpVersion version : {IpVersion::V4, IpVersion::V6}) {
        Datagram one{over(version, 40)};
        one.set_checksum(false);
        EXPECT_EQ(one.found(), ChecksumFinding::Unfinished);
    }
}

TEST(UdpChecksum, OfAnUnfinishedFrameNothingIsKnown) {
    Datagram one{over(IpVersion::V4, 400)};
    one.set_checksum();
    one.frame[one.headers.l4_at + 6U] ^= std::byte{1};
    EXPECT_EQ(one.found(), ChecksumFinding::Wrong);
    one.frame.resize(one.frame.size() - 1);
    EXPECT_EQ(one.found(), ChecksumFinding::Unknown);
}

}  // namespace
}  // namespace sluice::checksum_check_test

#include "lib/packet/udp_checksum.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice::udp_checksum_test {
namespace {

using test::Frame;
using test::Octets;

struct Datagram {
    explicit Datagram(Frame maker) : frame{maker.bytes()} {
        parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    }
    // Over the pseudo-header and the datagram, the slow way.
    void set_checksum() {
        const std::size_t bytes = headers.ip_version == IpVersion::V6 ? 16 : 4;
        const std::size_t size = frame.size() - headers.l4_at;
        Octets covered{headers.src.bytes.begin(),
                       headers.src.bytes.begin() + static_cast<std::ptrdiff_t>(bytes)};
        covered.insert(covered.end(), headers.dst.bytes.begin(),
                       headers.dst.bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
        test::put16(covered, 17);
        test::put16(covered, static_cast<unsigned>(size));
        covered.insert(covered.end(), frame.begin() + headers.l4_at, frame.end());
        const unsigned sum = test::checksum_of(covered, 0, covered.size());
        frame[headers.l4_at + 6U] = static_cast<std::byte>(sum >> 8);
        frame[headers.l4_at + 7U] = static_cast<std::byte>(sum & 0xFF);
    }
    [[nodiscard]] bool is_wrong() const { return has_wrong_udp_checksum(headers, frame); }

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
            EXPECT_FALSE(one.is_wrong()) << size;
            for (std::size_t at = one.headers.l4_at; at < one.frame.size(); at += 7) {
                one.frame[at] ^= std::byte{0x10};
                // Its length is another then: it is no whole datagram.
                EXPECT_EQ(one.is_wrong(), at / 2 != one.headers.l4_at / 2U + 2)
                    << size << " " << at;
                one.frame[at] ^= std::byte{0x10};
            }
        }
    }
}

TEST(UdpChecksum, NoneIsRightOverIpv4Alone) {
    EXPECT_FALSE(Datagram{over(IpVersion::V4, 40)}.is_wrong());
    EXPECT_TRUE(Datagram{over(IpVersion::V6, 40)}.is_wrong());
}

TEST(UdpChecksum, OfAnUnfinishedFrameNothingIsKnown) {
    Datagram one{over(IpVersion::V4, 400)};
    one.set_checksum();
    one.frame[one.headers.l4_at + 6U] ^= std::byte{1};
    EXPECT_TRUE(one.is_wrong());
    one.frame.resize(one.frame.size() - 1);
    EXPECT_FALSE(one.is_wrong());
}

}  // namespace
}  // namespace sluice::udp_checksum_test

#include "lib/conn/track/checksum_check.hpp"

#include "lib/conn/track/port_checksums.hpp"
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
}

class Trust : public testing::Test {
protected:
    // Whether the last of so many is dropped.
    bool judge(ChecksumFinding finding, unsigned times = 1) {
        PortChecksums::Judgement last;
        for (; times != 0; --times) {
            last = trust.judge(finding);
            changes += last.state_changed ? 1 : 0;
        }
        return last.is_wrong;
    }
    PortChecksums trust{};
    int changes = 0;
};
using State = PortChecksums::State;

TEST_F(Trust, VerifiesOnceEnoughFramesCameRight) {
    EXPECT_FALSE(judge(ChecksumFinding::Wrong, 1000));
    judge(ChecksumFinding::Right, 63);
    EXPECT_EQ(trust.state(), State::Learning);
    EXPECT_FALSE(judge(ChecksumFinding::Wrong));
    judge(ChecksumFinding::Right);
    EXPECT_EQ(trust.state(), State::Verifying);
    EXPECT_EQ(changes, 1);
    EXPECT_TRUE(judge(ChecksumFinding::Wrong));
    EXPECT_TRUE(judge(ChecksumFinding::Unfinished));
    EXPECT_FALSE(judge(ChecksumFinding::Unknown));
    EXPECT_FALSE(judge(ChecksumFinding::Right));
}

TEST_F(Trust, TrustsWhereSumsComeUnfinished) {
    EXPECT_FALSE(judge(ChecksumFinding::Unfinished, 64));
    EXPECT_EQ(trust.state(), State::Trusting);
    EXPECT_EQ(changes, 1);
    EXPECT_FALSE(judge(ChecksumFinding::Wrong));
}

TEST_F(Trust, AFewMadeUpFramesSwitchNothingOff) {
    judge(ChecksumFinding::Right, 64);
    for (int i = 0; i < 1000; ++i) {
        judge(ChecksumFinding::Right, 10);
        EXPECT_TRUE(judge(ChecksumFinding::Unfinished, 9));
        EXPECT_TRUE(judge(ChecksumFinding::Wrong, 100)) << "wrong ones have no say";
    }
    EXPECT_EQ(changes, 1);
}

TEST_F(Trust, IsDecidedAgainWhenThePortsNeighbourChanges) {
    judge(ChecksumFinding::Unfinished, 64);
    judge(ChecksumFinding::Right, 2 * PortChecksums::kWindow);
    EXPECT_EQ(trust.state(), State::Verifying);
    judge(ChecksumFinding::Unfinished, 2 * PortChecksums::kWindow);
    EXPECT_EQ(trust.state(), State::Trusting);
    EXPECT_EQ(changes, 3);
}

TEST_F(Trust, IsWhatTheOperatorSays) {
    trust = PortChecksums{ChecksumPolicy::Verify};
    EXPECT_TRUE(trust.needs_finding());
    EXPECT_TRUE(judge(ChecksumFinding::Wrong));
    EXPECT_TRUE(judge(ChecksumFinding::Unfinished, 5000));
    trust = PortChecksums{ChecksumPolicy::Trust};
    EXPECT_FALSE(trust.needs_finding());
    EXPECT_FALSE(judge(ChecksumFinding::Wrong, 5000));
    EXPECT_EQ(changes, 0);
}

}  // namespace
}  // namespace sluice::checksum_check_test

#include "tests/pktgen/frame_template.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::pktgen::frame_template_test {
namespace {

using test::checksum_of;
using test::Octets;

// Of everything that is covered, the checksum included, the sum is zero.
bool ip_sum_holds(const Octets& frame, const PacketHeaders& headers) {
    return headers.ip_version == IpVersion::V6 || checksum_of(frame, headers.l3_at, 20) == 0;
}

bool transport_sum_holds(const Octets& frame, const PacketHeaders& headers) {
    const bool v4 = headers.ip_version == IpVersion::V4;
    const std::size_t size = headers.ip_len - (headers.l4_at - headers.l3_at);
    Octets covered;
    if (!(v4 && headers.proto == 1)) {
        const std::size_t at = headers.l3_at + (v4 ? 12U : 8U);
        covered.assign(frame.begin() + static_cast<std::ptrdiff_t>(at),
                       frame.begin() + static_cast<std::ptrdiff_t>(at + (v4 ? 8 : 32)));
        test::put16(covered, headers.proto);
        test::put16(covered, static_cast<unsigned>(size));
    }
    const auto begin = frame.begin() + headers.l4_at;
    covered.insert(covered.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    return checksum_of(covered, 0, covered.size()) == 0;
}

struct Case {
    const Profile* profile;
    Route route;
    std::size_t size;
    bool probe;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Profile& profile : all_profiles()) {
        for (const Family family : {Family::V4, Family::V6}) {
            for (const bool tagged : {false, true}) {
                for (const std::size_t size : {0, 1309, 1518}) {
                    Route route{.family = family};
                    if (tagged) {
                        route.vlan = 77;
                    }
                    all.push_back({&profile, route, size, false});
                    all.push_back({&profile, route, size, true});
                }
            }
        }
    }
    return all;
}

Octets written(const FrameTemplate& frame, const FrameVariation& variation, const Probe* probe) {
    Octets bytes(frame.bytes());
    if (probe != nullptr) {
        frame.write_probed(variation, *probe, bytes.data());
    } else {
        frame.write(variation, bytes.data());
    }
    return bytes;
}

PacketHeaders parsed(const Octets& frame) {
    PacketHeaders headers;
    (void)parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    return headers;
}

void check(const Case& one, const PacketKind& kind, const FrameVariation& variation) {
    const auto frame = FrameTemplate::make(kind, one.route, one.size, one.probe);
    ASSERT_TRUE(frame) << one.profile->name << ": " << frame.error().what;
    const Probe probe{0x0102'0304'0506'0708, 0xAABB'CCDD'EEFF};
    const Octets bytes = written(*frame, variation, one.probe ? &probe : nullptr);
    const PacketHeaders headers = parsed(bytes);
    if (kind.transport == Transport::NotIp) {
        EXPECT_EQ(headers.parsed, Parsed::NotIp);
        return;
    }
    EXPECT_EQ(headers.parsed, Parsed::Ok) << one.profile->name;
    EXPECT_EQ(headers.vlan_id, one.route.vlan.value_or(0));
    EXPECT_TRUE(ip_sum_holds(bytes, headers)) << one.profile->name;
    EXPECT_TRUE(transport_sum_holds(bytes, headers)) << one.profile->name;
    if (one.probe) {
        const auto read = read_probe(bytes);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->number, probe.number);
        EXPECT_EQ(read->sent_at, probe.sent_at);
    }
}

TEST(FrameTemplate, EveryProfileIsWholeAndItsChecksumsHold) {
    const std::array<FrameVariation, 3> variations{
        {{0, 1024, 0}, {0xFFFF'FFFF'FFFF'FFFF, 65535, 0xFFFF'FFFF}, {12'345, 4242, 99}}};
    for (const Case& one : cases()) {
        for (const PacketKind& kind : one.profile->kinds) {
            for (const FrameVariation& variation : variations) {
                check(one, kind, variation);
            }
        }
    }
}

TEST(FrameTemplate, SizesAreWithFcs) {
    const PacketKind& udp = find_profile("udp")->kinds[0];
    EXPECT_EQ(FrameTemplate::make(udp, {}, 64, true)->bytes(), 60U);
    EXPECT_EQ(FrameTemplate::make(udp, {}, 0, false)->bytes(), 60U);
    EXPECT_EQ(FrameTemplate::make(udp, {}, 1518, false)->wire_bits(), 1538U * 8);
}

TEST(FrameTemplate, SaysTheLeastSizeThatHasRoom) {
    const PacketKind& syn = find_profile("syn_flood")->kinds[0];
    EXPECT_TRUE(FrameTemplate::make(syn, {}, 64, false));
    const auto refused = FrameTemplate::make(syn, {}, 64, true);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("the least is 76"), std::string::npos)
        << refused.error().what;
    EXPECT_TRUE(FrameTemplate::make(syn, {}, 76, true));
    EXPECT_FALSE(FrameTemplate::make(syn, {}, kMaxSize + 1, false));
}

TEST(FrameTemplate, ABareSegmentHasNoPayloadHoweverLongItsFrame) {
    const PacketKind& syn = find_profile("syn_flood")->kinds[0];
    const PacketHeaders headers =
        parsed(written(*FrameTemplate::make(syn, {}, 512, false), {}, nullptr));
    EXPECT_EQ(headers.payload_len, 0U);
    EXPECT_EQ(headers.tcp_flags, 2U);
}

TEST(FrameTemplate, AUdpChecksumOfZeroIsSentAsItsComplement) {
    PacketKind kind = find_profile("udp")->kinds[0];
    kind.sources = {.bits = 16};
    const auto frame = FrameTemplate::make(kind, {}, 64, false);
    bool was_zero = false;
    for (std::uint64_t source = 0; source < 65'536; ++source) {
        const Octets bytes = written(*frame, {source, 1024, 0}, nullptr);
        const std::uint16_t sum = load_be16(bytes, 40);
        ASSERT_NE(sum, 0U);
        was_zero = was_zero || sum == 0xFFFF;
    }
    EXPECT_TRUE(was_zero);
}

}  // namespace
}  // namespace sluice::pktgen::frame_template_test

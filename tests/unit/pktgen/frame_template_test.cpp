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
                    for (const bool back : {false, true}) {
                        route.is_back = back;
                        all.push_back({&profile, route, size, false});
                        all.push_back({&profile, route, size, true});
                    }
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
    if (kind.fragment.is_part()) {
        EXPECT_TRUE(ip_sum_holds(bytes, headers)) << one.profile->name;
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

// What a host makes of both parts: the packet as if it had come whole.
Octets joined(const Octets& first, const Octets& later, const Route& route) {
    const bool v4 = route.family == Family::V4;
    const std::size_t ip = 14 + (route.vlan ? 4U : 0U);
    const std::size_t data = ip + (v4 ? 20U : 48U);
    const auto length = [&](const Octets& frame) {
        return v4 ? load_be16(frame, ip + 2) - 20U : load_be16(frame, ip + 4) - 8U;
    };
    const auto offset = [&](const Octets& frame) {
        return v4 ? (load_be16(frame, ip + 6) & 0x1FFFU) * 8 : load_be16(frame, ip + 42) & 0xFFF8U;
    };
    const auto is_followed = [&](const Octets& frame) {
        return (load_be16(frame, ip + (v4 ? 6 : 42)) & (v4 ? 0x2000U : 1U)) != 0;
    };
    const auto id = [&](const Octets& frame) {
        return v4 ? load_be16(frame, ip + 4) : load_be32(frame, ip + 44);
    };
    EXPECT_EQ(id(first), id(later));
    EXPECT_TRUE(is_followed(first));
    EXPECT_FALSE(is_followed(later));
    EXPECT_EQ(offset(first), 0U);
    Octets whole(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(ip + (v4 ? 20 : 40)));
    const std::size_t head = whole.size();
    whole.resize(head + offset(later) + length(later));
    std::copy_n(first.begin() + static_cast<std::ptrdiff_t>(data), length(first),
                whole.begin() + static_cast<std::ptrdiff_t>(head));
    std::copy_n(later.begin() + static_cast<std::ptrdiff_t>(data), length(later),
                whole.begin() + static_cast<std::ptrdiff_t>(head + offset(later)));
    const auto put = [&](std::size_t at, std::size_t value) {
        whole[at] = static_cast<std::byte>(value >> 8);
        whole[at + 1] = static_cast<std::byte>(value);
    };
    if (v4) {
        put(ip + 2, whole.size() - ip);
        put(ip + 6, 0);
        put(ip + 10, 0);
        put(ip + 10, checksum_of(whole, ip, 20));
    } else {
        put(ip + 4, whole.size() - head);
        whole[ip + 6] = static_cast<std::byte>(17);
    }
    return whole;
}

TEST(FrameTemplate, BothFragmentsOfADatagramAreOneUdpPacket) {
    for (const char* name : {"fragments", "fragment_overlap"}) {
        for (const Case& one : cases()) {
            const Profile& profile = *find_profile(name);
            const auto first =
                FrameTemplate::make(profile.kinds[0], one.route, one.size, one.probe);
            const auto later =
                FrameTemplate::make(profile.kinds[1], one.route, one.size, one.probe);
            ASSERT_TRUE(first && later);
            const FrameVariation variation{12'345, 4242, 99, 0xABCD'1234};
            const Probe probe{1, 2};
            const Probe* stamped = one.probe ? &probe : nullptr;
            const Octets whole = joined(written(*first, variation, stamped),
                                        written(*later, variation, stamped), one.route);
            const PacketHeaders headers = parsed(whole);
            EXPECT_EQ(headers.parsed, Parsed::Ok) << name;
            EXPECT_EQ(one.route.is_back ? headers.dport : headers.sport, 4242U);
            EXPECT_TRUE(ip_sum_holds(whole, headers));
            EXPECT_TRUE(transport_sum_holds(whole, headers)) << name << ' ' << one.size;
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

#include "lib/packet/toeplitz.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::toeplitz_test {
namespace {

using Key = std::array<std::uint8_t, Toeplitz::kKeySize>;

// The key, addresses, ports and hashes of the RSS hash verification suite that Microsoft publishes
// for drivers of network cards.
constexpr Key kSuiteKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                        0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                        0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                        0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

struct Vector {
    const char* src;
    std::uint16_t sport;
    const char* dst;
    std::uint16_t dport;
    std::uint32_t addresses;
    std::uint32_t with_ports;
};
constexpr Vector kSuite[] = {
    {"66.9.149.187", 2794, "161.142.100.80", 1766, 0x323e8fc2, 0x51ccc178},
    {"199.92.111.2", 14230, "65.69.140.83", 4739, 0xd718262a, 0xc626b0ea},
    {"24.19.198.95", 12898, "12.22.207.184", 38024, 0xd2d0a5de, 0x5c2b394a},
    {"38.27.205.30", 48228, "209.142.163.6", 2217, 0x82989176, 0xafc7327f},
    {"153.39.163.191", 44251, "202.188.127.2", 1303, 0x5d1809c5, 0x10e828a2},
    {"3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc18cd5, 0x40207d3d},
    {"3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c461c, 0xdde51bbf},
    {"3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024, 0x4b61e985,
     0x02d1feef},
};

PacketHeaders headers_of(const char* src, std::uint16_t sport, const char* dst,
                         std::uint16_t dport) {
    PacketHeaders headers;
    headers.src = parse_address(src)->address;
    headers.dst = parse_address(dst)->address;
    headers.ip_version = parse_address(src)->version;
    headers.proto = 6;
    headers.sport = sport;
    headers.dport = dport;
    for (const Field field : {Field::IpSrc, Field::IpDst, Field::L4Sport, Field::L4Dport}) {
        headers.fields.add(field);
    }
    return headers;
}

TEST(Toeplitz, IsWhatTheVerificationSuiteSays) {
    const Toeplitz hash{kSuiteKey};
    for (const Vector& row : kSuite) {
        const PacketHeaders headers = headers_of(row.src, row.sport, row.dst, row.dport);
        EXPECT_EQ(hash(RssBytes{headers, Rss::Symmetric}.view()), row.addresses) << row.src;
        EXPECT_EQ(hash(RssBytes{headers, Rss::FiveTuple}.view()), row.with_ports) << row.src;
    }
}

// Bit by bit, as the definition has it.
std::uint32_t slow_hash(const Key& key, ByteView input) {
    std::uint32_t hash = 0;
    for (std::size_t bit = 0; bit < input.size() * 8; ++bit) {
        if ((static_cast<unsigned>(input[bit / 8]) >> (7 - bit % 8) & 1U) == 0) {
            continue;
        }
        for (std::size_t i = 0; i < 32; ++i) {
            const std::size_t at = bit + i;
            hash ^= static_cast<std::uint32_t>(key[at / 8] >> (7 - at % 8) & 1U) << (31 - i);
        }
    }
    return hash;
}

TEST(Toeplitz, IsItsDefinitionForAnyKeyAndInput) {
    std::mt19937 random{1};
    for (int round = 0; round < 200; ++round) {
        Key key{};
        for (std::uint8_t& byte : key) {
            byte = static_cast<std::uint8_t>(random());
        }
        std::array<std::byte, RssBytes::kMaxSize> input{};
        for (std::byte& byte : input) {
            byte = static_cast<std::byte>(random());
        }
        const ByteView part = ByteView{input}.first(random() % (input.size() + 1));
        EXPECT_EQ(Toeplitz{key}(part), slow_hash(key, part));
    }
}

TEST(Toeplitz, AKeyThatRepeatsSixteenBitsHashesBothDirectionsAlike) {
    Key key{};
    for (std::size_t i = 0; i < key.size(); ++i) {
        key[i] = i % 2 == 0 ? 0x6d : 0x5a;
    }
    const Toeplitz hash{key};
    for (const Vector& row : kSuite) {
        const PacketHeaders there = headers_of(row.src, row.sport, row.dst, row.dport);
        const PacketHeaders back = headers_of(row.dst, row.dport, row.src, row.sport);
        EXPECT_EQ(hash(RssBytes{there, Rss::Symmetric}.view()),
                  hash(RssBytes{back, Rss::Symmetric}.view()));
        EXPECT_EQ(hash(RssBytes{there, Rss::FiveTuple}.view()),
                  hash(RssBytes{back, Rss::FiveTuple}.view()));
    }
}

std::vector<std::byte> bytes_of_frame(const test::Octets& frame, Rss how) {
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    const RssBytes bytes{headers, how};
    return {bytes.view().begin(), bytes.view().end()};
}

// A later fragment has no ports: whoever hashes addresses only keeps it with its flow.
TEST(RssBytes, FragmentsStayWithTheirFlowUnlessPortsAreHashed) {
    PacketHeaders whole = headers_of("192.0.2.1", 1000, "198.51.100.1", 53);
    PacketHeaders later = whole;
    later.frag = Fragment::Later;
    later.fields = {};
    later.fields.add(Field::IpSrc);
    for (const Rss how : {Rss::Source, Rss::Destination, Rss::Symmetric, Rss::SourcePrefix}) {
        const RssBytes one{whole, how};
        const RssBytes other{later, how};
        EXPECT_TRUE(std::ranges::equal(one.view(), other.view())) << name_of(how);
    }
    EXPECT_EQ((RssBytes{whole, Rss::FiveTuple}.view().size()), 12U);
    EXPECT_EQ((RssBytes{later, Rss::FiveTuple}.view().size()), 8U);
    whole.frag = Fragment::First;
    EXPECT_EQ((RssBytes{whole, Rss::FiveTuple}.view().size()), 8U);
}

TEST(RssBytes, APrefixIsOneForItsNetwork) {
    const auto of = [](const char* src) {
        const RssBytes bytes{headers_of(src, 1, "::1", 1), Rss::SourcePrefix};
        return std::vector<std::byte>(bytes.view().begin(), bytes.view().end());
    };
    EXPECT_EQ(of("192.0.2.1"), of("192.0.2.255"));
    EXPECT_NE(of("192.0.2.1"), of("192.0.3.1"));
    EXPECT_EQ(of("2001:db8::1"), of("2001:db8::ffff:1"));
    EXPECT_NE(of("2001:db8::1"), of("2001:db8:0:1::1"));
}

TEST(RssBytes, TagsChangeNothingAndWhatIsNotIpHasNone) {
    EXPECT_EQ(bytes_of_frame(test::udp().bytes(), Rss::FiveTuple),
              bytes_of_frame(test::udp().vlan(5).bytes(), Rss::FiveTuple));
    EXPECT_TRUE(bytes_of_frame(test::Octets(60), Rss::Source).empty());
}

}  // namespace
}  // namespace sluice::toeplitz_test

#include "lib/l7/quic/long_header.hpp"

#include "lib/l7/quic/datagram.hpp"
#include "lib/l7/quic/quic_version.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"
#include "tests/unit/l7/quic/rfc_packets.hpp"

#include <gtest/gtest.h>

namespace sluice::long_header_test {
namespace {

using test::from_hex;
using test::InitialMaker;
using test::Octets;
using test::put;

struct Row {
    std::string_view name;
    std::string_view hex;
    QuicHeaderOutcome outcome;
    std::string_view type = "";
    std::size_t dcid = 0;
    std::size_t token = 0;
    std::size_t number_at = 0;
    std::size_t size = 0;
};

std::vector<Row> rows() {
    using enum QuicHeaderOutcome;
    return {
        {"nothing", "", Truncated},
        {"a short header", "40112233", ShortHeader},
        {"a byte", "c0", Truncated},
        {"v1 Initial", "c000000001021122013302aabb03010203ff", Good, "initial", 2, 2, 14, 17},
        {"v1 0-RTT", "d0000000010211220133020102", Good, "0rtt", 2, 0, 11, 13},
        {"v1 Handshake", "e0000000010211220133020102", Good, "handshake", 2, 0, 11, 13},
        {"v1 Retry", "f000000001021122013344550102030405060708090a0b0c0d0e0f10", Good, "retry", 2,
         2, 0, 28},
        {"v1 Retry without a tag", "f000000001021122013344550102", Truncated},
        {"v2 Initial", "d06b3343cf021122013302aabb03010203ff", Good, "initial", 2, 2, 14, 17},
        {"v2 0-RTT", "e06b3343cf0211220133020102", Good, "0rtt", 2, 0, 11, 13},
        {"v2 Handshake", "f06b3343cf0211220133020102", Good, "handshake", 2, 0, 11, 13},
        {"v2 Retry", "c06b3343cf021122013344550102030405060708090a0b0c0d0e0f10", Good, "retry", 2,
         2, 0, 28},
        {"negotiation", "800000000002112201336b3343cf", Good, "version_negotiation", 2, 0, 0, 14},
        {"a version to come", "c0fa1a2a3a021122013399", Good, "other_version", 2, 0, 0, 11},
        {"which may have longer ids", "c0fa1a2a3a15000102030405060708090a0b0c0d0e0f101112131400",
         Good, "other_version", 21, 0, 0, 28},
        {"v1 with one", "c00000000115000102030405060708090a0b0c0d0e0f101112131400",
         BadConnectionId},
        {"an id that goes on", "c000000001081122", Truncated},
        {"a token that goes on", "c0000000010211220133408011", Truncated},
        {"a length that goes on", "c000000001021122013300040102ff", Truncated},
        {"a length of 2^62", "c0000000010211220133 00ffffffffffffffff", Truncated},
    };
}

Octets spaced_hex(std::string_view hex) {
    std::string digits{hex};
    std::erase(digits, ' ');
    return from_hex(digits);
}

TEST(LongHeader, IsReadAsItsVersionSays) {
    for (const Row& row : rows()) {
        const Octets datagram = spaced_hex(row.hex);
        QuicPacket packet;
        ASSERT_EQ(read_long_header(datagram, packet), row.outcome) << row.name;
        if (row.outcome == QuicHeaderOutcome::Good) {
            EXPECT_EQ(name_of(packet.type), row.type) << row.name;
            EXPECT_EQ(packet.dcid.size(), row.dcid) << row.name;
            EXPECT_EQ(packet.token.size(), row.token) << row.name;
            EXPECT_EQ(packet.number_at, row.number_at) << row.name;
            EXPECT_EQ(packet.bytes.size(), row.size) << row.name;
        }
    }
}

TEST(LongHeader, TheFixedBitMayBeClear) {
    QuicPacket packet;
    const Octets datagram = InitialMaker{}.fixed_bit(false).carries(Octets(30)).packet();
    EXPECT_EQ(read_long_header(datagram, packet), QuicHeaderOutcome::Good);
    EXPECT_TRUE(packet.can_open());
}

TEST(LongHeader, CutAnywhereItIsTruncated) {
    const Octets datagram = from_hex(test::kRfc9001Initial);
    for (std::size_t size = 0; size < datagram.size(); ++size) {
        const Octets cut{datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(size)};
        QuicPacket packet;
        ASSERT_EQ(read_long_header(cut, packet), QuicHeaderOutcome::Truncated) << size;
    }
}

TEST(QuicDatagram, IsLookedAtWithoutKeys) {
    const Octets initial = from_hex(test::kRfc9369Initial);
    const QuicDatagram look = look_at_datagram(initial);
    EXPECT_EQ(look.outcome, QuicHeaderOutcome::Good);
    EXPECT_EQ(look.first.version, kQuicV2);
    EXPECT_TRUE(std::ranges::equal(look.first.dcid, from_hex(test::kRfcDcid)));
    EXPECT_TRUE(look.can_open);
    EXPECT_TRUE(look.long_enough);
    EXPECT_FALSE(look_at_datagram(ByteView{initial}.first(1199)).long_enough);
}

TEST(QuicDatagram, AnInitialBehindAnotherPacketCanBeOpened) {
    Octets datagram = from_hex("d00000000108d1d1d1d1d1d1d1d100020102");
    put(datagram, InitialMaker{}.carries(Octets(30)).packet());
    const QuicDatagram look = look_at_datagram(datagram);
    EXPECT_EQ(look.first.type, QuicPacketType::ZeroRtt);
    EXPECT_TRUE(look.can_open);
    EXPECT_FALSE(look.long_enough);
}

TEST(QuicDatagram, WithoutASampleItCannot) {
    EXPECT_FALSE(
        look_at_datagram(InitialMaker{}.number(0, 1).carries(Octets(2)).packet()).can_open);
    EXPECT_TRUE(look_at_datagram(InitialMaker{}.number(0, 1).carries(Octets(3)).packet()).can_open);
}

std::size_t count_packets(const Octets& datagram, QuicHeaderOutcome& outcome) {
    QuicPackets packets{datagram};
    QuicPacket packet;
    std::size_t count = 0;
    while (packets.next(packet)) {
        ++count;
    }
    EXPECT_FALSE(packets.next(packet));
    outcome = packets.outcome();
    return count;
}

TEST(QuicPackets, EndWhereTheNextIsNotOfThisConnection) {
    const Octets one = InitialMaker{}.carries(Octets(30)).packet();
    Octets two = one;
    put(two, one);
    const auto with = [&](const Octets& more) {
        Octets datagram = two;
        put(datagram, more);
        return datagram;
    };
    QuicHeaderOutcome outcome{};
    EXPECT_EQ(count_packets(two, outcome), 2U);
    EXPECT_EQ(outcome, QuicHeaderOutcome::Good);
    EXPECT_EQ(count_packets(with(Octets(100)), outcome), 2U);
    EXPECT_EQ(outcome, QuicHeaderOutcome::ShortHeader);
    EXPECT_EQ(
        count_packets(with(InitialMaker{}.dcid(Octets(8)).carries(Octets(9)).packet()), outcome),
        2U);
    EXPECT_EQ(
        count_packets(with(InitialMaker{}.version(kQuicV2).carries(Octets(9)).packet()), outcome),
        3U);
    EXPECT_EQ(count_packets(with(from_hex("c0000000")), outcome), 2U);
    EXPECT_EQ(outcome, QuicHeaderOutcome::Truncated);
    EXPECT_EQ(count_packets(from_hex("c0fa1a2a3a021122013399"), outcome), 1U);
}

}  // namespace
}  // namespace sluice::long_header_test

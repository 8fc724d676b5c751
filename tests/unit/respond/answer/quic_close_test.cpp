#include "lib/respond/answer/quic_close.hpp"

#include "lib/l7/quic/datagram.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"
#include "tests/unit/l7/quic/server_initial.hpp"

#include <gtest/gtest.h>

namespace sluice::quic_close_test {
namespace {

using test::Octets;

// What the client of this Initial receives.
Octets close_for(const RefusedInitial& initial) {
    InitialSealer sealer{*InitialSealer::make()};
    Octets room(kMostQuicClose, std::byte{0xEE});
    room.resize(write_quic_close(sealer, initial, room));
    return room;
}

TEST(QuicClose, IsReadByTheClientThatWasRefused) {
    for (const std::uint32_t version : {kQuicV1, kQuicV2}) {
        for (std::size_t id = 0; id <= 20; ++id) {
            const Octets scid(id, std::byte{0x5C});
            const Octets dcid(20 - id, std::byte{0xD1});
            const Octets sent = close_for(
                {.version = version, .client_dcid = dcid, .client_scid = scid, .datagram = 1200});
            QuicPacket packet;
            ASSERT_EQ(read_long_header(sent, packet), QuicHeaderOutcome::Good);
            EXPECT_EQ(packet.type, QuicPacketType::Initial);
            EXPECT_EQ(packet.version, version);
            EXPECT_TRUE(std::ranges::equal(packet.dcid, scid));
            EXPECT_TRUE(packet.scid.empty());
            EXPECT_TRUE(packet.token.empty());
            EXPECT_EQ(packet.bytes.size(), sent.size());
            EXPECT_TRUE(packet.can_open());
            EXPECT_NE(load_u8(sent, 0) & 0x40, 0);
            // CONNECTION_CLOSE, CONNECTION_REFUSED, frame type 0, no reason: RFC 9000, 19.19.
            EXPECT_EQ(test::open_server_initial(sent, dcid, packet.number_at),
                      (Octets{std::byte{0x1C}, std::byte{2}, std::byte{0}, std::byte{0}}));
        }
    }
}

TEST(QuicClose, AnswersWhatAServerWould) {
    const Octets id(8, std::byte{1});
    const RefusedInitial good{
        .version = kQuicV1, .client_dcid = id, .client_scid = id, .datagram = 1200};
    EXPECT_FALSE(close_for(good).empty());
    RefusedInitial short_one = good;
    short_one.datagram = 1199;
    EXPECT_TRUE(close_for(short_one).empty());
    RefusedInitial other = good;
    other.version = 2;
    EXPECT_TRUE(close_for(other).empty());
    const Octets too_long(21);
    RefusedInitial long_id = good;
    long_id.client_scid = too_long;
    EXPECT_TRUE(close_for(long_id).empty());
    long_id = good;
    long_id.client_dcid = too_long;
    EXPECT_TRUE(close_for(long_id).empty());
}

TEST(QuicClose, NeverIsLargerThanWhatCame) {
    const Octets id(20);
    const Octets sent =
        close_for({.version = kQuicV1, .client_dcid = id, .client_scid = id, .datagram = 1200});
    EXPECT_LE(sent.size(), kMostQuicClose);
}

}  // namespace
}  // namespace sluice::quic_close_test

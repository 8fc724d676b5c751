#include "lib/respond/answer/made_segment.hpp"

#include "tests/unit/respond/answer/sent_frame.hpp"

namespace sluice::made_segment_test {
namespace {

using test::headers_of;
using test::Octets;
using test::SentFrame;
using test::tcp;

SentFrame sent(const MadeSegment& segment, const char* from = "192.0.2.1") {
    const Octets came = tcp().src(from).sport(40'000).dport(80).bytes();
    FrameRoute route;
    EXPECT_EQ(FrameRoute::find(headers_of(came), came, Toward::Source, route), RouteFault::None);
    Octets frame(segment_frame_size(route, segment), std::byte{0xEE});
    write_segment(route, segment, frame);
    return SentFrame{frame};
}

TEST(MadeSegment, IsReadAsItWasMeant) {
    for (const char* from : {"192.0.2.1", "2001:db8::7"}) {
        for (std::size_t size = 0; size < 70; ++size) {
            const Octets payload(size, std::byte{0xA5});
            const SentFrame frame = sent(
                {.seq = 0x0102'0304, .ack = 0x8090'A0B0, .flags = 0x19, .payload = payload}, from);
            EXPECT_EQ(frame.headers().sport, 80);
            EXPECT_EQ(frame.headers().dport, 40'000);
            EXPECT_EQ(frame.headers().tcp_flags, 0x19);
            EXPECT_EQ(frame.seq(), 0x0102'0304U);
            EXPECT_EQ(frame.ack(), 0x8090'A0B0U);
            EXPECT_EQ(frame.window(), 0xFFFF);
            EXPECT_EQ(frame.options().size(), 0U);
            EXPECT_EQ(frame.payload(), payload);
        }
    }
}

// What its payload adds to the checksum may be known: the frame is the same.
TEST(MadeSegment, IsTheSameWhereItsPayloadHasBeenSummedUp) {
    for (std::size_t size = 0; size < 70; ++size) {
        const Octets payload(size, std::byte{0xA5});
        InternetChecksum sum;
        sum.add(payload);
        MadeSegment segment{.seq = 7, .ack = 9, .flags = 0x19, .payload = payload};
        if (size % 2 == 0) {
            segment.timestamps = TcpTimestamps{9, 8};
        }
        const Octets before = sent(segment).bytes();
        segment.payload_sum = &sum;
        EXPECT_EQ(sent(segment).bytes(), before);
    }
}

TEST(MadeSegment, CarriesTimestamps) {
    const Octets payload(5, std::byte{1});
    const SentFrame frame =
        sent({.flags = kTcpAck, .timestamps = TcpTimestamps{9, 8}, .payload = payload});
    EXPECT_EQ(frame.options(), test::timestamp_options(9, 8));
    EXPECT_EQ(frame.payload(), payload);
}

TEST(MadeSegment, AResetHasNoWindowAndOnlyAckCarriesANumber) {
    const SentFrame reset = sent({.seq = 1, .ack = 2, .flags = kTcpRst});
    EXPECT_EQ(reset.window(), 0);
    EXPECT_EQ(reset.ack(), 0U);
    EXPECT_EQ(reset.bytes().size(), kLeastFrame);
}

}  // namespace
}  // namespace sluice::made_segment_test

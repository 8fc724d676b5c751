#include "lib/respond/answer/made_datagram.hpp"

#include "tests/unit/respond/answer/sent_frame.hpp"

namespace sluice::made_datagram_test {
namespace {

using test::headers_of;
using test::Octets;
using test::SentFrame;
using test::udp;

SentFrame sent(const Octets& payload, const char* from) {
    const Octets came = udp().src(from).sport(40'000).dport(53).bytes();
    FrameRoute route;
    EXPECT_EQ(FrameRoute::find(headers_of(came), came, Toward::Source, route), RouteFault::None);
    Octets frame(datagram_frame_size(route, payload), std::byte{0xEE});
    write_datagram(route, payload, frame);
    return SentFrame{frame};
}

TEST(MadeDatagram, IsReadAsItWasMeant) {
    for (const char* from : {"192.0.2.1", "2001:db8::7"}) {
        for (std::size_t size = 1; size < 70; ++size) {
            const Octets payload(size, std::byte{0xA5});
            const SentFrame frame = sent(payload, from);
            EXPECT_EQ(frame.headers().sport, 53);
            EXPECT_EQ(frame.headers().dport, 40'000);
            EXPECT_EQ(frame.payload(), payload);
        }
    }
}

// Of all payloads of two bytes one has the checksum zero.
TEST(MadeDatagram, AChecksumOfZeroIsSentAsItsComplement) {
    unsigned complements = 0;
    for (unsigned word = 0; word < 0x1'0000; ++word) {
        Octets payload;
        test::put16(payload, word);
        const SentFrame frame = sent(payload, "192.0.2.1");
        complements += load_be16(frame.bytes(), frame.headers().l4_at + 6U) == 0xFFFF ? 1 : 0;
    }
    EXPECT_EQ(complements, 1U);
}

}  // namespace
}  // namespace sluice::made_datagram_test

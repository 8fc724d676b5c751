#include "lib/respond/answer/tcp_facts.hpp"

#include "tests/unit/respond/answer/sent_frame.hpp"

namespace sluice::tcp_facts_test {
namespace {

using test::headers_of;
using test::Octets;
using test::put;
using test::tcp;

Octets octets(std::initializer_list<unsigned> values) {
    Octets out;
    for (const unsigned value : values) {
        test::put8(out, value);
    }
    return out;
}

// A segment with these options, padded to words, and three bytes behind them.
std::optional<TcpFacts> facts_with(Octets options) {
    options.resize((options.size() + 3) / 4 * 4);
    const auto words = static_cast<std::uint8_t>(5 + options.size() / 4);
    options.resize(options.size() + 3, std::byte{'x'});
    const Octets frame = tcp().data_offset(words).carries(options).bytes();
    return read_tcp_facts(headers_of(frame), frame);
}

TEST(TcpFacts, AreThoseOfTheSegment) {
    const Octets frame = tcp().seq(0xFFFF'FFF0).ack(77).flags(0x19).payload(20).bytes();
    const auto facts = read_tcp_facts(headers_of(frame), frame);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->seq, 0xFFFF'FFF0U);
    EXPECT_EQ(facts->ack, 77U);
    EXPECT_TRUE(facts->has(kTcpFin) && facts->has(kTcpPsh) && facts->has(kTcpAck));
    EXPECT_FALSE(facts->has(kTcpSyn) || facts->has(kTcpRst));
    EXPECT_EQ(facts->payload, 20U);
    EXPECT_EQ(facts->end(), 5U);  // the FIN has a number too
    EXPECT_FALSE(facts->timestamps);
}

TEST(TcpFacts, OptionsAreReadUpToTheFirstThatIsNotSound) {
    const Octets timestamps = test::timestamp_options(11, 22);
    EXPECT_EQ(facts_with(timestamps)->timestamps, (TcpTimestamps{11, 22}));
    Octets both = octets({2, 4, 5, 0xB4, 3, 3, 7});
    put(both, timestamps);
    EXPECT_EQ(facts_with(both)->timestamps, (TcpTimestamps{11, 22}));
    EXPECT_EQ(facts_with(both)->payload, 3U);

    Octets behind_end = octets({0});
    put(behind_end, timestamps);
    EXPECT_FALSE(facts_with(behind_end)->timestamps);
    for (const unsigned length : {0U, 1U, 200U}) {
        Octets broken = octets({99, length});
        put(broken, timestamps);
        EXPECT_FALSE(facts_with(broken)->timestamps) << length;
    }
    EXPECT_FALSE(facts_with(octets({8, 9, 1, 2, 3, 4, 5, 6, 7}))->timestamps);
    EXPECT_FALSE(facts_with(octets({1, 1, 8, 10}))->timestamps);
    EXPECT_FALSE(facts_with(octets({1, 1, 1, 8}))->timestamps);
}

TEST(TcpFacts, NeedAWholeHeader) {
    const Octets udp = test::udp().payload(40).bytes();
    EXPECT_FALSE(read_tcp_facts(headers_of(udp), udp));
    Octets frame = tcp().data_offset(8).payload(12).bytes();
    const PacketHeaders headers = headers_of(frame);
    EXPECT_TRUE(read_tcp_facts(headers, frame));
    frame.pop_back();
    EXPECT_FALSE(read_tcp_facts(headers, frame));
    const Octets later = tcp().frag(3, false).payload(40).bytes();
    EXPECT_FALSE(read_tcp_facts(headers_of(later), later));
}

}  // namespace
}  // namespace sluice::tcp_facts_test

#include "tests/bench/packet_mill.hpp"

#include "tests/bench/rte_reference.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include <rte_mbuf.h>

namespace sluice::packet_mill_test {
namespace {

using bench::PacketMill;

test::Octets segment(std::size_t number) {
    return test::tcp()
        .src("10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256))
        .payload(100)
        .bytes();
}

std::uint32_t sequence_of(const rte_mbuf* frame) {
    std::uint32_t sequence = 0;
    std::memcpy(&sequence, rte_pktmbuf_mtod(frame, const std::uint8_t*) + 38, sizeof(sequence));
    return __builtin_bswap32(sequence);
}

// Of a worker that overlaps its bursts: while one goes, the next one has come.
TEST(PacketMill, BurstsOnTheirWayTogetherShareNoFrame) {
    ASSERT_TRUE(bench::start_eal());
    PacketMill mill{PacketMill::Headers::Streams, &segment};
    for (int turn = 0; turn < 2000; ++turn) {
        PacketMill::Frames going;
        PacketMill::Frames coming;
        mill.receive(going);
        mill.receive(coming);
        ASSERT_TRUE(std::memcmp(going.data(), coming.data(), sizeof(going)) != 0) << turn;
        const std::uint32_t before = sequence_of(coming[0]);
        mill.send(going);
        EXPECT_EQ(sequence_of(coming[0]), before) << "it is on its way";
        mill.send(coming);
    }
}

}  // namespace
}  // namespace sluice::packet_mill_test

#include "lib/l7/stream/unit_parser.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

#include <random>

// Rows that are left out before anything is read of them.
namespace sluice::test {
namespace {

constexpr Instant kNow{std::chrono::hours{1}};

// Beginnings of what readers look for, cut and spoiled at random, or any bytes.
class RandomPayload {
public:
    explicit RandomPayload(std::uint32_t seed) : random_{seed} {}

    Octets make() {
        static const std::vector<Octets> kSound{
            octets("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), octets("\r\n\nPOST /a HTTP/1.0\r\n\r\n"),
            octets("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),  octets("\x16\x03\x01\x00\x05\x01"),
            octets("\x14\x03\x03\x00\x01\x01"),          octets("HTTP/1.1 200 OK\r\n\r\n"),
            message_octets(dns_query("www.a.example"))};
        Octets payload = kSound[below(kSound.size())];
        if (below(3) == 0) {
            payload.resize(1 + below(payload.size()));
        }
        if (below(2) == 0) {
            payload[below(std::min<std::size_t>(payload.size(), 4))] = byte();
        }
        if (below(8) == 0) {
            payload.insert(payload.begin(), {byte(), byte()});
        }
        return payload;
    }
    std::size_t below(std::size_t bound) { return random_() % bound; }

private:
    static Octets octets(std::string_view text) {
        const ByteView bytes = bytes_of(text);
        return {bytes.begin(), bytes.end()};
    }
    std::byte byte() { return static_cast<std::byte>(random_()); }

    std::mt19937 random_;
};

// Of a connection that nobody knows, and of any datagram: nothing would have been found.
TEST(Select, LeavesOutWhatNobodyReads) {
    const std::uint32_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomPayload random{seed};
    constexpr std::uint16_t kPorts[] = {53, 80, 443, 137, 9999};
    UnitParser parser{UnitBudget{}};
    UnitProbe probe{parser.finder()};
    UnitFinder every = parser.finder();
    every.possible = nullptr;
    every.select = nullptr;
    UnitProbe reads_all{every};
    std::size_t left_out = 0;
    for (int i = 0; i < 4'000 && !testing::Test::HasFailure(); ++i) {
        const Octets payload = random.make();
        const std::uint16_t dport = kPorts[random.below(std::size(kPorts))];
        const std::uint16_t sport = kPorts[random.below(std::size(kPorts))];
        const Octets frame = random.below(2) == 0
                                 ? segment(1, payload, dport, sport)
                                 : Frame{17}.sport(sport).dport(dport).carries(payload).bytes();
        if (!probe.selects(frame, kNow)) {
            ++left_out;
            const ProbedPacket read = reads_all.take(frame, kNow);
            EXPECT_TRUE(read.kinds.empty() && read.events.empty() && read.dropped.empty());
            EXPECT_EQ(parser.connections().connections.read(), 0U);
        }
    }
    EXPECT_GT(left_out, 500U);
}

// A segment of a connection that is known is read, whatever it begins with.
TEST(Select, ReadsWhatGoesOn) {
    UnitParser parser{UnitBudget{}};
    UnitProbe probe{parser.finder()};
    const ByteView half = bytes_of("GET / HTTP/1.1\r\nHost:");
    const Octets rest{std::byte{' '}, std::byte{'a'}, std::byte{0x80}};
    EXPECT_FALSE(probe.selects(segment(23, rest, 80), kNow));
    (void)probe.take(opening(1, 80), kNow);
    (void)probe.take(segment(1, {half.begin(), half.end()}, 80), kNow);
    EXPECT_TRUE(probe.selects(segment(23, rest, 80), kNow));
    EXPECT_FALSE(probe.selects(segment(23, {}, 80), kNow))
        << "it neither carries nor ends anything";
    EXPECT_TRUE(probe.selects(segment(23, {}, 80, 40'000, 0x14), kNow));
}

// The connection that the first row opens is known when the second one is read.
TEST(Select, KnowsWhatRowsBeforeWillOpen) {
    UnitParser parser{UnitBudget{}};
    const UnitFinder finder = parser.finder();
    const KeyHasher hash{HashSecret{1, 2}};
    const ByteView half = bytes_of("GET");
    const Octets first = opening(1, 80);
    const Octets rest = segment(1, {half.begin(), half.end()}, 80);
    for (const bool is_alone : {false, true}) {
        FrameColumns frames;
        if (!is_alone) {
            frames.add(first, static_cast<std::uint32_t>(first.size()));
        }
        frames.add(rest, static_cast<std::uint32_t>(rest.size()));
        HeaderColumns headers;
        parse_columns(frames, {}, headers);
        RowNotes notes;
        RowEnds ends;
        fill_connection_ends(headers, headers.well_formed(), hash, ends);
        const UnitColumns burst{headers, frames, ends, kHttpTexts, {Per::Request}, hash, kNow};
        EXPECT_EQ(finder.select(finder.parser, burst, headers.well_formed(), notes),
                  is_alone ? 0U : 3U);
    }
}

}  // namespace
}  // namespace sluice::test

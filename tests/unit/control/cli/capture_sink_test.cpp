#include "control/cli/replay/capture_sink.hpp"

#include "lib/capture/reader.hpp"
#include "lib/packet/parse_columns.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice::capture_sink_test {
namespace {

using test::Octets;
using test::udp;

struct Written {
    Instant at;
    Octets bytes;
    std::uint32_t wire_size;
};

std::vector<Written> read_all(const std::string& path) {
    auto reader = CaptureReader::open(path);
    std::vector<Written> frames;
    CapturedFrame frame;
    while (reader && reader->next(frame) == CaptureReader::Next::Frame) {
        frames.push_back(
            {frame.timestamp, {frame.bytes.begin(), frame.bytes.end()}, frame.wire_size});
    }
    return frames;
}

TEST(CaptureSink, HoldsWhatLeavesTheBoxInOrder) {
    const std::string path = testing::TempDir() + "sluice_capture_sink_test.pcap";
    auto out = CaptureWriter::create(path);
    ASSERT_TRUE(out) << out.error().what;
    const std::vector<Action> actions{kPass, kDrop, {Verdict::Tag, {.dscp = 46}}};
    const std::array<Octets, 3> came{udp().sport(1).bytes(), udp().sport(2).bytes(),
                                     udp().sport(3).bytes()};
    std::array<KeptFrame, 3> frames;
    Burst packets;
    std::vector<BurstRow> rows;
    for (std::size_t i = 0; i < came.size(); ++i) {
        const auto size = static_cast<std::uint32_t>(came[i].size());
        frames[i].keep({i + 1, Instant{Nanoseconds{1000 + i}}, came[i], size});
        packets.add({frames[i].frame().bytes, size}, Direction::In, 0);
        rows.push_back({&packets, i});
    }
    parse_columns(packets.frames(), {}, packets.headers());
    packets.decision(1) = {.verdict = Verdict::Drop, .action = kDropAction};
    packets.decision(2) = {.verdict = Verdict::Tag, .action = 2};
    ReplayedFrames burst{rows};
    HeldRecords held;
    CaptureSink sink{frames, *out, held, Instant{}};
    const Octets made = udp().sport(9).payload(5).bytes();
    EXPECT_TRUE(sink.emit(1, Toward::Source, made.size(), [&](MutableBytes into) {
        std::copy(made.begin(), made.end(), into.begin());
    }));
    act_burst(burst, actions, sink);
    ASSERT_TRUE(out->finish());

    const std::vector<Written> written = read_all(path);
    ASSERT_EQ(written.size(), 3U);
    EXPECT_EQ(written[0].bytes, made);
    EXPECT_EQ(written[0].at, Instant{Nanoseconds{1001}});
    EXPECT_EQ(written[0].wire_size, made.size());
    EXPECT_EQ(written[1].bytes, came[0]);
    EXPECT_EQ(std::to_integer<unsigned>(written[2].bytes[15]) >> 2, 46U);
    EXPECT_EQ(test::checksum_of(written[2].bytes, 14, 20), 0U);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace sluice::capture_sink_test

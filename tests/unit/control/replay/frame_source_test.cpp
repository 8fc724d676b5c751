#include "control/replay/frame_source.hpp"

#include "tests/unit/capture/file_bytes.hpp"

#include <gtest/gtest.h>

namespace sluice::frame_source_test {
namespace {

struct Seen {
    std::int64_t now = 0;
    std::size_t frames = 0;
    [[nodiscard]] bool operator==(const Seen&) const = default;
};

std::vector<Seen> batches(const std::vector<std::uint32_t>& nanoseconds) {
    test::FileBytes file = test::pcap_header(std::endian::little, test::kNanoseconds);
    for (const std::uint32_t time : nanoseconds) {
        test::add_record(file, {0, time}, "frame", 5);
    }
    auto reader = test::read_bytes(file.bytes());
    FrameSource source{*reader};
    std::vector<Seen> seen;
    for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
        seen.push_back({source.now().time_since_epoch().count(), frames.size()});
    }
    EXPECT_EQ(source.end(), CaptureReader::Next::End);
    EXPECT_TRUE(source.next_batch().empty());
    return seen;
}

TEST(FrameSource, EndsABatchWhereTheTimestampChanges) {
    EXPECT_EQ(batches({5, 5, 5, 7, 8, 8}), (std::vector<Seen>{{5, 3}, {7, 1}, {8, 2}}));
    EXPECT_TRUE(batches({}).empty());
}

TEST(FrameSource, NeverTurnsTheClockBack) {
    EXPECT_EQ(batches({7, 6, 7, 6, 8}),
              (std::vector<Seen>{{7, 1}, {7, 1}, {7, 1}, {7, 1}, {8, 1}}));
}

TEST(FrameSource, FillsNoBatchBeyondABurst) {
    EXPECT_EQ(batches(std::vector<std::uint32_t>(70, 3)),
              (std::vector<Seen>{{3, 32}, {3, 32}, {3, 6}}));
}

TEST(FrameSource, KeepsEachFrameOfABatchApart) {
    test::FileBytes file = test::pcap_header(std::endian::little, test::kNanoseconds);
    test::add_record(file, {0, 1}, "one", 3);
    test::add_record(file, {0, 1}, "second", 60);
    test::add_record(file, {0, 2}, "3", 1);
    auto reader = test::read_bytes(file.bytes());
    FrameSource source{*reader};
    const auto frames = source.next_batch();
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(test::text_of(frames[0].frame().bytes), "one");
    EXPECT_EQ(frames[0].frame().number, 1U);
    EXPECT_EQ(test::text_of(frames[1].frame().bytes), "second");
    EXPECT_EQ(frames[1].frame().wire_size, 60U);
    EXPECT_EQ(frames[1].frame().number, 2U);
}

}  // namespace
}  // namespace sluice::frame_source_test

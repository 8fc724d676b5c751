#include "lib/capture/pcapng_writer.hpp"

#include "lib/capture/reader.hpp"
#include "tests/unit/capture/file_bytes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sluice::pcapng_writer_test {
namespace {

using test::text_of;

const std::string kPath = testing::TempDir() + "sluice_pcapng_writer_test.pcapng";

TEST(PcapngWriter, WhatItWritesIsReadBack) {
    auto writer = PcapngWriter::create(kPath, "a test");
    ASSERT_TRUE(writer) << writer.error().what;
    const Instant at{Nanoseconds{1'700'000'000'123'456'789}};
    for (const std::string_view bytes : {"", "a", "ab", "abc", "abcd", "abcde"}) {
        writer->write({.timestamp = at, .bytes = bytes_of(bytes), .wire_size = 1'500}, "why");
    }
    writer->write({.timestamp = at, .bytes = bytes_of("z"), .wire_size = 1}, "");
    ASSERT_TRUE(writer->finish());
    auto reader = CaptureReader::open(kPath);
    ASSERT_TRUE(reader) << reader.error().what;
    CapturedFrame frame;
    for (const std::string_view bytes : {"", "a", "ab", "abc", "abcd", "abcde"}) {
        ASSERT_EQ(reader->next(frame), CaptureReader::Next::Frame);
        EXPECT_EQ(text_of(frame.bytes), bytes);
        EXPECT_EQ(frame.timestamp, at);
        EXPECT_EQ(frame.wire_size, 1'500U);
    }
    ASSERT_EQ(reader->next(frame), CaptureReader::Next::Frame);
    EXPECT_EQ(text_of(frame.bytes), "z");
    EXPECT_EQ(reader->next(frame), CaptureReader::Next::End);
}

TEST(PcapngWriter, ALongCommentIsCutBetweenCharacters) {
    auto writer = PcapngWriter::create(kPath, "a test");
    ASSERT_TRUE(writer);
    std::string comment(PcapngWriter::kMostComment - 1, 'x');
    writer->write({.bytes = bytes_of("z"), .wire_size = 1}, comment + "\xC3\xA9 and more");
    ASSERT_TRUE(writer->finish());
    std::ifstream file{kPath, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_NE(bytes.find(comment), std::string::npos);
    EXPECT_EQ(bytes.find('\xC3'), std::string::npos);
}

TEST(PcapngWriter, AFullDiskAndAFolderThatIsNotThereAreErrors) {
    EXPECT_FALSE(PcapngWriter::create("/nonexistent/x.pcapng", "a test"));
    const auto full = PcapngWriter::create("/dev/full", "a test");
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().what, "cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace sluice::pcapng_writer_test

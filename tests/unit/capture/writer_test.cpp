#include "lib/capture/writer.hpp"

#include "tests/unit/capture/file_bytes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace sluice::writer_test {
namespace {

using test::text_of;

TEST(CaptureWriter, KeepsTimesAndSizesToTheNanosecond) {
    const std::string path = testing::TempDir() + "sluice_writer_test.pcap";
    auto writer = CaptureWriter::create(path);
    ASSERT_TRUE(writer) << writer.error().what;
    const Instant late{Nanoseconds{4'102'444'800'000'000'001}};  // in the year 2100
    writer->write({.number = 1,
                   .timestamp = Instant{Nanoseconds{1'700'000'000'123'456'789}},
                   .bytes = bytes_of("whole"),
                   .wire_size = 5});
    writer->write({.number = 2, .timestamp = late, .bytes = bytes_of("cut"), .wire_size = 1'500});
    ASSERT_TRUE(writer->finish());

    auto reader = CaptureReader::open(path);
    ASSERT_TRUE(reader) << reader.error().what;
    CapturedFrame frame;
    ASSERT_EQ(reader->next(frame), CaptureReader::Next::Frame);
    EXPECT_EQ(frame.timestamp, Instant{Nanoseconds{1'700'000'000'123'456'789}});
    EXPECT_EQ(text_of(frame.bytes), "whole");
    EXPECT_EQ(frame.wire_size, 5U);
    ASSERT_EQ(reader->next(frame), CaptureReader::Next::Frame);
    EXPECT_EQ(frame.timestamp, late);
    EXPECT_EQ(text_of(frame.bytes), "cut");
    EXPECT_EQ(frame.wire_size, 1'500U);
    EXPECT_EQ(reader->next(frame), CaptureReader::Next::End);
    std::filesystem::remove(path);
}

TEST(CaptureWriter, SaysWhatItCannotWrite) {
    EXPECT_FALSE(CaptureWriter::create("/nonexistent/folder/out.pcap"));
    auto full = CaptureWriter::create("/dev/full");
    ASSERT_TRUE(full);
    full->write({.number = 1, .timestamp = {}, .bytes = bytes_of("frame"), .wire_size = 5});
    EXPECT_FALSE(full->finish());
}

}  // namespace
}  // namespace sluice::writer_test

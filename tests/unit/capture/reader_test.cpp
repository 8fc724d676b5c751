#include "lib/capture/reader.hpp"

#include "tests/unit/capture/file_bytes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::reader_test {
namespace {

using test::add_record;
using test::FileBytes;
using test::pcap_header;
using test::read_bytes;
using test::text_of;
using Next = CaptureReader::Next;

struct Form {
    std::string_view name;
    std::endian order;
    std::uint32_t magic;
    std::int64_t ns_per_fraction;
};

class EveryForm : public testing::TestWithParam<Form> {};

TEST_P(EveryForm, GivesFramesTheirTimesAndSizes) {
    FileBytes file = pcap_header(GetParam().order, GetParam().magic);
    add_record(file, {1'000, 7}, "first frame", 11);
    add_record(file, {3'000'000'000, 8}, "second", 1'500);
    auto reader = read_bytes(file.bytes());
    ASSERT_TRUE(reader) << reader.error().what;
    CapturedFrame frame;
    ASSERT_EQ(reader->next(frame), Next::Frame);
    EXPECT_EQ(frame.number, 1U);
    EXPECT_EQ(frame.timestamp,
              Instant{Nanoseconds{1'000'000'000'000 + 7 * GetParam().ns_per_fraction}});
    EXPECT_EQ(text_of(frame.bytes), "first frame");
    EXPECT_EQ(frame.wire_size, 11U);
    ASSERT_EQ(reader->next(frame), Next::Frame);
    EXPECT_EQ(frame.number, 2U);
    EXPECT_EQ(frame.timestamp,
              Instant{Nanoseconds{3'000'000'000'000'000'000 + 8 * GetParam().ns_per_fraction}});
    EXPECT_EQ(text_of(frame.bytes), "second");
    EXPECT_EQ(frame.wire_size, 1'500U);
    EXPECT_EQ(reader->next(frame), Next::End);
}

INSTANTIATE_TEST_SUITE_P(
    Pcap, EveryForm,
    testing::Values(Form{"little_us", std::endian::little, test::kMicroseconds, 1'000},
                    Form{"little_ns", std::endian::little, test::kNanoseconds, 1},
                    Form{"big_us", std::endian::big, test::kMicroseconds, 1'000},
                    Form{"big_ns", std::endian::big, test::kNanoseconds, 1}),
    [](const auto& form) { return std::string{form.param.name}; });

TEST(CaptureReader, ClaimsNoLessOnTheWireThanWasCaptured) {
    FileBytes file = pcap_header(std::endian::little, test::kNanoseconds);
    add_record(file, {1, 1}, "liar", 2);
    auto reader = read_bytes(file.bytes());
    ASSERT_TRUE(reader);
    CapturedFrame frame;
    ASSERT_EQ(reader->next(frame), Next::Frame);
    EXPECT_EQ(frame.bytes.size(), 4U);
    EXPECT_EQ(frame.wire_size, 4U);
}

// Wherever the file ends inside the last record, the frames before it are good.
TEST(CaptureReader, TellsACutRecordFromTheEnd) {
    FileBytes file = pcap_header(std::endian::little, test::kMicroseconds);
    add_record(file, {1, 1}, "whole", 5);
    const std::size_t whole = file.bytes().size();
    add_record(file, {2, 2}, "cut", 3);
    for (std::size_t size = whole; size <= file.bytes().size(); ++size) {
        const std::string bytes = file.bytes().substr(0, size);
        auto reader = read_bytes(bytes);
        ASSERT_TRUE(reader);
        CapturedFrame frame;
        ASSERT_EQ(reader->next(frame), Next::Frame);
        EXPECT_EQ(text_of(frame.bytes), "whole");
        const bool all = size == file.bytes().size();
        const Next expected = all ? Next::Frame : (size == whole ? Next::End : Next::Cut);
        EXPECT_EQ(reader->next(frame), expected) << size;
        EXPECT_EQ(reader->fault().empty(), expected != Next::Cut) << size;
    }
}

TEST(CaptureReader, RefusesARecordOfImpossibleSize) {
    FileBytes file = pcap_header(std::endian::little, test::kMicroseconds);
    file.add(std::uint32_t{1}).add(std::uint32_t{1}).add(std::uint32_t{0x7FFF'FFFF});
    file.add(std::uint32_t{60}).add_text(std::string(100, 'x'));
    auto reader = read_bytes(file.bytes());
    ASSERT_TRUE(reader);
    CapturedFrame frame;
    EXPECT_EQ(reader->next(frame), Next::Broken);
    EXPECT_FALSE(reader->fault().empty());
}

TEST(CaptureReader, RefusesWhatIsNotEthernet) {
    const FileBytes file = pcap_header(std::endian::little, test::kMicroseconds, 101);
    const auto reader = read_bytes(file.bytes());
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, Errc::NotSupported);
    EXPECT_NE(reader.error().what.find("Ethernet"), std::string::npos);
}

TEST(CaptureReader, RefusesWhatIsNoCapture) {
    const std::string text = "rules:\n  - id: no capture at all\n";
    const auto reader = read_bytes(text);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, Errc::BadSyntax);
    const auto absent = CaptureReader::open("/nonexistent/file.pcap");
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, Errc::Unreachable);
}

TEST(CaptureReader, ReadsPcapngInBothByteOrders) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        test::PcapngBytes file{order};
        file.interface(1, 0).packet(0, 1'700'000'000'123'456'789, "packet", 90);
        const std::string& bytes = file.bytes();
        auto reader = read_bytes(bytes);
        ASSERT_TRUE(reader) << reader.error().what;
        CapturedFrame frame;
        ASSERT_EQ(reader->next(frame), Next::Frame) << reader->fault();
        EXPECT_EQ(frame.timestamp, Instant{Nanoseconds{1'700'000'000'123'456'789}});
        EXPECT_EQ(text_of(frame.bytes), "packet");
        EXPECT_EQ(frame.wire_size, 90U);
        EXPECT_EQ(reader->next(frame), Next::End);
    }
}

}  // namespace
}  // namespace sluice::reader_test

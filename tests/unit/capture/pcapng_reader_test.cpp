#include "lib/capture/pcapng_reader.hpp"

#include "tests/unit/capture/file_bytes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::pcapng_reader_test {
namespace {

using test::PcapngBytes;
using test::read_bytes;
using test::text_of;
using Next = CaptureNext;

constexpr std::uint16_t kLinuxSll = 113;
constexpr std::uint16_t kRaw = 101;

struct Seen {
    std::uint64_t number;
    std::int64_t ns;
    std::string text;
    std::uint32_t wire_size;
    [[nodiscard]] bool operator==(const Seen&) const = default;
};

struct WholeFile {
    std::vector<Seen> frames;
    Next end;
    std::string fault;
    LeftOut left_out;
};

WholeFile read_all(const std::string& bytes) {
    WholeFile file{};
    auto reader = read_bytes(bytes);
    EXPECT_TRUE(reader) << reader.error().what;
    CapturedFrame frame;
    while ((file.end = reader->next(frame)) == Next::Frame) {
        file.frames.push_back({frame.number, frame.timestamp.time_since_epoch().count(),
                               std::string{text_of(frame.bytes)}, frame.wire_size});
    }
    file.fault = reader->fault();
    file.left_out = reader->left_out();
    return file;
}

// Interfaces of other snap lengths and link types, described where they are first needed; sections
// of both byte orders, each with interfaces of its own.
TEST(PcapngReader, ReadsEachPacketAsItsInterfaceSays) {
    PcapngBytes file{std::endian::little};
    file.interface(1, 96).packet(0, 5, "one", 100);
    file.interface(kLinuxSll, 262'144).packet(1, 6, "cooked", 6);
    file.interface(1, 0, 6).packet(2, 7, "three", 5).packet(1, 8, "cooked", 6);
    file.block(4, "a name resolution block").packet(0, 9, "five", 4);
    file.begin(std::endian::big).interface(kRaw, 0).interface(1, 65'535, 3);
    file.packet(0, 1, "ip", 2).packet(1, 2, "seven", 1'500);
    const WholeFile read = read_all(file.bytes());
    EXPECT_EQ(read.end, Next::End);
    EXPECT_EQ(read.frames, (std::vector<Seen>{{1, 5, "one", 100},
                                              {3, 7'000, "three", 5},
                                              {5, 9, "five", 4},
                                              {7, 2'000'000, "seven", 1'500}}));
    EXPECT_EQ(read.left_out.by_link_type,
              (std::map<std::uint16_t, std::uint64_t>{{kLinuxSll, 2}, {kRaw, 1}}));
}

TEST(PcapngReader, SaysWhenNothingIsEthernet) {
    PcapngBytes file{std::endian::little};
    file.interface(kLinuxSll, 0);
    EXPECT_EQ(read_all(file.bytes()).end, Next::End);
    file.packet(0, 1, "cooked", 6);
    const WholeFile read = read_all(file.bytes());
    EXPECT_EQ(read.end, Next::NotEthernet);
    EXPECT_EQ(read.left_out.total(), 1U);
}

TEST(PcapngReader, ReadsPacketsOfTheOlderForms) {
    PcapngBytes file{std::endian::little};
    test::FileBytes obsolete{std::endian::little};
    obsolete.add(std::uint16_t{0}).add(std::uint16_t{7}).add(std::uint32_t{0});
    obsolete.add(std::uint32_t{11}).add(std::uint32_t{3}).add(std::uint32_t{60}).add_text("old");
    test::FileBytes simple{std::endian::little};
    simple.add(std::uint32_t{9}).add_text("cut h");
    file.interface(1, 5).block(2, obsolete.bytes()).block(3, simple.bytes());
    const WholeFile read = read_all(file.bytes());
    EXPECT_EQ(read.end, Next::End);
    EXPECT_EQ(read.frames, (std::vector<Seen>{{1, 11, "old", 60}, {2, 11, "cut h", 9}}));
}

TEST(PcapngReader, ReadsEveryUnitOfTime) {
    const struct {
        std::uint8_t resolution;
        std::uint64_t ticks;
        std::int64_t ns;
    } rows[] = {
        {0, 3, 3'000'000'000},
        {9, 3, 3},
        {12, 5'999, 5},
        {19, 20'000'000'000, 2},
        {0x80, 4, 4'000'000'000},
        {0x80 | 1, 3, 1'500'000'000},
        {0x80 | 63, UINT64_MAX, 1'999'999'999},
        {0, UINT64_MAX, kLastInstant.time_since_epoch().count()},
    };
    for (const auto& row : rows) {
        PcapngBytes file{std::endian::little};
        file.interface(1, 0, row.resolution).packet(0, row.ticks, "x", 1);
        const WholeFile read = read_all(file.bytes());
        ASSERT_EQ(read.frames.size(), 1U) << read.fault;
        EXPECT_EQ(read.frames.front().ns, row.ns) << unsigned{row.resolution};
    }
    for (const unsigned resolution : {20U, 0x7FU, 0x80U | 64U}) {
        PcapngBytes file{std::endian::little};
        file.interface(1, 0, static_cast<std::uint8_t>(resolution));
        EXPECT_EQ(read_all(file.bytes()).end, Next::Broken) << resolution;
    }
}

// Wherever it ends, the packets before are good.
TEST(PcapngReader, TellsACutBlockFromTheEnd) {
    PcapngBytes file{std::endian::big};
    file.interface(1, 0).packet(0, 1, "whole", 5);
    const std::size_t whole = file.bytes().size();
    file.packet(0, 2, "cut", 3);
    for (std::size_t size = whole; size < file.bytes().size(); ++size) {
        const WholeFile read = read_all(file.bytes().substr(0, size));
        EXPECT_EQ(read.frames.size(), 1U);
        EXPECT_EQ(read.end, size == whole ? Next::End : Next::Cut) << size;
        EXPECT_EQ(read.fault.empty(), size == whole);
    }
}

TEST(PcapngReader, RefusesWhatContradictsItself) {
    const auto begun = [] {
        PcapngBytes file{std::endian::little};
        file.interface(1, 0).packet(0, 1, "good", 4);
        return file;
    };
    const auto raw = [&](std::string_view bytes) { return begun().bytes() + std::string{bytes}; };
    using namespace std::string_view_literals;
    test::FileBytes too_much{std::endian::little};
    for (const std::uint32_t word : {0U, 0U, 2U, 9U, 9U}) {
        too_much.add(word);
    }
    const std::string rows[] = {
        begun().packet(1, 2, "of no interface", 4).bytes(),
        begun().block(6, too_much.bytes() + "eight..").bytes(),
        begun().block(6, "short").bytes(),
        begun().block(3, "").bytes(),
        begun().block(1, "few").bytes(),
        raw("\x06\0\0\0\x0B\0\0\0"sv),
        raw("\x06\0\0\0\x21\0\0\0"sv),
        raw("\x06\0\0\0\xF0\xFF\xFF\xFF"sv),
        raw("\x04\0\0\0\x0C\0\0\0\x10\0\0\0"sv),
        raw("\x0A\x0D\x0D\x0A\x1C\0\0\0nope"sv),
    };
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        const WholeFile read = read_all(rows[i]);
        EXPECT_EQ(read.end, Next::Broken) << i;
        EXPECT_EQ(read.frames.size(), 1U) << i;
        EXPECT_FALSE(read.fault.empty()) << i;
    }
    for (const std::string& bytes :
         {std::string{"\x0A\x0D\x0D\x0A"}, std::string{"\nno capture, but a text"}}) {
        EXPECT_FALSE(read_bytes(bytes));
    }
}

}  // namespace
}  // namespace sluice::pcapng_reader_test

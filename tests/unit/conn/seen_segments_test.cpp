#include "lib/conn/seen_segments.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::seen_segments_test {
namespace {

using Repeat = SeenSegments::Repeat;

constexpr std::uint32_t kFirst = 0xFFFF'FF00;  // numbers wrap on the way

class SeenSegmentsTest : public testing::Test {
protected:
    void add(std::uint32_t at, const std::string& text) {
        seen.add(kFirst + at, bytes_of(text), hash);
    }
    [[nodiscard]] SeenSegments::Comparison compare(std::uint32_t at,
                                                   const std::string& text) const {
        return seen.compare(kFirst + at, bytes_of(text), hash);
    }
    [[nodiscard]] Repeat repeats(std::uint32_t at, const std::string& text) const {
        return compare(at, text).what;
    }
    KeyHasher hash{HashSecret{1, 2}};
    SeenSegments seen;
};

TEST_F(SeenSegmentsTest, WholeSegmentsAreHeldAndNothingElseIs) {
    const auto holds = [&](std::uint32_t at, const std::string& text) {
        return seen.holds(kFirst + at, bytes_of(text), hash);
    };
    EXPECT_FALSE(holds(0, "a"));
    add(250, "abcdefgh");
    add(258, "ijkl");
    add(270, "mnop");
    EXPECT_TRUE(holds(250, "abcdefgh"));
    EXPECT_TRUE(holds(258, "ijkl"));
    EXPECT_TRUE(holds(250, "abcdefghijkl"));
    EXPECT_FALSE(holds(250, "abcdefghijkL"));
    EXPECT_FALSE(holds(250, "abcdefghij")) << "a part of the second";
    EXPECT_FALSE(holds(252, "cdefghijkl")) << "a part of the first";
    EXPECT_FALSE(holds(258, "ijkl12345678mnop")) << "a gap between them";
    EXPECT_FALSE(holds(257, "hijkl"));
    EXPECT_FALSE(holds(300, "abcd")) << "of no segment";
}

TEST_F(SeenSegmentsTest, SegmentsAreComparedWhole) {
    add(0, "abcd");
    add(4, "efgh");
    for (const char* const same : {"abcd", "abcdefgh", "abcdefgh and more"}) {
        EXPECT_EQ(repeats(0, same), Repeat::Same) << same;
    }
    EXPECT_EQ(repeats(4, "efgh"), Repeat::Same);
    for (const char* const other : {"abce", "abcdefgi", "bbcdefgh", "bbcdef"}) {
        EXPECT_EQ(repeats(0, other), Repeat::Differs) << other;
    }
    EXPECT_EQ(repeats(1, "bcd"), Repeat::Differs);
    EXPECT_EQ(repeats(8, "anything"), Repeat::Same) << "no head lay there";
}

TEST_F(SeenSegmentsTest, APartIsOneThatBeginsWithASegment) {
    add(0, "abcd");
    add(4, "efgh");
    const SeenSegments::Comparison first = compare(0, "ab");
    EXPECT_EQ(first.what, Repeat::Part);
    EXPECT_EQ(first.whole, 0U);
    const SeenSegments::Comparison second = compare(0, "abcdef");
    EXPECT_EQ(second.what, Repeat::Part);
    EXPECT_EQ(second.whole, 4U);
    EXPECT_EQ(repeats(2, "cdef"), Repeat::Differs);
}

TEST_F(SeenSegmentsTest, WhatIsSeenAnewIsWhatItIs) {
    add(0, "abcd");
    add(4, "efgh");
    add(0, "ABCDEF");
    EXPECT_EQ(repeats(0, "ABCDEF"), Repeat::Same);
    EXPECT_NE(repeats(0, "abcd"), Repeat::Same);
}

TEST_F(SeenSegmentsTest, WhatIsKeptNoMoreDiffers) {
    const auto text_of = [](std::uint32_t i) {
        return std::string(100 + i % 2, static_cast<char>('a' + i));
    };
    const auto place_of = [](std::uint32_t i) { return i * 100 + i / 2; };
    for (std::uint32_t i = 0; i < 15; ++i) {
        add(place_of(i), text_of(i));
        for (std::uint32_t back = 0; back <= i; ++back) {
            EXPECT_EQ(repeats(place_of(i - back), text_of(i - back)) == Repeat::Same, back < 10)
                << i << " " << back;
        }
    }
    EXPECT_EQ(repeats(place_of(5), text_of(5) + text_of(6)), Repeat::Same);
    EXPECT_EQ(repeats(place_of(4), text_of(4) + text_of(5)), Repeat::Differs);
    seen.clear();
    EXPECT_EQ(repeats(0, text_of(1)), Repeat::Same);
}

// Segments of one size, as those of a long head are: all of it can be compared.
TEST_F(SeenSegmentsTest, NeighboursOfOneSizeAreKeptTogether) {
    std::string all;
    for (std::uint32_t i = 0; i < 60; ++i) {
        const std::string text(100, static_cast<char>('A' + i));
        add(i * 100, text);
        all += text;
        EXPECT_EQ(repeats(0, all), Repeat::Same) << i;
        EXPECT_EQ(repeats(i * 100, text), Repeat::Same) << i;
        EXPECT_EQ(repeats(0, std::string(100, 'A')), i < 10 ? Repeat::Same : Repeat::Part) << i;
        std::string other = all;
        other[i * 7] = '-';
        EXPECT_EQ(repeats(0, other), Repeat::Differs) << i;
    }
}

// Of so many bytes that a run of parts has room for them.
TEST_F(SeenSegmentsTest, NoMoreThanARunOfPartsHasRoomFor) {
    for (std::uint32_t i = 0; i < 250; ++i) {
        add(i * 1000, std::string(1000, static_cast<char>(i)));
    }
    EXPECT_EQ(repeats(0, std::string(1000, '\0')), Repeat::Differs);
    EXPECT_EQ(repeats(249'000, std::string(1000, static_cast<char>(249))), Repeat::Same);
}

}  // namespace
}  // namespace sluice::seen_segments_test

#include "lib/conn/seen_segments.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::seen_segments_test {
namespace {

constexpr std::uint32_t kFirst = 0xFFFF'FF00;  // numbers wrap on the way

class SeenSegmentsTest : public testing::Test {
protected:
    void add(std::uint32_t at, const std::string& text) {
        seen.add(kFirst + at, bytes_of(text), hash);
    }
    [[nodiscard]] bool repeats(std::uint32_t at, const std::string& text) const {
        return seen.may_repeat(kFirst + at, bytes_of(text), hash);
    }
    KeyHasher hash{HashSecret{1, 2}};
    SeenSegments seen;
};

TEST_F(SeenSegmentsTest, SegmentsAreComparedWhole) {
    add(0, "abcd");
    add(4, "efgh");
    for (const char* const same : {"abcd", "abcdefgh", "abcdefgh and more"}) {
        EXPECT_TRUE(repeats(0, same)) << same;
    }
    EXPECT_TRUE(repeats(4, "efgh"));
    for (const char* const other : {"abce", "abcdefgi", "bbcdefgh", "abc", "abcdef"}) {
        EXPECT_FALSE(repeats(0, other)) << other;
    }
    EXPECT_FALSE(repeats(1, "bcd"));
    EXPECT_TRUE(repeats(8, "anything")) << "no head lay there";
}

TEST_F(SeenSegmentsTest, WhatIsSeenAnewIsWhatItIs) {
    add(0, "abcd");
    add(4, "efgh");
    add(0, "ABCDEF");
    EXPECT_TRUE(repeats(0, "ABCDEF"));
    EXPECT_FALSE(repeats(0, "abcd"));
}

TEST_F(SeenSegmentsTest, WhatIsKeptNoMoreDiffers) {
    const auto text_of = [](std::uint32_t i) {
        return std::string(100, static_cast<char>('a' + i));
    };
    for (std::uint32_t i = 0; i < 15; ++i) {
        add(i * 100, text_of(i));
        for (std::uint32_t back = 0; back <= i; ++back) {
            EXPECT_EQ(repeats((i - back) * 100, text_of(i - back)), back < 10) << i << " " << back;
        }
    }
    EXPECT_TRUE(repeats(500, text_of(5) + text_of(6)));
    EXPECT_FALSE(repeats(400, text_of(4) + text_of(5)));
    seen.clear();
    EXPECT_TRUE(repeats(0, text_of(1)));
}

}  // namespace
}  // namespace sluice::seen_segments_test

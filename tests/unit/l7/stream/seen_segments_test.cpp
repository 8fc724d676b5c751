#include "lib/l7/stream/seen_segments.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sluice::seen_segments_test {
namespace {

using Repeat = SeenSegments::Repeat;

constexpr std::uint32_t kFirst = 0xFFFF'FF00;  // numbers wrap on the way

class SeenSegmentsTest : public testing::Test {
protected:
    void add(std::uint32_t at, const std::string& text) {
        seen.add(kFirst + at, bytes_of(text), acknowledged, hash, recent);
    }
    [[nodiscard]] Repeat repeats(std::uint32_t at, const std::string& text) const {
        return seen.compare({kFirst + at, bytes_of(text)}, hash, recent);
    }
    // All before there the receiver has.
    void acknowledge(std::uint32_t at) { acknowledged = kFirst + at; }

    KeyHasher hash{HashSecret{1, 2}};
    RecentBytes recent{0};
    SeenSegments seen;
    std::optional<std::uint32_t> acknowledged;
};

TEST_F(SeenSegmentsTest, BytesOfSegmentsAreHeldAndNothingElseIs) {
    const auto holds = [&](std::uint32_t at, const std::string& text) {
        return seen.holds(kFirst + at, bytes_of(text), hash, recent);
    };
    EXPECT_FALSE(holds(0, "a"));
    add(250, "abcdefgh");
    add(258, "ijkl");
    add(270, "mnop");
    EXPECT_TRUE(holds(250, "abcdefgh"));
    EXPECT_TRUE(holds(258, "ijkl"));
    EXPECT_TRUE(holds(250, "abcdefghijkl"));
    EXPECT_FALSE(holds(250, "abcdefghijkL"));
    EXPECT_TRUE(holds(250, "abcdefghij")) << "a part of the second";
    EXPECT_TRUE(holds(252, "cdefghijkl")) << "a part of the first";
    EXPECT_FALSE(holds(252, "cdefghijkx"));
    EXPECT_FALSE(holds(258, "ijkl12345678mnop")) << "a gap between them";
    EXPECT_TRUE(holds(257, "hijkl"));
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
    EXPECT_EQ(repeats(8, "anything"), Repeat::Same) << "no head lay there";
}

// Whoever sends a segment again in other cuts sends the same bytes; others may be whole requests.
TEST_F(SeenSegmentsTest, APartHasTheBytesOfItsPlace) {
    add(0, "abcd");
    add(4, "efgh");
    for (std::uint32_t at = 0; at < 8; ++at) {
        for (std::uint32_t size = 1; at + size <= 8; ++size) {
            const std::string part = std::string{"abcdefgh"}.substr(at, size);
            const bool is_whole = at % 4 == 0 && size % 4 == 0;
            EXPECT_EQ(repeats(at, part), is_whole ? Repeat::Same : Repeat::SamePart) << part;
            for (std::size_t other = 0; other < size; ++other) {
                std::string wrong = part;
                wrong[other] = '~';
                EXPECT_EQ(repeats(at, wrong), Repeat::Differs) << wrong;
            }
        }
    }
}

// The same segment again, of which a part is asked about, as behind a restart.
TEST_F(SeenSegmentsTest, APartOfASegmentThatComesWholeIsToldByItsDigest) {
    add(0, "abcdefgh");
    const RecentBytes lost{0};
    const auto is = [&](const std::string& text, std::size_t size) {
        return seen.compare({kFirst, bytes_of(text), size}, hash, lost);
    };
    EXPECT_EQ(is("abcdefgh", 3), Repeat::Same);
    EXPECT_EQ(is("abcdefgH", 3), Repeat::Differs);
    EXPECT_EQ(is("abcdef", 3), Repeat::Untold);
}

TEST_F(SeenSegmentsTest, NothingTellsOfAPartWhoseBytesHaveGone) {
    add(0, "abcd");
    EXPECT_EQ(repeats(0, "ab"), Repeat::SamePart);
    for (int i = 0; i < 3; ++i) {
        (void)recent.put(bytes_of(std::string(60'000, 'x')));
    }
    EXPECT_EQ(repeats(0, "ab"), Repeat::Untold);
    EXPECT_EQ(repeats(0, "abcd"), Repeat::Same) << "its digest stays";
    add(4, "efgh");
    EXPECT_EQ(repeats(2, "cdef"), Repeat::Untold);
    EXPECT_EQ(repeats(2, "cdeF"), Repeat::Differs);
}

TEST_F(SeenSegmentsTest, WhatIsSeenAnewIsWhatItIs) {
    add(0, "abcd");
    add(4, "efgh");
    add(0, "ABCDEF");
    EXPECT_EQ(repeats(0, "ABCDEF"), Repeat::Same);
    EXPECT_NE(repeats(0, "abcd"), Repeat::Same);
    EXPECT_EQ(repeats(4, "EFgh"), Repeat::Differs) << "nothing tells what the rest of it is";
    EXPECT_EQ(repeats(4, "EFGH"), Repeat::Differs);
}

// The receiver may have taken the second segment and not the first.
TEST_F(SeenSegmentsTest, WhatASegmentLeavesOfAnotherIsNoGap) {
    add(0, "abcdefgh");
    add(4, "efghijkl");
    for (const char* const left : {"abcd", "ABCD", "ab", "abcdefgh"}) {
        EXPECT_EQ(repeats(0, left), Repeat::Differs) << left;
    }
    EXPECT_EQ(repeats(4, "efghijkl"), Repeat::Same);
    EXPECT_EQ(repeats(4, "efghijk"), Repeat::SamePart);
    acknowledge(4);
    add(12, "mnop");
    EXPECT_EQ(repeats(0, "xxxxefgh"), Repeat::Same) << "the receiver has what lay before";
}

TEST_F(SeenSegmentsTest, PlacesWhereSegmentsBeganStay) {
    add(0, "abcd");
    add(4, "efgh");
    add(0, "abcdefgh");
    EXPECT_EQ(repeats(0, "abcdefgh"), Repeat::Same);
    EXPECT_EQ(repeats(0, "abcdef"), Repeat::SamePart);
    EXPECT_EQ(repeats(0, "ABCD"), Repeat::Differs) << "it would be whole with what came alone";
    add(2, "cdef");
    EXPECT_EQ(repeats(2, "cdef"), Repeat::Same);
    EXPECT_EQ(repeats(0, "ab"), Repeat::Differs);
    EXPECT_EQ(repeats(6, "gh"), Repeat::Differs);
}

TEST_F(SeenSegmentsTest, AnEarlierSegmentMayComeLater) {
    add(20, "klmn");
    add(0, "abcd");
    EXPECT_EQ(repeats(0, "abcd"), Repeat::Same);
    EXPECT_EQ(repeats(0, "abcx"), Repeat::Differs);
    EXPECT_EQ(repeats(4, "no head lay here"), Repeat::Same);
    EXPECT_EQ(repeats(4, "no head lay here, klmn"), Repeat::Differs);
    EXPECT_EQ(repeats(20, "klmn"), Repeat::Same);
}

std::string text_of(std::uint32_t i) {
    return std::string(100 + i % 2, static_cast<char>('a' + i));
}
std::uint32_t place_of(std::uint32_t i) {
    return i * 100 + i / 2;
}

// Where nothing tells what the receiver has.
TEST_F(SeenSegmentsTest, WhatIsKeptNoMoreDiffers) {
    for (std::uint32_t i = 0; i < 30; ++i) {
        add(place_of(i), text_of(i));
        for (std::uint32_t back = 0; back <= i; ++back) {
            EXPECT_EQ(repeats(place_of(i - back), text_of(i - back)) == Repeat::Same, back < 18)
                << i << " " << back;
        }
    }
    EXPECT_EQ(repeats(place_of(12), text_of(12) + text_of(13)), Repeat::Same);
    EXPECT_EQ(repeats(place_of(11), text_of(11) + text_of(12)), Repeat::Differs);
    add(place_of(10), text_of(10));
    EXPECT_EQ(repeats(place_of(10), text_of(10)), Repeat::Differs)
        << "nothing tells where segments began there";
    seen.clear();
    EXPECT_EQ(repeats(0, text_of(1)), Repeat::Same);
}

// What the receiver lacks longest stays; bytes behind it without room are known no more, and what
// the receiver has needs none.
TEST_F(SeenSegmentsTest, TheFirstThatAreNotAcknowledgedStay) {
    acknowledge(0);
    for (std::uint32_t i = 0; i < 26; ++i) {
        add(place_of(i), text_of(i));
    }
    for (std::uint32_t i = 0; i < 26; ++i) {
        EXPECT_EQ(repeats(place_of(i), text_of(i)) == Repeat::Same, i < 16 || i == 25) << i;
    }
    acknowledge(place_of(25));
    for (std::uint32_t i = 26; i < 42; ++i) {
        add(place_of(i), text_of(i));
    }
    for (std::uint32_t i = 25; i < 42; ++i) {
        EXPECT_EQ(repeats(place_of(i), text_of(i)), Repeat::Same) << i;
    }
}

// The oldest segment lies in the middle of the head.
TEST_F(SeenSegmentsTest, ARepeatThatBeginsAtAKeptOneEndsInIt) {
    add(5, "index");
    add(0, "GET /");
    for (std::uint32_t i = 0; i < 30; ++i) {
        add(10 + place_of(i), text_of(i));
        EXPECT_EQ(repeats(0, "GET /login"), Repeat::Differs) << i;
    }
}

// Numbers go round behind a long body: what came long ago is nothing to what comes now.
TEST_F(SeenSegmentsTest, BehindALongBodyOtherBytesAreOthers) {
    for (const std::uint32_t gap :
         {1U << 20, 0x7000'0000U, 0x8000'0100U, 0xA000'0000U, 0xBFFF'0000U, 0xD000'0000U}) {
        for (const bool knows : {true, false}) {
            seen.clear();
            acknowledged.reset();
            add(0, std::string(100, 'a'));
            if (knows) {
                acknowledge(100 + gap);
            }
            add(100 + gap, std::string(100, 'a'));
            EXPECT_EQ(repeats(100 + gap, std::string(99, 'a') + "b"), Repeat::Differs) << gap;
            EXPECT_EQ(repeats(100 + gap, std::string(100, 'a')), Repeat::Same) << gap;
        }
    }
}

// Segments of every kind at random, with and without acknowledgements: no other byte passes in the
// place of one that came and that the receiver may lack.
TEST_F(SeenSegmentsTest, OtherBytesPassNowhere) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    const std::string text = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for (int round = 0; round < test::rounds(20'000); ++round) {
        seen.clear();
        acknowledged.reset();
        std::vector<std::pair<std::size_t, std::size_t>> passed;
        std::size_t taken = 0;
        const std::size_t segments = random() % 40 + 1;
        for (std::size_t i = 0; i < segments; ++i) {
            const std::size_t at = random() % text.size();
            const std::size_t size = random() % std::min<std::size_t>(8, text.size() - at) + 1;
            passed.emplace_back(at, at + size);
            add(static_cast<std::uint32_t>(at), text.substr(at, size));
            if (round % 2 == 0) {
                taken += random() % 3;
                acknowledge(static_cast<std::uint32_t>(taken));
            }
        }
        const std::size_t at = random() % text.size();
        const std::size_t size = random() % (text.size() - at) + 1;
        std::string other = text.substr(at, size);
        const std::size_t wrong = random() % size;
        other[wrong] = '~';
        const Repeat is = repeats(static_cast<std::uint32_t>(at), other);
        for (const auto& [from, to] : passed) {
            const bool holds = from <= at + wrong && at + wrong < to && at + wrong >= taken;
            EXPECT_FALSE(holds && is < Repeat::Untold);
        }
    }
}

}  // namespace
}  // namespace sluice::seen_segments_test

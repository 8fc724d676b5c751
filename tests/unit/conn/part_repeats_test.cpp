#include "lib/conn/part_repeats.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sluice::part_repeats_test {
namespace {

using Part = PartRepeats::Part;

constexpr std::uint32_t kFirst = 0xFFFF'FFF8;  // numbers wrap on the way

// A connection whose head came in three segments of eight bytes.
class PartRepeatsTest : public testing::Test {
protected:
    void SetUp() override {
        for (std::uint32_t at = 0; at < kAll.size(); at += 8) {
            seen.add(kFirst + at, bytes_of(kAll.substr(at, 8)), std::nullopt, hash);
        }
    }
    Part take(std::uint32_t at, const std::string& text, ConnectionIndex connection = 1) {
        bool& open = open_[connection];
        const PartRepeats::Answer answer = parts.take(
            connection, open, {.from = kFirst + at, .bytes = bytes_of(text)}, seen, hash);
        evicted += answer.evicted ? 1 : 0;
        open = answer.part == Part::Differs ? open : answer.part == Part::Open;
        return answer.part;
    }
    Part repeat(std::uint32_t at, std::uint32_t size) { return take(at, kAll.substr(at, size)); }

    const std::string kAll = "GET /one HTTP/1.1\r\n\r\nand";
    KeyHasher hash{HashSecret{1, 2}};
    SeenSegments seen;
    PartRepeats parts;
    unsigned evicted = 0;

private:
    std::array<bool, 100> open_{};
};

TEST_F(PartRepeatsTest, PassWhileTheyMayBeTheSameAndTheLastIfTheyAre) {
    EXPECT_EQ(repeat(0, 5), Part::Open);
    EXPECT_EQ(repeat(5, 1), Part::Open);
    EXPECT_EQ(repeat(0, 5), Part::Open) << "what has passed may come again";
    EXPECT_EQ(repeat(6, 2), Part::Whole);
    EXPECT_EQ(repeat(5, 3), Part::Whole) << "also when all of it has";
    EXPECT_EQ(repeat(8, 12), Part::Open) << "over the end of one segment";
    EXPECT_EQ(repeat(20, 4), Part::Whole);
}

TEST_F(PartRepeatsTest, NobodyEverHasAWholeHeadThatIsAnother) {
    EXPECT_EQ(take(0, "PUT /"), Part::Open);
    EXPECT_EQ(take(5, "one"), Part::Differs) << "the last part would make it whole";
    EXPECT_EQ(repeat(0, 8), Part::Differs) << "a server would put it behind what it has";
    EXPECT_EQ(take(7, "e"), Part::Differs);
    EXPECT_EQ(repeat(8, 8), Part::Differs);
    EXPECT_EQ(take(5, "on"), Part::Open);
    EXPECT_EQ(take(7, "e"), Part::Differs);
}

TEST_F(PartRepeatsTest, WhatDiffersFromARightRepeatBeforeItDiffers) {
    EXPECT_EQ(repeat(0, 5), Part::Open);
    EXPECT_EQ(repeat(5, 3), Part::Whole);
    EXPECT_EQ(take(0, "PUT /"), Part::Differs);
    EXPECT_EQ(take(0, "P"), Part::Differs);
    EXPECT_EQ(repeat(0, 5), Part::Whole) << "the right one may come again";
    EXPECT_EQ(repeat(8, 3), Part::Open);
    EXPECT_EQ(take(7, "f"), Part::Differs) << "in what is whole, while another segment is open";
}

TEST_F(PartRepeatsTest, WhatBeginsInTheMiddleOfASegmentDiffers) {
    EXPECT_EQ(repeat(5, 3), Part::Differs);
    EXPECT_EQ(repeat(0, 5), Part::Open);
    EXPECT_EQ(repeat(6, 2), Part::Differs) << "behind a gap";
}

TEST_F(PartRepeatsTest, WhatIsOpenOutlivesOthersOnlyWhereThereIsRoom) {
    for (ConnectionIndex connection = 1; connection <= PartRepeats::kRuns; ++connection) {
        EXPECT_EQ(take(0, "GET /", connection), Part::Open);
    }
    EXPECT_EQ(evicted, 0U);
    EXPECT_EQ(take(5, "one", 1), Part::Whole);
    EXPECT_EQ(take(0, "GET /", 50), Part::Open) << "in the place of one that is whole";
    EXPECT_EQ(evicted, 0U);
    EXPECT_EQ(take(0, "GET /", 51), Part::Open);
    EXPECT_EQ(evicted, 1U);
    EXPECT_EQ(take(5, "one", 2), Part::Differs) << "the longest unused: nothing tells what passed";
    EXPECT_EQ(take(0, "GET /one", 2), Part::Differs);
    EXPECT_EQ(take(5, "one", 3), Part::Whole);
}

TEST_F(PartRepeatsTest, AnotherConnectionOnTheLineBeginsWithNothing) {
    EXPECT_EQ(repeat(0, 8 + 5), Part::Open);
    parts.forget(1);
    EXPECT_EQ(take(9, "x"), Part::Differs);
}

TEST_F(PartRepeatsTest, WhatDoesNotFitDiffers) {
    const std::string large(60'000, 'x');
    seen.clear();
    seen.add(kFirst, bytes_of(large), std::nullopt, hash);
    EXPECT_EQ(take(0, large.substr(0, 30'000)), Part::Open);
    EXPECT_EQ(take(30'000, large.substr(0, 5000)), Part::Differs);
    EXPECT_EQ(take(0, large.substr(0, 40'000), 2), Part::Differs);
}

// Cuts at random of the same bytes, from the beginning each time: all of them pass. One byte that
// is another one: its segment is never whole.
TEST_F(PartRepeatsTest, AnyCutsOfTheSameBytesPassAndNoOthers) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    for (int round = 0; round < test::rounds(20'000); ++round) {
        const bool same = random() % 2 == 0;
        std::string text = kAll;
        const std::size_t other = random() % text.size();
        text[other] = same ? text[other] : '~';
        const auto connection = static_cast<ConnectionIndex>(round % 90);
        std::string passed;
        Part last = Part::Whole;
        while (passed.size() < text.size() && last != Part::Differs) {
            const std::string cut = text.substr(passed.size(), random() % 10 + 1);
            const auto at = static_cast<std::uint32_t>(passed.size());
            last = parts
                       .take(connection, last == Part::Open,
                             {.from = kFirst + at, .bytes = bytes_of(cut)}, seen, hash)
                       .part;
            passed += last == Part::Differs ? "" : cut;
        }
        if (same) {
            EXPECT_EQ(last, Part::Whole);
        } else {
            EXPECT_LT(passed.size(), other / 8 * 8 + 8);
        }
        parts.forget(connection);
    }
}

}  // namespace
}  // namespace sluice::part_repeats_test

#include "lib/l7/http1/voided_lines.hpp"
#include "tests/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sluice::voided_lines_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{1h};
constexpr StreamRange kLine{1100, 1120};
constexpr std::uint32_t kBefore = 1000;  // what a server has acknowledged that lacks the line
constexpr std::uint64_t kSets = VoidedLines::kConnections / VoidedLines::kWays;

// Connections that meet in one set.
std::uint64_t connection(std::uint64_t number) {
    return 7 + number * kSets;
}
bool add(VoidedLines& lines, std::uint64_t number, SourceId source, Instant now = kNow) {
    return lines.add({connection(number), source}, kLine, kBefore, now);
}
// Whether a repeat of the bytes may go on, and whether the line in them is voided then.
struct Repeat {
    bool is_known = false;
    bool is_voided = false;
    [[nodiscard]] bool operator==(const Repeat&) const = default;
};
constexpr Repeat kVoided{true, true};
constexpr Repeat kAsItIs{true, false};
constexpr Repeat kLost{false, false};
Repeat repeat(VoidedLines& lines, std::uint64_t number, std::uint32_t acknowledged = kBefore,
              StreamRange bytes = {1050, 1150}) {
    Normalization change;
    const bool is_known = lines.mark(connection(number), bytes, acknowledged, change);
    return {is_known, !change.voided().empty()};
}

TEST(VoidedLines, AreVoidedAgainUntilTheirServerHasThem) {
    VoidedLines lines;
    ASSERT_TRUE(add(lines, 0, 1));
    EXPECT_EQ(repeat(lines, 0), kVoided);
    EXPECT_EQ(repeat(lines, 0, 1119), kVoided);
    EXPECT_EQ(repeat(lines, 0, 1120), kAsItIs) << "its place is free";
    EXPECT_EQ(repeat(lines, 0), kAsItIs);
    EXPECT_EQ(repeat(lines, 1), kAsItIs) << "another connection";
}

// A connection that loses its lines twice repeats neither of them as they were.
TEST(VoidedLines, WhatIsLostTwiceIsLostToTheLatestEnd) {
    constexpr StreamRange kLater{1200, 1220};
    VoidedLines lines;
    ASSERT_TRUE(add(lines, 0, 1));
    for (std::uint64_t number = 1; number < VoidedLines::kWays; ++number) {
        ASSERT_TRUE(add(lines, number, 1, kNow + 1s));
    }
    ASSERT_TRUE(add(lines, 100, 2, kNow + 2s));
    ASSERT_EQ(repeat(lines, 0), kLost);
    ASSERT_EQ(repeat(lines, 1, 1120), kAsItIs) << "its place is free";
    ASSERT_TRUE(lines.add({connection(0), 1}, kLater, kBefore, kNow + 3s));
    for (std::uint64_t number = 2; number < VoidedLines::kWays; ++number) {
        ASSERT_TRUE(add(lines, number, 1, kNow + 4s));
    }
    ASSERT_TRUE(add(lines, 101, 3, kNow + 5s));
    ASSERT_EQ(lines.evicted(), 2U);
    EXPECT_EQ(repeat(lines, 0, kBefore, {1190, 1230}), kLost);
    EXPECT_EQ(repeat(lines, 0), kLost) << "the first one too";
    EXPECT_EQ(repeat(lines, 0, 1220, {1190, 1230}), kAsItIs);
}

TEST(VoidedLines, WhatAServerHasMakesRoom) {
    VoidedLines lines;
    for (std::uint64_t number = 0; number < 100; ++number) {
        ASSERT_TRUE(add(lines, number, 1)) << number;
        EXPECT_EQ(repeat(lines, number, 1120), kAsItIs);
    }
    EXPECT_EQ(lines.evicted(), 0U);
}

// A source that fills a set loses a place to another one, and what it has lost goes on no more.
TEST(VoidedLines, OneSourceDoesNotKeepOthersOut) {
    VoidedLines lines;
    std::uint64_t begun = 0;
    for (std::uint64_t number = 0; number < 100; ++number) {
        begun += add(lines, number, 1, kNow + std::chrono::seconds{number}) ? 1 : 0;
    }
    EXPECT_EQ(begun, VoidedLines::kWays) << "its own make no room for each other";
    EXPECT_EQ(lines.evicted(), 0U);
    EXPECT_TRUE(add(lines, 200, 2, kNow + 100s));
    EXPECT_EQ(lines.evicted(), 1U);
    EXPECT_EQ(repeat(lines, 200), kVoided);
    EXPECT_EQ(repeat(lines, 0), kLost) << "the longest silent one";
    EXPECT_EQ(repeat(lines, 1), kVoided);
    EXPECT_EQ(repeat(lines, 0, kBefore, {1120, 1200}), kAsItIs) << "what lies behind the line";
    EXPECT_EQ(repeat(lines, 0, 1120), kAsItIs) << "its server has it";
    EXPECT_EQ(repeat(lines, 0), kAsItIs);
}

TEST(VoidedLines, NobodyTakesThePlaceOfWhoHasNoMore) {
    VoidedLines lines;
    for (std::uint64_t number = 0; number < VoidedLines::kWays; ++number) {
        ASSERT_TRUE(add(lines, number, static_cast<SourceId>(number)));
    }
    EXPECT_FALSE(add(lines, 100, 100));
    for (std::uint64_t number = 0; number < VoidedLines::kWays; ++number) {
        EXPECT_EQ(repeat(lines, number), kVoided);
    }
    EXPECT_TRUE(add(lines, 100, 100, kNow + 16min)) << "its server has forgotten that connection";
}

// A kill before any store of an eviction: whose line is not there has lost it, and knows that.
TEST(VoidedLines, AKillAtAnyStoreVoidsOrRefusesEachRepeat) {
    test::GuardedMemory memory{VoidedLines::kept_of()};
    test::GuardedMemory other{VoidedLines::kept_of()};
    KeptMemory kept{memory.base(), VoidedLines::kept_of(), 4096};
    VoidedLines lines{kept};
    for (std::uint64_t number = 0; number < VoidedLines::kWays; ++number) {
        ASSERT_TRUE(add(lines, number, 1, kNow + std::chrono::seconds{number}));
    }
    std::size_t instants = 0;
    std::vector<Repeat> of_first;
    const auto killed = [&] {
        other.copy_from(memory);
        KeptMemory left{other.base(), VoidedLines::kept_of(), 4096};
        VoidedLines next{left};
        next.take_over();
        ++instants;
        of_first.push_back(repeat(next, 0));
        EXPECT_TRUE(of_first.back() == kVoided || of_first.back() == kLost) << instants;
        for (std::uint64_t number = 1; number < VoidedLines::kWays; ++number) {
            EXPECT_EQ(repeat(next, number), kVoided) << instants;
        }
    };
    memory.run_guarded([&] { EXPECT_TRUE(add(lines, 200, 2, kNow + 100s)); }, killed);
    killed();
    EXPECT_GT(instants, 8U);
    EXPECT_EQ(of_first.front(), kVoided);
    EXPECT_EQ(of_first.back(), kLost);
}

}  // namespace
}  // namespace sluice::voided_lines_test

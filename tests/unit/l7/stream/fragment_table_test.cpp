#include "lib/l7/stream/fragment_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace sluice::fragment_table_test {
namespace {

constexpr std::uint64_t kDigest = 0xABCD'EF01'2345'6789;

Instant at_second(int second) {
    return Instant{std::chrono::seconds{second}};
}
IpFragment piece(std::uint16_t offset, std::uint16_t size, bool more = true) {
    return {kDigest, offset, size, more};
}

TEST(FragmentTable, LaterOnesFollowTheFirst) {
    for (const bool drop : {false, true}) {
        FragmentTable table{{}};
        EXPECT_EQ(table.first(piece(0, 1480), drop, at_second(0)).drop, drop);
        for (std::uint16_t i = 1; i < 4; ++i) {
            const auto verdict = table.later(piece(i * 1480, 1480), at_second(i));
            EXPECT_EQ(verdict.outcome, FragmentOutcome::Follows);
            EXPECT_EQ(verdict.drop, drop);
        }
        EXPECT_EQ(table.later(piece(4 * 1480, 20, false), at_second(5)).drop, drop);
        EXPECT_EQ(table.counters().of(FragmentEvent::Completed), 1U);
        EXPECT_EQ(table.later(piece(1480, 1480), at_second(5)).outcome, FragmentOutcome::Orphan);
    }
}

TEST(FragmentTable, OrphansMeetThePolicy) {
    for (const OnOrphan policy : {OnOrphan::Pass, OnOrphan::Drop}) {
        FragmentTable table{{.on_orphan = policy}};
        const auto verdict = table.later(piece(1480, 100), at_second(0));
        EXPECT_EQ(verdict.outcome, FragmentOutcome::Orphan);
        EXPECT_EQ(verdict.drop, policy == OnOrphan::Drop);
    }
}

// Who claims the first one's bytes might give them other ports.
TEST(FragmentTable, AnOverlapEndsTheDatagram) {
    for (const OnOverlap policy : {OnOverlap::Discard, OnOverlap::Follow}) {
        FragmentTable table{{.on_overlap = policy}};
        const bool discards = policy == OnOverlap::Discard;
        (void)table.first(piece(0, 64), false, at_second(0));
        const auto verdict = table.later(piece(56, 64), at_second(0));
        EXPECT_EQ(verdict.outcome, FragmentOutcome::Overlaps);
        EXPECT_EQ(verdict.drop, discards);
        EXPECT_EQ(table.later(piece(120, 64, false), at_second(0)).drop, discards);
        EXPECT_GE(table.counters().of(FragmentEvent::Overlap), 1U);
    }
}

TEST(FragmentTable, ASecondFirstOneOfAnotherSizeIsAnOverlap) {
    FragmentTable table{{}};
    (void)table.first(piece(0, 64), false, at_second(0));
    EXPECT_EQ(table.first(piece(0, 64), true, at_second(0)).outcome, FragmentOutcome::Follows);
    EXPECT_TRUE(table.later(piece(64, 64), at_second(0)).drop) << "the stricter verdict stands";
    EXPECT_EQ(table.first(piece(0, 8), false, at_second(0)).outcome, FragmentOutcome::Overlaps);
}

TEST(FragmentTable, WhatLiesBehindTheEndOverlaps) {
    FragmentTable table{{}};
    (void)table.first(piece(0, 64), false, at_second(0));
    (void)table.later(piece(128, 64, false), at_second(0));
    EXPECT_EQ(table.later(piece(192, 8), at_second(0)).outcome, FragmentOutcome::Overlaps);
    FragmentTable other{{}};
    (void)other.first(piece(0, 64), false, at_second(0));
    (void)other.later(piece(128, 64, false), at_second(0));
    (void)other.later(piece(64, 32), at_second(0));
    EXPECT_EQ(other.later(piece(80, 48), at_second(0)).outcome, FragmentOutcome::Overlaps)
        << "more bytes than there are";
}

IpFragment checked(std::uint16_t number, std::uint8_t check, bool more = true) {
    return {.digest = kDigest,
            .offset = static_cast<std::uint16_t>(number * 1480),
            .size = 1480,
            .more = more,
            .check = check};
}

// Each of 43 comes several times, and the first one too: nothing is refused, and the datagram is
// over.
TEST(FragmentTable, AnExactCopyIsNoOverlap) {
    for (const bool drop : {false, true}) {
        FragmentTable table{{}};
        for (unsigned i = 0; i < 2; ++i) {
            EXPECT_EQ(table.first(piece(0, 1480), drop, at_second(0)).outcome,
                      FragmentOutcome::Follows);
        }
        for (std::uint16_t number = 1; number < 43; ++number) {
            for (unsigned i = 0; i < 3; ++i) {
                const auto check = static_cast<std::uint8_t>(number * 5 % 255 + 1);
                const auto verdict = table.later(checked(number, check), at_second(0));
                EXPECT_EQ(verdict.outcome, FragmentOutcome::Follows) << number;
                EXPECT_EQ(verdict.drop, drop);
            }
        }
        EXPECT_EQ(table.counters().of(FragmentEvent::Completed), 0U);
        (void)table.later(checked(43, 7, false), at_second(0));
        EXPECT_EQ(table.counters().of(FragmentEvent::Completed), 1U);
        EXPECT_EQ(table.counters().of(FragmentEvent::Overlap), 0U);
    }
}

TEST(FragmentTable, OtherBytesInALaterOnesPlaceAreAnOverlapAtOnce) {
    FragmentTable table{{}};
    (void)table.first(piece(0, 1480), false, at_second(0));
    (void)table.later(checked(2, 9), at_second(0));
    const auto verdict = table.later(checked(2, 10), at_second(0));
    EXPECT_EQ(verdict.outcome, FragmentOutcome::Overlaps);
    EXPECT_TRUE(verdict.drop);
    EXPECT_EQ(table.later(checked(2, 9), at_second(0)).outcome, FragmentOutcome::Overlaps);
}

// A copy that comes behind the end of its datagram, and another datagram of the same name.
TEST(FragmentTable, ChecksGoWithTheirDatagram) {
    FragmentTable table{{}};
    for (std::uint8_t round = 1; round < 20; ++round) {
        (void)table.first(piece(0, 1480), false, at_second(0));
        for (std::uint16_t number = 1; number < 4; ++number) {
            const auto verdict = table.later(checked(number, round, number < 3), at_second(0));
            EXPECT_EQ(verdict.outcome, FragmentOutcome::Follows);
        }
        EXPECT_EQ(table.later(checked(2, round), at_second(0)).outcome, FragmentOutcome::Orphan);
    }
}

TEST(FragmentTable, ForgetsInTime) {
    FragmentTable table{{}};
    (void)table.first(piece(0, 64), false, at_second(0));
    EXPECT_EQ(table.later(piece(64, 64), at_second(30)).outcome, FragmentOutcome::Follows);
    EXPECT_EQ(table.later(piece(128, 64), at_second(31)).outcome, FragmentOutcome::Orphan);
}

// Beside a model that forgets nothing: verdicts are the first one's or an orphan's, and the newest
// datagrams are always known.
TEST(FragmentTable, AFloodEvictsTheOldest) {
    FragmentTable table{{.datagrams = 1024}};
    std::mt19937_64 random{7};
    std::map<std::uint64_t, bool> drops;
    std::vector<std::uint64_t> begun;
    std::uint64_t known = 0;
    std::uint64_t asked = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t digest = random();
        begun.push_back(digest);
        drops[digest] = random() % 2 == 0;
        (void)table.first({digest, 0, 64, true}, drops[digest], at_second(0));
        EXPECT_EQ(table.later({digest, 64, 8, true}, at_second(0)).outcome,
                  FragmentOutcome::Follows);
        const std::uint64_t recent =
            begun[begun.size() - 1 - std::min<std::size_t>(200, begun.size() - 1)];
        const auto verdict = table.later({recent, 128, 8, true}, at_second(0));
        ++asked;
        known += verdict.outcome == FragmentOutcome::Follows ? 1 : 0;
        EXPECT_TRUE(verdict.outcome == FragmentOutcome::Orphan || verdict.drop == drops[recent]);
    }
    EXPECT_GT(known, asked * 99 / 100);
    EXPECT_GT(table.counters().of(FragmentEvent::Evicted), 100'000U);
}

}  // namespace
}  // namespace sluice::fragment_table_test

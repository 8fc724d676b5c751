#include "tests/guarded_memory.hpp"
#include "tests/unit/conn/toy_connection.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Streams in memory that outlives the process: the toy protocol's, killed before each store.
namespace sluice::connection_kept_test {
namespace {

using test::at_second;
using test::GuardedMemory;
using test::kDrop;
using test::kPass;
using test::toy_unit;
using test::ToyReader;

constexpr std::uint32_t kIsn = 0xFFFF'FFF0;
constexpr std::uint64_t kDigest = 0x1234'5678'9ABC'DEF0;
constexpr ConnectionBudget kBudget{.connections = 64,
                                   .half_heads = 16,
                                   .refusals = 16,
                                   .given_up = 16,
                                   .begun = 16,
                                   .half_head_lines = 200,
                                   .half_heads_per_source = 2,
                                   .head_bytes = 4000};

struct Region {
    GuardedMemory memory{ConnectionTable::kept_of(kBudget)};

    [[nodiscard]] KeptMemory kept() const {
        return {memory.base(), ConnectionTable::kept_of(kBudget), 4096};
    }
};

struct Process {
    explicit Process(const Region& region, int second = 0)
        : memory{region.kept()}, table{kBudget, StreamStance::Service, memory} {
        table.take_over(at_second(second), [](const FramingState&) noexcept { return true; });
    }
    StreamOffer add(std::uint64_t at, const std::string& bytes, std::uint64_t source = 1,
                    std::uint64_t digest = kDigest) {
        ToyReader reader{table, digest, kIsn};
        reader.verdict(verdict);
        const StreamOffer offer = reader.add(at, bytes, at_second(0), source);
        table.conclude();
        units += reader.units().size();
        return offer;
    }
    KeptMemory memory;
    ConnectionTable table;
    StickyVerdict verdict = kPass;
    std::size_t units = 0;
};

TEST(ConnectionKept, AHalfHeadIsCompletedInTheNextProcess) {
    const std::string unit = toy_unit('a', 250);
    for (const bool has_gap : {false, true}) {
        Region region;
        {
            Process first{region};
            EXPECT_EQ(first.add(0, unit.substr(0, 100)).kind, Offered::Held);
            if (has_gap) {
                EXPECT_EQ(first.add(180, unit.substr(180)).kind, Offered::Held);
            }
        }
        Process next{region};
        EXPECT_EQ(next.table.half_heads(), 1U);
        EXPECT_EQ(next.add(100, unit.substr(100, has_gap ? 80 : 150)).kind, Offered::Nothing);
        EXPECT_EQ(next.units, 1U);
        EXPECT_EQ(next.table.half_heads(), 0U);
        EXPECT_EQ(next.table.counters().held_lines.read(), 0U) << "no line is lost";
    }
}

TEST(ConnectionKept, LinesThatTwoHeadsClaimAreOneOfThems) {
    Region region;
    const std::string unit = toy_unit('a', 250);
    {
        Process first{region};
        (void)first.add(0, unit.substr(0, 100));
        (void)first.add(0, unit.substr(0, 100), 2, kDigest + 1);
        // Its line is the other's from now on.
        auto* const words = static_cast<std::uint32_t*>(region.memory.base());
        const std::size_t count = ConnectionTable::kept_of(kBudget) / sizeof(std::uint32_t);
        constexpr std::size_t kHeldAt = offsetof(Connection, held) / sizeof(std::uint32_t);
        constexpr std::size_t kWords = sizeof(Connection) / sizeof(std::uint32_t);
        std::vector<std::uint32_t*> held;
        for (std::size_t at = 0; at + kWords <= count; at += kWords) {
            const std::uint64_t digest = words[at] | std::uint64_t{words[at + 1]} << 32;
            // The change under way is put by behind the same digest, elsewhere in its line.
            if ((digest == kDigest || digest == kDigest + 1) && words[at + kHeldAt] != 0) {
                held.push_back(&words[at + kHeldAt]);
            }
        }
        ASSERT_GE(held.size(), 2U);
        for (std::uint32_t* one : held) {
            *one = *held.front();
        }
    }
    Process next{region};
    EXPECT_EQ(next.table.half_heads(), 1U);
    std::size_t refused = 0;
    for (const std::uint64_t digest : {kDigest, kDigest + 1}) {
        refused += next.add(100, unit.substr(100), 1, digest).kind == Offered::Refused ? 1 : 0;
    }
    EXPECT_EQ(refused, 1U) << "the rest of a head whose beginning is gone";
}

// Nothing tells whether an answer to an earlier request is under way.
TEST(ConnectionKept, AnAnswerMayBeOnItsWay) {
    Region region;
    const std::string unit = toy_unit('a', 60);
    {
        Process first{region};
        EXPECT_FALSE(first.table.may_await_answer(first.add(0, unit), 100));
        EXPECT_FALSE(first.table.may_await_answer(first.add(60, unit), 200)) << "it has come";
    }
    Process next{region};
    EXPECT_TRUE(next.table.may_await_answer(next.add(120, unit), 300));
}

TEST(ConnectionKept, ARefusalSticks) {
    Region region;
    const std::string unit = toy_unit('a', 60, 40);
    {
        Process first{region};
        first.verdict = kDrop;
        (void)first.add(0, unit);
    }
    Process next{region};
    const StreamOffer again = next.add(0, unit);
    EXPECT_EQ(again.kind, Offered::Judged);
    EXPECT_EQ(again.judged, kDrop);
    EXPECT_EQ(next.units, 0U);
}

// Nobody will settle it any more: its segment was not forwarded.
TEST(ConnectionKept, WhatWasNotDecidedIsJudgedAgain) {
    Region region;
    const std::string unit = toy_unit('a', 60, 40);
    {
        Process first{region};
        first.verdict = StickyVerdict::Undecided;
        (void)first.add(0, unit);
    }
    Process next{region};
    (void)next.add(0, unit);
    EXPECT_EQ(next.units, 1U);
    EXPECT_EQ(next.table.verdict_of(kDigest, kIsn, kIsn + 100), kPass);
}

// Segments of one connection, killed before each store: whatever the next process finds, it judges
// each unit that follows, and none of the client's segments is refused when they come once more.
TEST(ConnectionKept, AKillAtAnyStoreLosesNoUnit) {
    const std::string one = toy_unit('a', 200, 50);
    const std::string two = toy_unit('b', 120);
    const std::string all = one + two + toy_unit('c', 30);
    const std::vector<std::size_t> cuts{0, 30, 90, 230, 260, 340, all.size()};
    Region region;
    Region other;
    Process process{region};
    std::size_t instants = 0;
    std::size_t given_up = 0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        const auto segment = [&](std::size_t number) {
            return all.substr(cuts[number], cuts[number + 1] - cuts[number]);
        };
        const auto killed = [&] {
            other.memory.copy_from(region.memory);
            Process next{other};
            ++instants;
            for (std::size_t later = i; later + 1 < cuts.size(); ++later) {
                if (next.add(cuts[later], segment(later)).kind == Offered::Refused) {
                    ++given_up;
                    EXPECT_EQ(next.table.half_heads(), 0U);
                    return;  // the half head that was being changed
                }
            }
            EXPECT_GE(next.units + (i >= 3 ? 1U : 0U) + (i >= 5 ? 1U : 0U) + 1U, 3U)
                << "segment " << i;
            EXPECT_EQ(next.table.half_heads(), 0U);
        };
        region.memory.run_guarded([&] { (void)process.add(cuts[i], segment(i)); }, killed);
        killed();
    }
    EXPECT_GT(instants, 60U);
    EXPECT_LT(given_up, instants / 2);
}

}  // namespace
}  // namespace sluice::connection_kept_test

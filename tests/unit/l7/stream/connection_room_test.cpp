#include "tests/rounds.hpp"
#include "tests/unit/l7/stream/toy_connection.hpp"

#include <gtest/gtest.h>

#include <array>

#include <malloc.h>

namespace sluice::connection_room_test {
namespace {

using test::at_second;
using test::kPass;
using test::toy_unit;
using test::ToyReader;

const std::string kWhole = toy_unit('a', 200);
const std::string kBegin = kWhole.substr(0, 100);
const std::string kEnd = kWhole.substr(100);

std::uint64_t digest_of(std::uint64_t connection) {
    return (connection + 1) * 0x9E37'79B9'7F4A'7C15 ^ (connection << 32) * 0x1234'5679;
}

Offered begin_head(ConnectionTable& table, std::uint64_t connection, std::uint64_t source,
                   Instant now) {
    ToyReader reader{table, digest_of(connection), 7};
    return reader.add(0, kBegin, now, source).kind;
}

// Whether the rest of a head that began in the table is judged.
bool end_head(ConnectionTable& table, std::uint64_t connection, std::uint64_t source, Instant now) {
    ToyReader reader{table, digest_of(connection), 7};
    (void)reader.add(100, kEnd, now, source);
    return reader.units().size() == 1;
}

constexpr ConnectionBudget kBudget{.connections = 40'000,
                                   .half_heads = 10'000,
                                   .half_head_lines = 40'000,
                                   .half_heads_per_source = 5000};

void expect_within(const ConnectionTable& table, const ConnectionBudget& budget) {
    EXPECT_LE(table.size(), budget.connections);
    EXPECT_LE(table.half_heads(), budget.half_heads);
    EXPECT_LE(table.counters().held_lines.read(), budget.half_head_lines);
}

// One source, then many, beside one client whose head comes in two segments.
TEST(ConnectionRoom, AMillionHalfHeadsLeaveRoomForAClient) {
    for (const std::uint64_t sources : {1U, 10U, 500U}) {
        ConnectionTable table{kBudget};
        const auto flood = static_cast<std::uint64_t>(test::rounds(1'000'000));
        ASSERT_EQ(begin_head(table, flood + 1, 1u << 30, at_second(0)), Offered::Held);
        for (std::uint64_t i = 0; i < flood; ++i) {
            const Instant now{Nanoseconds{static_cast<std::int64_t>(i * 1000)}};
            (void)begin_head(table, i, i % sources, now);
            table.expire(now, 2);
        }
        expect_within(table, kBudget);
        EXPECT_TRUE(end_head(table, flood + 1, 1u << 30, at_second(2))) << sources;
        EXPECT_GT(table.counters().of(ConnectionEvent::EvictedHalfHead) +
                      table.counters().of(ConnectionEvent::EvictedShare),
                  flood / 2);
    }
}

// Each half head from a source of its own: the oldest goes, so that a head has as long as it takes
// to fill the budget once.
TEST(ConnectionRoom, AMillionSourcesEvictInOrderOfAge) {
    ConnectionTable table{kBudget};
    const auto flood = static_cast<std::uint64_t>(test::rounds(1'000'000));
    for (std::uint64_t i = 0; i < flood; ++i) {
        const Instant now{Nanoseconds{static_cast<std::int64_t>(i * 1000)}};
        (void)begin_head(table, i, 1000 + i, now);
        if (i % 20'000 == 15'000) {
            ASSERT_EQ(begin_head(table, flood + i, 1, now), Offered::Held);
        } else if (i % 20'000 == 19'999) {
            EXPECT_TRUE(end_head(table, flood + i - 4999, 1, now));
        }
    }
    expect_within(table, kBudget);
}

TEST(ConnectionRoom, TheOldestOfTheSourceWithMostGoesFirst) {
    ConnectionBudget budget = kBudget;
    budget.half_heads = 6;
    ConnectionTable table{budget};
    // 0 is the oldest of all, 1 to 3 are of the source with most.
    for (const std::uint64_t connection : {0, 1, 2, 3, 4, 5}) {
        ASSERT_EQ(begin_head(table, connection, connection >= 1 && connection <= 3 ? 7 : connection,
                             at_second(0)),
                  Offered::Held);
    }
    ASSERT_EQ(begin_head(table, 6, 6, at_second(1)), Offered::Held);
    ASSERT_EQ(begin_head(table, 7, 6, at_second(1)), Offered::Held);
    for (const std::uint64_t connection : {0, 3, 4, 5, 6, 7}) {
        EXPECT_TRUE(end_head(table, connection, connection, at_second(2))) << connection;
    }
    EXPECT_FALSE(end_head(table, 1, 7, at_second(2)));
    EXPECT_FALSE(end_head(table, 2, 7, at_second(2)));
}

TEST(ConnectionRoom, RefusesWhenToldTo) {
    ConnectionBudget budget = kBudget;
    budget.half_heads = 10;
    budget.half_heads_per_source = 4;
    budget.when_full = FullHeads::Refuse;
    ConnectionTable table{budget};
    int held = 0;
    for (std::uint64_t i = 0; i < 30; ++i) {
        held += begin_head(table, i, i % 3, at_second(0)) == Offered::Held ? 1 : 0;
    }
    EXPECT_EQ(held, 10);
    EXPECT_GT(table.counters().of(ConnectionEvent::RefusedShare) +
                  table.counters().of(ConnectionEvent::RefusedFull),
              0U);
    EXPECT_TRUE(end_head(table, 0, 0, at_second(1)));
    EXPECT_FALSE(end_head(table, 29, 2, at_second(1))) << "its beginning was refused";
}

TEST(ConnectionRoom, BytesAreBoundedToo) {
    ConnectionBudget budget = kBudget;
    budget.half_head_lines = 30;
    ConnectionTable table{budget};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(begin_head(table, i, i % 7, at_second(0)), Offered::Held);
    }
    EXPECT_LE(table.counters().held_lines.read(), 30U);
    EXPECT_TRUE(end_head(table, 999, 999 % 7, at_second(1)));
}

TEST(ConnectionRoom, WhatIsJudgedLastIsRememberedLongest) {
    ConnectionBudget budget = kBudget;
    budget.connections = 1000;
    ConnectionTable table{budget};
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        ToyReader reader{table, digest_of(i), 7};
        (void)reader.add(0, kWhole,
                         Instant{Nanoseconds{static_cast<std::int64_t>(i) * 100'000'000}});
        ASSERT_EQ(reader.units().size(), 1U);
    }
    EXPECT_LE(table.size(), 1000U);
    EXPECT_EQ(table.verdict_of(digest_of(49'999), 7, 17), kPass);
    EXPECT_EQ(table.verdict_of(digest_of(49'900), 7, 17), kPass);
    EXPECT_EQ(table.verdict_of(digest_of(40'000), 7, 17), StickyVerdict::Unjudged);
}

TEST(ConnectionRoom, WhoIsNotSilentStays) {
    ConnectionBudget budget = kBudget;
    budget.connections = 100;
    ConnectionTable table{budget};
    ToyReader busy{table, digest_of(1'000'000), 7};
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Instant now{Nanoseconds{static_cast<std::int64_t>(i) * 200'000'000}};
        (void)busy.add(i * kWhole.size(), kWhole, now);
        ToyReader reader{table, digest_of(i), 7};
        (void)reader.add(0, kWhole, now);
    }
    EXPECT_EQ(busy.units().size(), 2000U);
    EXPECT_EQ(table.verdict_of(digest_of(1'000'000), 7, 17), kPass) << "from the first unit on";
}

// The server has the first half of this head; the table has given it up.
void give_up_head(ConnectionTable& table, std::uint64_t connection, std::uint64_t source) {
    ASSERT_EQ(begin_head(table, connection, source, at_second(0)), Offered::Held);
    table.expire(at_second(11), 1);
    ASSERT_EQ(table.counters().of(ConnectionEvent::HalfHeadTimeout), 1U);
}

Offered rest_of_head(ConnectionTable& table, std::uint64_t connection, Instant now) {
    ToyReader reader{table, digest_of(connection), 7};
    return reader.add(100, kEnd, now).kind;
}

// Whole units of other sources, one a connection, ten thousand in a second.
void flood_whole_units(ConnectionTable& table, std::uint64_t from, std::uint64_t to,
                       StickyVerdict verdict, std::uint64_t sources) {
    for (std::uint64_t i = from; i < to; ++i) {
        const Instant now = at_second(11) + Nanoseconds{static_cast<std::int64_t>(i * 100'000)};
        ToyReader reader{table, digest_of(1'000'000 + i), 7};
        reader.verdict(verdict);
        (void)reader.add(0, kWhole, now, 100 + i % sources);
        table.expire(now, 2);
    }
}

// What is at stake outlives a flood of whole units, which fills the table many times over.
TEST(ConnectionRoom, AFloodOfWholeUnitsForgetsNeitherGivenUpHeadsNorRefusals) {
    for (const StickyVerdict verdict : {kPass, test::kDrop}) {
        ConnectionBudget budget = kBudget;
        budget.connections = 4000;
        budget.half_heads = 1000;
        budget.refusals = 1000;
        budget.given_up = 500;
        ConnectionTable table{budget};
        give_up_head(table, 1, 1);
        ToyReader refused{table, digest_of(2), 7};
        refused.verdict(test::kDrop);
        (void)refused.add(0, kWhole, at_second(11), 2);
        flood_whole_units(table, 0, 200'000, verdict, 50);
        EXPECT_GT(table.counters().of(ConnectionEvent::EvictedIdle), 100'000U);
        EXPECT_LE(table.counters().refusals.read(), 1000U);
        EXPECT_EQ(rest_of_head(table, 1, at_second(32)), Offered::Refused)
            << "half of it is at the server";
        EXPECT_EQ(table.verdict_of(digest_of(2), 7, 17), test::kDrop);
        EXPECT_EQ(table.counters().of(ConnectionEvent::RefusalsFull) > 100'000U,
                  verdict == test::kDrop);
    }
}

// Refusals are a bounded share of the table: passes of others still stick.
TEST(ConnectionRoom, RefusalsLeaveRoomForPasses) {
    ConnectionBudget budget = kBudget;
    budget.connections = 4000;
    budget.half_heads = 1000;
    budget.refusals = 1000;
    budget.given_up = 500;
    ConnectionTable table{budget};
    flood_whole_units(table, 0, 20'000, test::kDrop, 20'000);
    ToyReader passed{table, digest_of(3), 7};
    (void)passed.add(0, kWhole, at_second(13), 3);
    EXPECT_EQ(table.counters().refusals.read(), 1000U);
    flood_whole_units(table, 20'000, 21'000, test::kDrop, 50);
    EXPECT_EQ(table.verdict_of(digest_of(3), 7, 17), kPass);
    EXPECT_EQ(table.size(), 4000U);
}

// A budget that leaves no idle connections: refusals go before given-up heads before half heads.
TEST(ConnectionRoom, WhereAllIsAtStakeARefusalGoesFirst) {
    ConnectionBudget budget = kBudget;
    budget.connections = 3;
    budget.half_heads = 3;
    ConnectionTable table{budget};
    give_up_head(table, 1, 1);
    ToyReader refused{table, digest_of(2), 7};
    refused.verdict(test::kDrop);
    (void)refused.add(0, kWhole, at_second(11), 2);
    for (const std::uint64_t half : {3U, 4U, 5U, 6U}) {
        ASSERT_EQ(begin_head(table, half, half, at_second(12)), Offered::Held);
        EXPECT_EQ(table.counters().of(ConnectionEvent::EvictedRefusal), half < 4 ? 0U : 1U);
        EXPECT_EQ(table.counters().of(ConnectionEvent::EvictedGivenUp), half < 5 ? 0U : 1U);
        EXPECT_EQ(table.counters().of(ConnectionEvent::EvictedHalfHead), half < 6 ? 0U : 1U);
    }
    EXPECT_EQ(table.size(), 3U);
}

// Half heads of as many sources, seven for each that the table has room for: the servers have all
// of their beginnings, and none of their ends comes through unjudged.
TEST(ConnectionRoom, WhatMadeRoomIsRefusedUntilItIsSilent) {
    constexpr std::uint64_t kFlood = 28'000;
    ConnectionBudget budget = kBudget;
    budget.connections = 4000;
    budget.half_heads = 2000;
    budget.given_up = 500;
    ConnectionTable table{budget};
    for (std::uint64_t i = 0; i < kFlood; ++i) {
        ASSERT_EQ(begin_head(table, i, i, at_second(0)), Offered::Held) << i;
    }
    std::uint64_t judged = 0;
    for (std::uint64_t i = 0; i < kFlood; ++i) {
        ToyReader reader{table, digest_of(i), 7};
        const Offered rest = reader.add(100, kEnd, at_second(1)).kind;
        judged += reader.units().size();
        EXPECT_TRUE(rest == Offered::Refused || reader.units().size() == 1) << i;
    }
    EXPECT_EQ(judged, budget.half_heads);
    EXPECT_EQ(table.counters().of(ConnectionEvent::RefusedForgotten), 0U);
    ToyReader begun_anew{table, digest_of(0), 7};
    EXPECT_EQ(begun_anew.add(200, kWhole, at_second(50)).kind, Offered::Refused)
        << "it was heard of less than a minute ago";
    ToyReader silent{table, digest_of(0), 7};
    (void)silent.add(0, kWhole, at_second(111));
    EXPECT_EQ(silent.units().size(), 1U);
}

// Fifteen heads for each that the table has room for, more than it has places for digests. Where
// new ones are refused rather than old ones forgotten, the rest of none passes unjudged.
TEST(ConnectionRoom, WhereNewHeadsAreRefusedNoneIsEverForgotten) {
    constexpr std::uint64_t kFlood = 60'000;
    ConnectionBudget budget = kBudget;
    budget.connections = 4000;
    budget.half_heads = 2000;
    budget.given_up = 500;
    budget.when_full = FullHeads::Refuse;
    ConnectionTable table{budget};
    for (std::uint64_t i = 0; i < kFlood; ++i) {
        (void)begin_head(table, i, i, at_second(0));
    }
    std::uint64_t judged = 0;
    for (std::uint64_t i = 0; i < kFlood; ++i) {
        ToyReader reader{table, digest_of(i), 7};
        const Offered rest = reader.add(100, kEnd, at_second(1), i).kind;
        judged += reader.units().size();
        ASSERT_TRUE(rest == Offered::Refused || reader.units().size() == 1) << i;
    }
    EXPECT_EQ(judged, budget.half_heads);
    EXPECT_EQ(table.counters().of(ConnectionEvent::RefusedForgotten), 0U);
    EXPECT_GT(table.counters().of(ConnectionEvent::RefusedUntold), 0U);
    ToyReader after{table, digest_of(kFlood + 1), 7};
    (void)after.add(0, kWhole, at_second(62));
    EXPECT_EQ(after.units().size(), 1U) << "a minute after the last of them began";
}

// Refusals that made room stay refusals.
TEST(ConnectionRoom, RefusedUnitsThatMadeRoomAreNeverForwarded) {
    ConnectionBudget budget = kBudget;
    budget.connections = 1000;
    budget.refusals = 99;  // 901 idle ones, of which a newcomer moves six: each is looked at
    ConnectionTable table{budget};
    ToyReader refused{table, digest_of(1), 7};
    refused.verdict(test::kDrop);
    (void)refused.add(0, kBegin, at_second(11));
    (void)refused.add(100, kEnd, at_second(11));
    ASSERT_EQ(refused.units().size(), 1U);
    flood_whole_units(table, 0, 5000, test::kDrop, 5000);
    ASSERT_EQ(table.verdict_of(digest_of(1), 7, 17), StickyVerdict::Unjudged);
    EXPECT_EQ(rest_of_head(table, 1, at_second(12)), Offered::Refused)
        << "its server has the first half";
}

// No line near a head's own is free: one of them goes.
TEST(ConnectionRoom, ALineIsMadeWhereNoneIsNear) {
    ConnectionBudget budget = kBudget;
    budget.connections = 1000;
    ConnectionTable table{budget};
    constexpr std::uint64_t kSameHome = std::uint64_t{1} << 32;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        const Instant now{std::chrono::milliseconds{2 * i}};
        ToyReader reader{table, i * kSameHome, 7};
        EXPECT_EQ(reader.add(0, kBegin, now, i).kind, Offered::Held) << i;
    }
    EXPECT_EQ(table.size(), 16U);
    EXPECT_EQ(table.counters().of(ConnectionEvent::EvictedHalfHead), 84U);
    for (std::uint64_t i = 1; i <= 16; ++i) {
        ToyReader reader{table, i * kSameHome, 7};
        EXPECT_EQ(reader.add(100, kEnd, at_second(1), i).kind, Offered::Refused) << i;
    }
    budget.when_full = FullHeads::Refuse;
    ConnectionTable strict{budget};
    for (std::uint64_t i = 1; i <= 20; ++i) {
        ToyReader reader{strict, i * kSameHome, 7};
        EXPECT_EQ(reader.add(0, kBegin, at_second(0), i).kind,
                  i <= 16 ? Offered::Held : Offered::Refused)
            << i;
    }
    ToyReader second_half{strict, 17 * kSameHome, 7};
    EXPECT_EQ(second_half.add(100, kEnd, at_second(1), 17).kind, Offered::Refused)
        << "no line tells what goes on with the half that was refused";
}

TEST(ConnectionRoom, NothingIsAllocatedOnceItStands) {
    ConnectionTable table{kBudget};
    std::array<std::byte, 1000> scratch{};
    StreamOffer offer;
    const std::size_t before = mallinfo2().uordblks;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        for (std::uint32_t at = 0; at < 2; ++at) {
            table.take({.digest = digest_of(i + at * 10),
                        .source = i,
                        .seq = at * 100,
                        .payload = bytes_of(at == 0 ? kBegin : kEnd)},
                       scratch, at_second(static_cast<int>(i / 1000)), offer);
            if (!offer.parses()) {
                continue;
            }
            if (at == 0) {
                table.more(offer, {200});
            } else {
                table.finish(offer, offer.bytes.size(), kPass, {});
            }
        }
        table.expire(at_second(static_cast<int>(i / 1000)), 2);
    }
    EXPECT_EQ(mallinfo2().uordblks, before);
}

// The second half of a head alone: the first may be sent again for two minutes.
void begin_gap(ConnectionTable& table, std::uint64_t connection, Instant now) {
    ToyReader reader{table, digest_of(connection), 7};
    (void)reader.add(0, kWhole, now);
    ASSERT_EQ(reader.add(kWhole.size() + 100, kEnd, now).kind, Offered::Held);
}

// Half heads that wait for what is missing, one or several: whatever else is due goes meanwhile.
TEST(ConnectionRoom, HalfHeadsThatWaitHoldUpNobody) {
    for (const std::uint64_t waiting : {1U, 5U}) {
        ConnectionTable table{kBudget};
        for (std::uint64_t i = 0; i < waiting; ++i) {
            begin_gap(table, i, at_second(0));
        }
        ASSERT_EQ(begin_head(table, 100, 1, at_second(1)), Offered::Held);
        ToyReader silent{table, digest_of(101), 7};
        (void)silent.add(0, kWhole, at_second(1));
        ToyReader refused{table, digest_of(102), 7};
        refused.verdict(test::kDrop);
        (void)refused.add(0, kWhole, at_second(1));
        for (int burst = 0; burst < 20; ++burst) {
            (void)table.expire(at_second(20), 2);
        }
        EXPECT_EQ(table.half_heads(), waiting) << "the other one's time is up";
        EXPECT_EQ(table.counters().of(ConnectionEvent::HalfHeadTimeout), 1U);
        for (int burst = 0; burst < 20; ++burst) {
            (void)table.expire(at_second(90), 2);
        }
        EXPECT_EQ(table.half_heads(), waiting);
        EXPECT_EQ(table.size(), waiting) << "the silent ones have gone";
        for (int burst = 0; burst < 60; ++burst) {
            (void)table.expire(at_second(121), 2);
        }
        EXPECT_EQ(table.half_heads(), 0U) << "two minutes are over";
    }
}

TEST(ConnectionRoom, ConnectionsThatAreNotSilentHoldUpNobody) {
    ConnectionTable table{kBudget};
    ToyReader refused{table, digest_of(1), 7};
    refused.verdict(test::kDrop);
    (void)refused.add(0, kWhole, at_second(0));
    for (int second = 0; second <= 70; ++second) {
        for (std::uint64_t busy = 10; busy < 20; ++busy) {
            ToyReader reader{table, digest_of(busy), 7};
            (void)reader.add(static_cast<std::uint64_t>(second) * kWhole.size(), kWhole,
                             at_second(second));
        }
        (void)table.expire(at_second(second), 2);
    }
    EXPECT_EQ(table.size(), 10U) << "the refusal is over";
    EXPECT_EQ(table.counters().of(ConnectionEvent::IdleTimeout), 1U);
}

TEST(ConnectionRoom, SilenceEmptiesTheTable) {
    ConnectionTable table{kBudget};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        (void)begin_head(table, i, i, at_second(0));
    }
    for (int burst = 0; burst < 3000; ++burst) {
        table.expire(at_second(burst / 10), 4);
    }
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.half_heads(), 0U);
    EXPECT_EQ(table.counters().held_lines.read(), 0U);
    EXPECT_EQ(table.counters().of(ConnectionEvent::HalfHeadTimeout), 1000U);
    EXPECT_EQ(table.counters().of(ConnectionEvent::IdleTimeout), 1000U);
}

}  // namespace
}  // namespace sluice::connection_room_test

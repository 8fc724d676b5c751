#include "lib/watch/heatmap/heat_table.hpp"

#include "lib/watch/heatmap/heat_epoch.hpp"
#include "lib/watch/heatmap/heat_join.hpp"
#include "lib/watch/heatmap/heat_sampler.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace sluice::heat_table_test {
namespace {

constexpr std::size_t kRecords = 1024;
constexpr std::size_t kLimits = 64;

std::shared_ptr<const HeatPlan> plan_of(std::initializer_list<std::uint32_t> limits,
                                        std::uint8_t bits = 0) {
    auto plan = std::make_shared<HeatPlan>();
    plan->load = 7;
    for (const std::uint32_t limit : limits) {
        plan->limits.push_back({.rule = "r", .index = limit, .identity = limit, .bits = bits});
    }
    return plan;
}

struct Watched {
    HeatTable table{kRecords, kLimits};

    explicit Watched(std::shared_ptr<const HeatPlan> plan) {
        table.begin({std::move(plan), 1, 16});
    }
    bool note(std::uint32_t limit, std::uint64_t hash, std::uint64_t units = 1,
              bool refused = false, std::uint8_t left = 200) {
        HeatRecord* const record =
            table.is_watched(limit, hash) ? table.find(limit, hash) : nullptr;
        if (record != nullptr) {
            record->note(units, refused, left);
        }
        return record != nullptr;
    }
    [[nodiscard]] std::map<std::uint64_t, HeatSample> samples(std::size_t of = 0) const {
        std::map<std::uint64_t, HeatSample> found;
        table.for_each([&](std::size_t place, const HeatRecord& record) {
            if (place == of) {
                found[record.digest()] = record.sample();
            }
        });
        return found;
    }
};

TEST(HeatTable, AddsUpWhatAKeyOfALimitOffers) {
    Watched watched{plan_of({3, 9})};
    EXPECT_TRUE(watched.note(3, 42, 5, false, 100));
    EXPECT_TRUE(watched.note(3, 42, 7, true, 0));
    EXPECT_TRUE(watched.note(3, 43));
    EXPECT_TRUE(watched.note(9, 42, 2, false, 30));
    const auto first = watched.samples(0);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first.at(heat_digest(42)), (HeatSample{heat_digest(42), 12, 7, 0}));
    EXPECT_EQ(first.at(heat_digest(43)), (HeatSample{heat_digest(43), 1, 0, 200}));
    EXPECT_EQ(watched.samples(1).at(heat_digest(42)), (HeatSample{heat_digest(42), 2, 0, 30}));
}

TEST(HeatTable, LimitsWithoutAMapAreNotWatched) {
    Watched watched{plan_of({3})};
    for (std::uint64_t hash = 0; hash < 1000; ++hash) {
        EXPECT_FALSE(watched.table.is_watched(4, hash));
    }
    watched.table.begin({std::make_shared<const HeatPlan>(), 2, 0});
    EXPECT_FALSE(watched.table.is_watched(3, 42));
    EXPECT_EQ(watched.table.load(), 0U);
}

TEST(HeatTable, CountsStayAtTheMostTheyHold) {
    Watched watched{plan_of({3})};
    watched.note(3, 42, std::uint64_t{1} << 40, true, 0);
    watched.note(3, 42, std::uint64_t{1} << 40, true, 0);
    const HeatSample sample = watched.samples().begin()->second;
    EXPECT_EQ(sample.offered, UINT32_MAX);
    EXPECT_EQ(sample.refused, (1U << 24) - 1);
}

// One key in 2^bits is watched, and who is watched by more bits is by fewer too.
TEST(HeatTable, WatchesTheShareThatItsBitsSay) {
    std::mt19937_64 random{1};
    HeatTable few{kRecords, kLimits};
    HeatTable many{kRecords, kLimits};
    few.begin({plan_of({3}, 6), 1, 0});
    many.begin({plan_of({3}, 4), 1, 0});
    std::size_t watched_by_few = 0;
    constexpr std::size_t kKeys = 64'000;
    for (std::size_t i = 0; i < kKeys; ++i) {
        const std::uint64_t hash = random();
        const bool is_in_few = few.is_watched(3, hash);
        watched_by_few += is_in_few ? 1 : 0;
        EXPECT_TRUE(!is_in_few || many.is_watched(3, hash));
    }
    EXPECT_NEAR(static_cast<double>(watched_by_few), 1000, 4 * 31.4);
}

// More keys than the quota: by more bits from then on, and those that stay were watched all along.
TEST(HeatTable, WatchesFewerWhereMoreComeThanThereIsRoomFor) {
    Watched watched{plan_of({3})};
    std::mt19937_64 random{2};
    std::map<std::uint64_t, std::uint32_t> offered;
    std::vector<std::uint64_t> keys(40'000);
    for (std::uint64_t& key : keys) {
        key = random();
    }
    for (int round = 0; round < 3; ++round) {
        for (const std::uint64_t key : keys) {
            watched.note(3, key);
            ++offered[heat_digest(key)];
        }
    }
    const std::uint8_t bits = watched.table.bits(0);
    EXPECT_GE(bits, 6);
    EXPECT_LE(bits, 8);
    std::size_t expected = 0;
    for (const auto& [digest, count] : offered) {
        expected += digest < heat_bound(bits) ? 1 : 0;
    }
    const auto samples = watched.samples();
    const std::uint64_t left_out = watched.table.left_out(0);
    EXPECT_LT(left_out, 10U);
    EXPECT_LE(samples.size(), expected);
    EXPECT_GE(samples.size() + left_out, expected);
    std::uint64_t whole = 0;
    for (const auto& [digest, sample] : samples) {
        EXPECT_LT(digest, heat_bound(bits));
        whole += sample.offered == 3 ? 1 : 0;
    }
    EXPECT_GE(whole + left_out, samples.size());
}

// Limits share the places evenly, however many keys one of them has.
TEST(HeatTable, OneLimitsCrowdLeavesTheOthersTheirPlaces) {
    Watched watched{plan_of({3, 4})};
    std::mt19937_64 random{3};
    for (int i = 0; i < 20'000; ++i) {
        watched.note(3, random());
    }
    for (std::uint64_t key = 0; key < 100; ++key) {
        watched.note(4, random());
    }
    EXPECT_EQ(watched.table.bits(1), 0);
    EXPECT_GE(watched.samples(1).size() + watched.table.left_out(1), 100U);
    EXPECT_LT(watched.table.left_out(1), 3U);
    EXPECT_LE(watched.samples(0).size(), kRecords / 4);
}

TEST(HeatTable, BeginsEmptyWhateverWasInIt) {
    Watched watched{plan_of({3})};
    watched.note(3, 42);
    watched.table.begin({plan_of({4}), 2, 16});
    EXPECT_TRUE(watched.samples().empty());
    EXPECT_FALSE(watched.table.is_watched(3, 42));
    EXPECT_TRUE(watched.note(4, 42));
}

TEST(HeatTable, ShowsTheFirstPacketsOfAsManyKeysAsItMay) {
    Watched watched{plan_of({3})};
    std::size_t shown = 0;
    for (std::uint64_t key = 0; key < 40; ++key) {
        watched.note(3, key);
        HeatRecord& record = *watched.table.find(3, key);
        for (int packet = 0; packet < 20 && watched.table.may_show(record); ++packet) {
            record.show();
            ++shown;
        }
        EXPECT_LE(record.shown(), kMostPacketsOfKey);
    }
    EXPECT_EQ(shown, 16U + 32U);
}

TEST(HeatPlan, BitsFollowWhatTheFullestWorkerHas) {
    EXPECT_EQ(next_heat_bits(0, 0, 1000), 0);
    EXPECT_EQ(next_heat_bits(0, 1000, 1000), 0);
    EXPECT_EQ(next_heat_bits(0, 1001, 1000), 1);
    EXPECT_EQ(next_heat_bits(3, 2001, 1000), 5);
    EXPECT_EQ(next_heat_bits(8, 251, 1000), 8);
    EXPECT_EQ(next_heat_bits(8, 250, 1000), 7);
    EXPECT_EQ(next_heat_bits(8, 0, 1000), 4);
    EXPECT_EQ(next_heat_bits(2, 0, 1000), 0);
    EXPECT_EQ(next_heat_bits(HeatPlan::kMostBits, UINT32_MAX, 1), HeatPlan::kMostBits);
    // Where they have come to rest they stay, whatever the number of keys.
    for (std::uint32_t keys = 1; keys < 5'000'000; keys += keys / 3 + 1) {
        std::uint8_t bits = HeatPlan::kFirstBits;
        for (int turn = 0; turn < 20; ++turn) {
            bits = next_heat_bits(bits, keys >> bits, 1000);
        }
        EXPECT_EQ(next_heat_bits(bits, keys >> bits, 1000), bits) << keys;
        EXPECT_LE(keys >> bits, 1000U);
        EXPECT_TRUE(bits == 0 || keys >> bits > 1000 / 4) << keys;
    }
}

TEST(HeatPlan, NamesAreThoseOfAsManyKeys) {
    EXPECT_EQ(heat_name_bits(0, 512), 0);
    EXPECT_EQ(heat_name_bits(512, 512), 0);
    EXPECT_EQ(heat_name_bits(513, 512), 1);
    EXPECT_EQ(heat_name_bits(8192, 512), 4);
}

TEST(HeatJoin, AddsWhatWorkersWereOfferedAndKeepsTheLeast) {
    HeatJoin join;
    join.watched_by(0);
    join.add({5, 10, 1, 0});
    join.add({9, UINT32_MAX, 0, 200});
    join.watched_by(0);
    join.add({9, 1, 0, 100});
    join.add({5, 20, 0, 90});
    const HeatJoin::Joined joined = join.take(100);
    EXPECT_EQ(joined.bits, 0);
    EXPECT_EQ(joined.samples, (std::vector<HeatSample>{{5, 30, 1, 0}, {9, UINT32_MAX, 0, 100}}));
    EXPECT_TRUE(join.take(100).samples.empty());
}

// Workers that have watched by different bits are joined by the larger; so is what would not fit.
TEST(HeatJoin, KeysThatNotAllWorkersWatchedGo) {
    HeatJoin join;
    join.watched_by(4);
    join.add({heat_bound(4) - 1, 1, 0, 9});
    join.add({heat_bound(5) - 1, 1, 0, 9});
    join.watched_by(5);
    join.add({heat_bound(5) - 1, 1, 0, 9});
    join.add({1, 1, 0, 9});
    const HeatJoin::Joined joined = join.take(100);
    EXPECT_EQ(joined.bits, 5);
    EXPECT_EQ(joined.samples,
              (std::vector<HeatSample>{{1, 1, 0, 9}, {heat_bound(5) - 1, 2, 0, 9}}));
    HeatJoin full;
    for (std::uint64_t i = 0; i < 64; ++i) {
        full.add({i << (HeatSample::kDigestBits - 6), 1, 0, 9});
    }
    EXPECT_EQ(full.take(16).bits, 2);
}

// Each table has one owner at any time: a worker that has not seen the turn keeps its own.
TEST(HeatSampler, TablesChangePlacesOnceTheWorkerHasSeenTheTurn) {
    HeatSampler sampler{{.records = kRecords, .limits = kLimits, .ring = 4}};
    EXPECT_EQ(sampler.adopt(7), nullptr);  // nothing is watched
    sampler.still().begin({plan_of({3}), 1, 0});
    sampler.turn();
    EXPECT_FALSE(sampler.has_adopted());
    HeatTable* const first = sampler.adopt(7);
    ASSERT_NE(first, nullptr);
    EXPECT_TRUE(sampler.has_adopted());
    first->find(3, 42)->note(1, false, 9);
    EXPECT_EQ(sampler.adopt(8), nullptr);  // under other rules
    EXPECT_EQ(sampler.adopt(7), first);
    ASSERT_NE(&sampler.still(), first);
    sampler.still().begin({plan_of({3}), 2, 0});
    sampler.turn();
    // It stands still: what it has is not touched, and it goes on where it was.
    EXPECT_FALSE(sampler.has_adopted());
    HeatTable* const second = sampler.adopt(7);
    EXPECT_NE(second, first);
    EXPECT_TRUE(sampler.has_adopted());
    EXPECT_EQ(&sampler.still(), first);
    std::size_t keys = 0;
    sampler.still().for_each([&](std::size_t, const HeatRecord&) { ++keys; });
    EXPECT_EQ(keys, 1U);
}

TEST(HeatSampler, PacketsWithoutRoomAreCounted) {
    HeatSampler sampler{{.records = kRecords, .limits = kLimits, .ring = 4}};
    for (int i = 0; i < 6; ++i) {
        if (sampler.next_packet() != nullptr) {
            sampler.commit();
        }
    }
    EXPECT_EQ(sampler.lost_packets(), 2U);
}

}  // namespace
}  // namespace sluice::heat_table_test

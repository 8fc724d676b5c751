#include "control/daemon/heatmap/heat_store.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice::heat_store_test {
namespace {

constexpr std::int64_t kNoon = 1'764'504'000;  // a whole minute

HeatLimit watched(std::uint32_t offered, unsigned bits = 0) {
    return {.rule = "login",
            .limit = 0,
            .sampling_bits = static_cast<std::uint8_t>(bits),
            .left_out = 1,
            .samples = {{.digest = 7, .offered = offered, .refused = 0, .least_left = 128}},
            .names = {{7, "10.0.0.7", {{{{"ip.src", "10.0.0.7"}}}, {{{"ip.src", "10.0.0.7"}}}}}}};
}
void fill(HeatStore& store, std::int64_t from, std::int64_t to, unsigned own_step = 10) {
    for (std::int64_t second = from; second < to; ++second) {
        EXPECT_TRUE(store.add({.second = second, .terms = "a", .own_step = own_step}, watched(1)));
    }
}
std::vector<std::optional<HeatColumn>> columns(const HeatStore& store, unsigned step,
                                               std::int64_t from, std::int64_t to) {
    return store.columns("login", 0, {step, from, to});
}

TEST(HeatStore, KeepsColumnsOfTenAndSixtySecondsAndOfTheLimitsOwnLength) {
    HeatStore store;
    fill(store, kNoon, kNoon + 60, 5);
    store.pass(kNoon + 60);
    EXPECT_EQ(HeatStore::steps_of(5), (std::vector<unsigned>{5, 10, 60}));
    EXPECT_EQ(HeatStore::steps_of(10), (std::vector<unsigned>{10, 60}));
    EXPECT_FALSE(store.columns("login", 1, {10, kNoon, kNoon + 10}).at(0));
    const auto tens = columns(store, 10, kNoon, kNoon + 60);
    ASSERT_EQ(tens.size(), 6U);
    for (const auto& column : tens) {
        ASSERT_TRUE(column);
        EXPECT_EQ(column->groups(), 1U);
        EXPECT_EQ(column->left_out(), 10U);
        ASSERT_EQ(column->offered().size(), 1U);
        EXPECT_EQ(column->offered()[0], (HeatCell{7, 1})) << "10 units";
        EXPECT_EQ(column->left()[0], (HeatCell{9, 1}));
        EXPECT_TRUE(column->offered_of_refused().empty());
    }
    const auto minutes = columns(store, 60, kNoon, kNoon + 60);
    ASSERT_TRUE(minutes.at(0));
    EXPECT_EQ(minutes[0]->offered()[0], (HeatCell{12, 1})) << "60 units";
}

// A column that lacks seconds says too little of everybody: it has no data, which is not nobody.
TEST(HeatStore, AColumnThatLacksMoreThanATenthOfItsSecondsHasNoData) {
    HeatStore store;
    fill(store, kNoon, kNoon + 9);
    fill(store, kNoon + 10, kNoon + 18);
    fill(store, kNoon + 20, kNoon + 30);
    store.pass(kNoon + 40);
    const auto found = columns(store, 10, kNoon, kNoon + 40);
    ASSERT_EQ(found.size(), 4U);
    EXPECT_TRUE(found[0]);
    EXPECT_FALSE(found[1]);
    EXPECT_TRUE(found[2]);
    EXPECT_FALSE(found[3]) << "nothing came";
    EXPECT_FALSE(columns(store, 60, kNoon, kNoon + 60).at(0));
}

// What a reload has cut are two parts of one second, and not two seconds.
TEST(HeatStore, PartsOfASecondAreNoMoreThanThat) {
    HeatStore store;
    const auto parts = [&](std::int64_t second, int count, double seconds) {
        for (int i = 0; i < count; ++i) {
            EXPECT_TRUE(
                store.add({.second = second, .terms = "a", .seconds = seconds}, watched(1)));
        }
    };
    for (std::int64_t second = kNoon; second < kNoon + 10; ++second) {
        parts(second, 4, 0.25);
    }
    parts(kNoon + 10, 40, 0.02);
    store.pass(kNoon + 20);
    const auto found = columns(store, 10, kNoon, kNoon + 20);
    ASSERT_TRUE(found.at(0));
    EXPECT_EQ(found[0]->offered()[0], (HeatCell{11, 1})) << "40 units";
    EXPECT_FALSE(found.at(1)) << "of 0.8 s";
}

TEST(HeatStore, AClockThatIsSetBackLeavesColumnsInTheirOrder) {
    HeatStore store;
    fill(store, kNoon, kNoon + 60);
    store.pass(kNoon + 60);
    fill(store, kNoon + 20, kNoon + 40);
    store.pass(kNoon + 40);
    const auto found = columns(store, 10, kNoon, kNoon + 60);
    for (const std::size_t known : {0U, 1U, 2U, 3U}) {
        EXPECT_TRUE(found.at(known)) << known;
    }
    EXPECT_FALSE(found.at(4)) << "that time has not come yet";
    EXPECT_FALSE(found.at(5));
    fill(store, kNoon + 40, kNoon + 50);
    store.pass(kNoon + 50);
    EXPECT_TRUE(columns(store, 10, kNoon + 40, kNoon + 50).at(0));
}

TEST(HeatStore, ASecondWithoutGroupsIsDataOfNobody) {
    HeatStore store;
    for (std::int64_t second = kNoon; second < kNoon + 10; ++second) {
        HeatLimit nobody = watched(1);
        nobody.samples.clear();
        EXPECT_TRUE(store.add({.second = second, .terms = "a"}, nobody));
    }
    store.pass(kNoon + 10);
    const auto found = columns(store, 10, kNoon, kNoon + 10);
    ASSERT_TRUE(found.at(0));
    EXPECT_EQ(found[0]->groups(), 0U);
}

TEST(HeatStore, ALimitWithOtherTermsBeginsAnew) {
    HeatStore store;
    fill(store, kNoon, kNoon + 10);
    store.pass(kNoon + 10);
    EXPECT_TRUE(columns(store, 10, kNoon, kNoon + 10).at(0));
    EXPECT_TRUE(store.add({.second = kNoon + 10, .terms = "b"}, watched(1)));
    EXPECT_FALSE(columns(store, 10, kNoon, kNoon + 10).at(0));
}

TEST(HeatStore, RulesThatAreGoneAreForgotten) {
    HeatStore store;
    fill(store, kNoon, kNoon + 10);
    store.pass(kNoon + 10);
    store.keep([](const std::string& rule, unsigned) { return rule == "login"; });
    EXPECT_TRUE(columns(store, 10, kNoon, kNoon + 10).at(0));
    store.keep([](const std::string&, unsigned) { return false; });
    EXPECT_FALSE(columns(store, 10, kNoon, kNoon + 10).at(0));
    EXPECT_EQ(store.bytes(), 0U);
}

TEST(HeatStore, EstimatesAreScaledByTheSamplingRate) {
    HeatStore store;
    for (std::int64_t second = kNoon; second < kNoon + 10; ++second) {
        EXPECT_TRUE(
            store.add({.second = second, .terms = "a"}, watched(1, second == kNoon + 5 ? 8 : 2)));
    }
    store.pass(kNoon + 10);
    const auto found = columns(store, 10, kNoon, kNoon + 10);
    ASSERT_TRUE(found.at(0));
    EXPECT_EQ(found[0]->one_in(), 256U);
    EXPECT_EQ(found[0]->groups(), 256U);
    EXPECT_NEAR(found[0]->error(), std::sqrt(255.0 / 256), 1e-9);
}

// A fast limit has a column each second: whoever looks at one has half a minute to ask who it was.
TEST(HeatStore, TheNewestColumnsHaveTheirKeysByName) {
    HeatStore store;
    for (std::int64_t second = kNoon; second < kNoon + 60; ++second) {
        HeatLimit limit = watched(1);
        limit.samples.push_back({.digest = 8, .offered = 3});  // nobody knows its name
        EXPECT_TRUE(store.add({.second = second, .terms = "a", .own_step = 1}, limit));
    }
    store.pass(kNoon + 60);
    const auto newest = store.named("login", 0, 1, kNoon + 59);
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->keys.size(), 2U);
    const auto before = store.named("login", 0, 1, kNoon + 30);
    ASSERT_TRUE(before);
    EXPECT_TRUE(before->has_keys);
    ASSERT_EQ(before->keys.size(), 1U) << "those with names";
    EXPECT_EQ(before->names.at(before->keys[0].digest).key, "10.0.0.7");
    EXPECT_EQ(before->column.watched(), 2U);
    const auto gone = store.named("login", 0, 1, kNoon + 29);
    ASSERT_TRUE(gone);
    EXPECT_FALSE(gone->has_keys);
    EXPECT_TRUE(gone->keys.empty());
}

TEST(HeatStore, AKeyAndWhatIsKnownOfIt) {
    HeatStore store;
    fill(store, kNoon, kNoon + 20);
    store.pass(kNoon + 20);
    const auto newest = store.named("login", 0, 10, kNoon + 10);
    ASSERT_TRUE(newest);
    EXPECT_TRUE(newest->has_keys);
    ASSERT_EQ(newest->keys.size(), 1U);
    EXPECT_EQ(newest->keys[0].offered, 10U);
    EXPECT_EQ(newest->names.at(7).key, "10.0.0.7");
    EXPECT_EQ(newest->names.at(7).facts, (std::vector<HeatField>{{"ip.src", "10.0.0.7"}}));
    EXPECT_FALSE(store.named("login", 0, 10, kNoon + 20));
    EXPECT_FALSE(store.named("login", 0, 7, kNoon));
}

// Whoever has most goes first.
TEST(HeatStore, StaysWithinItsBytes) {
    HeatStore store{4'000};
    fill(store, kNoon, kNoon + 1'000);
    store.pass(kNoon + 1'000);
    EXPECT_LE(store.bytes(), 4'000U);
    EXPECT_GT(store.bytes(), 3'000U);
    EXPECT_FALSE(columns(store, 10, kNoon, kNoon + 10).at(0));
    EXPECT_TRUE(columns(store, 10, kNoon + 990, kNoon + 1'000).at(0));
}

TEST(HeatStore, HasSoManyLimitsAndNoMore) {
    HeatStore store;
    HeatLimit limit = watched(1);
    for (std::uint32_t i = 0; i < HeatStore::kMostLimits; ++i) {
        limit.limit = i;
        EXPECT_TRUE(store.add({.second = kNoon, .terms = "a"}, limit));
    }
    limit.limit = HeatStore::kMostLimits;
    EXPECT_FALSE(store.add({.second = kNoon, .terms = "a"}, limit));
    limit.limit = 0;
    EXPECT_TRUE(store.add({.second = kNoon + 1, .terms = "a"}, limit));
    limit.limit = HeatStore::kMostLimits;
    EXPECT_TRUE(store.add({.second = kNoon + HeatStore::kIdle + 1, .terms = "a"}, limit))
        << "of the second limit nothing has come for so long";
}

TEST(HeatStore, ALimitThatNobodyLooksAtGivesItsNamesUp) {
    HeatStore store;
    HeatLimit limit = watched(1);
    for (std::uint32_t i = 0; i <= HeatStore::kNamedLimits; ++i) {
        limit.limit = i;
        store.add({.second = kNoon, .terms = "a"}, limit);
    }
    const auto names_of = [&](std::uint32_t number, std::int64_t begins) {
        const auto named = store.named("login", number, 10, begins);
        return named ? named->names.size() : 0U;
    };
    const auto ten_seconds_of_the_last = [&](std::int64_t from) {
        for (std::int64_t second = from; second < from + 10; ++second) {
            EXPECT_TRUE(store.add({.second = second, .terms = "a"}, limit));
        }
        store.pass(from + 10);
    };
    ten_seconds_of_the_last(kNoon + 10);
    EXPECT_EQ(names_of(HeatStore::kNamedLimits, kNoon + 10), 0U) << "others have all places";
    store.pass(kNoon + 120);
    ten_seconds_of_the_last(kNoon + 120);
    EXPECT_EQ(names_of(HeatStore::kNamedLimits, kNoon + 120), 1U);
}

}  // namespace
}  // namespace sluice::heat_store_test

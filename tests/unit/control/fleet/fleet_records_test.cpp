#include "control/fleet/fleet_records.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace sluice::fleet_records_test {
namespace {

HeadSet set(char digit, std::uint64_t generation) {
    return {.set = {.sum = std::string(kSetSumSize, digit), .size = 7},
            .generation = generation,
            .by = "root@box",
            .at = 1'800'000'000};
}

TEST(FleetRecords, AHeadComesBackWithTheSetsBeforeIt) {
    const Head head{.now = set('a', 9), .before = {set('b', 8), set('c', 7)}};
    const Result<Head> read = head_from(text_of(head));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->now, head.now);
    EXPECT_EQ(read->before, head.before);
}

TEST(FleetRecords, AnInstantThatNoTextHasIsNone) {
    for (const std::int64_t at : {std::int64_t{-1}, std::int64_t{253'402'300'800}, INT64_MAX}) {
        HeadSet odd = set('a', 1);
        odd.at = at;
        EXPECT_FALSE(head_from(text_of(Head{.now = odd}))) << at;
    }
}

TEST(FleetRecords, ARolloutComesBack) {
    const Result<Rollout> read = rollout_from(text_of(Rollout{.id = "x",
                                                              .next = set('a', 2),
                                                              .is_uploaded = false,
                                                              .is_staged = true,
                                                              .nodes = {"a", "b"},
                                                              .is_everywhere = true,
                                                              .trial_seconds = 60,
                                                              .force = true}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->id, "x");
    EXPECT_EQ(read->next, set('a', 2));
    EXPECT_TRUE(read->is_staged && read->is_everywhere && read->force);
    EXPECT_EQ(read->nodes, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(read->trial_seconds, 60U);
    EXPECT_FALSE(read->is_uploaded);
}

TEST(FleetRecords, ABoxComesBackAlsoBeforeItHasAnyRules) {
    const NodeRecord node{.node = "a",
                          .incarnation = "1",
                          .slot = 3,
                          .is_dataplane_away = true,
                          .store = {"ready", 1500, -20'000, 7},
                          .staged = {.rollout = "r", .is_good = false, .why = "no list"},
                          .error = "x"};
    const Result<NodeRecord> read = node_from(text_of(node));
    ASSERT_TRUE(read);
    EXPECT_EQ(text_of(*read), text_of(node));
    EXPECT_EQ(read->store, node.store);
}

TEST(FleetRecords, AReadingOfTheStoreThatIsNearlyTheSameIsNoOther) {
    const StoreReading before{"ready", 2'000, 500, 1'000};
    EXPECT_FALSE(differs_notably(before, {"ready", 3'900, -9'000, 1'900}));
    EXPECT_FALSE(differs_notably({"ready", 100, 0, 0}, {"ready", 1'000, 0, 90}));
    EXPECT_TRUE(differs_notably(before, {"away", 2'000, 500, 1'000}));
    EXPECT_TRUE(differs_notably(before, {"ready", 4'100, 500, 1'000}));
    EXPECT_TRUE(differs_notably(before, {"ready", 2'000, -9'600, 1'000}));
    EXPECT_TRUE(differs_notably(before, {"ready", 2'000, 500, 400}));
    EXPECT_TRUE(differs_notably({"ready", 0, INT64_MIN, 0}, {"ready", 0, INT64_MAX, 0}));
}

TEST(FleetRecords, WhatIsNoneIsAnErrorAndNoTextOfItActsOnATerminal) {
    for (
        const char* text :
        {"", "[]", "{}", R"({"set":"xyz","size":1,"generation":1})",
         R"({"set":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","generation":0})",
         R"({"set":7})"}) {
        EXPECT_FALSE(head_from(text)) << text;
        EXPECT_FALSE(rollout_from(text)) << text;
        EXPECT_FALSE(node_from(text)) << text;
        EXPECT_FALSE(cluster_from(text)) << text;
        EXPECT_FALSE(panic_from(text)) << text;
    }
    EXPECT_FALSE(node_from(R"({"node":")" + std::string(300, 'a') + R"("})"));
    EXPECT_FALSE(cluster_from(R"({"format":2,"size":3})"));
    const Result<NodeRecord> loud = node_from(R"({"node":"a\u001b[31m"})");
    ASSERT_TRUE(loud);
    EXPECT_EQ(loud->node.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace sluice::fleet_records_test

#include "lib/policy/placement/cluster_limits.hpp"

#include "lib/peer/merge/cluster_terms.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <string>

// Limits that the boxes of a cluster share: what is compiled, said and refused.
namespace sluice::cluster_limits_test {
namespace {

#define BUCKET "{algorithm: token_bucket, rate: 100/s, burst: 1000}"

RssMapping box_of(BoxCluster::Kind kind = BoxCluster::Kind::Member, std::size_t workers = 4) {
    RssMapping box = usual_rss_mapping();
    box.workers = workers;
    box.cluster = {.kind = kind, .size = 3, .sync = std::chrono::milliseconds{10}};
    return box;
}

test::Outcome compile(const std::string& rule, const RssMapping& box = box_of(),
                      Purpose purpose = Purpose::Enforce) {
    const std::string text = "version: 1\ndefaults: {mode: enforce}\nrules:\n" + rule;
    return test::compile({.file = "r", .text = text, .box = &box}, purpose);
}

const MeteredLimit& first_limit(const test::Outcome& outcome) {
    return outcome.rules->set.rules.at(0).limits.at(0);
}
const LimitSummary& first_summary(const test::Outcome& outcome) {
    return outcome.rules->rules.at(0).limits.at(0);
}

TEST(ClusterLimits, ARuleSaysItForItsLimitsAndALimitForItself) {
    const test::Outcome outcome = compile(
        "  - {id: a, key: [ip.dst], scope: cluster, owner_down: closed,\n"
        "     limits: [" BUCKET
        ", {scope: box, algorithm: token_bucket, rate: 9/s, burst: 900},\n"
        "       {owner_down: open, algorithm: token_bucket, rate: 8/s, burst: 800}]}\n"
        "  - {id: b, key: [ip.dst], limits: [{scope: cluster, algorithm: token_bucket, rate: 7/s,\n"
        "     burst: 700}]}\n");
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_TRUE(outcome.problems.empty());
    const std::vector<MeteredLimit>& limits = outcome.rules->set.rules[0].limits;
    EXPECT_EQ(limits[0].cluster_scope, ClusterScope::Cluster);
    EXPECT_EQ(limits[0].owner_down, OwnerDown::Closed);
    EXPECT_EQ(limits[1].cluster_scope, ClusterScope::Box);
    EXPECT_EQ(limits[2].cluster_scope, ClusterScope::Cluster);
    EXPECT_EQ(limits[2].owner_down, OwnerDown::Open);
    const MeteredLimit& other = outcome.rules->set.rules[1].limits[0];
    EXPECT_EQ(other.cluster_scope, ClusterScope::Cluster);
    EXPECT_EQ(other.owner_down, OwnerDown::LocalShare);
    EXPECT_EQ(first_summary(outcome).text,
              "token_bucket 100/s burst 1000 per packet, scope cluster, owner_down closed");
    EXPECT_FALSE(outcome.rules->rules[0].limits[1].cluster.has_value());
}

TEST(ClusterLimits, TheFileSaysItForAllRules) {
    const RssMapping box = box_of();
    const test::Outcome outcome = test::compile(
        {.file = "r",
         .text = "version: 1\n"
                 "defaults: {mode: enforce, scope: cluster, owner_down: closed}\n"
                 "rules:\n"
                 "  - {id: a, key: [ip.dst], limits: [" BUCKET "]}\n"
                 "  - {id: b, key: [ip.dst], scope: box, limits: [" BUCKET "]}\n"
                 "  - {id: d, key: [ip.dst], owner_down: open, limits: [" BUCKET "]}\n"
                 "  - {id: c, when: ip.ttl eq 1, on_match: drop}\n",
         .box = &box},
        Purpose::Enforce);
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_EQ(first_limit(outcome).cluster_scope, ClusterScope::Cluster);
    EXPECT_EQ(first_limit(outcome).owner_down, OwnerDown::Closed);
    EXPECT_NE(first_summary(outcome).cluster->note.find("store away: closed"), std::string::npos);
    EXPECT_EQ(outcome.rules->set.rules[1].limits[0].cluster_scope, ClusterScope::Box);
    EXPECT_EQ(outcome.rules->set.rules[2].limits[0].owner_down, OwnerDown::Open);
}

TEST(ClusterLimits, BoundsSayWhatBoxesAndWorkersAreAhead) {
    const test::Outcome merged =
        compile("  - {id: a, key: [ip.dst], scope: cluster, limits: [" BUCKET "]}\n");
    ASSERT_TRUE(merged.rules.has_value());
    EXPECT_EQ(first_limit(merged).scope, LimitScope::Merged);
    EXPECT_EQ(first_summary(merged).cluster->terms.overshoot, 116U);
    EXPECT_EQ(bound_text(first_summary(merged)),
              "1000 packets + 100/s * W, + 116 packets of 3 boxes together (merged over the "
              "cluster: each box is at most 31 packets ahead of the store and passes no more of a "
              "key at once, each worker 6 packets ahead of its box; store away: local_share)");
    // One worker has all packets of a key, and another may be its hash's owner.
    const test::Outcome local =
        compile("  - {id: a, key: [ip.src], scope: cluster, limits: [" BUCKET "]}\n");
    EXPECT_EQ(first_limit(local).scope, LimitScope::Local);
    EXPECT_EQ(first_summary(local).cluster->terms.box_unsynced, 31U);
    EXPECT_EQ(first_summary(local).cluster->terms.worker_unsynced, 20U);
    EXPECT_EQ(first_summary(local).cluster->terms.overshoot, 2 * 31U + 3 * 20U);
    // A box of one worker leaves all of it to boxes.
    const test::Outcome alone =
        compile("  - {id: a, key: [ip.src], scope: cluster, limits: [" BUCKET "]}\n",
                box_of(BoxCluster::Kind::Member, 1));
    EXPECT_EQ(first_summary(alone).cluster->note,
              ", + 124 packets of 3 boxes together (merged over the cluster: each box is at most "
              "62 packets ahead of the store and passes no more of a key at once; store away: "
              "local_share)");
}

// Where its workers cannot share it beside the boxes, one of them owns the key.
TEST(ClusterLimits, ASmallBurstBelongsToOneWorkerOfEachBox) {
    const test::Outcome few = compile(
        "  - {id: a, key: [ip.dst], scope: cluster, limits: [{algorithm: token_bucket, rate: 1/s, "
        "burst: 30}]}\n");
    ASSERT_TRUE(few.rules.has_value());
    EXPECT_EQ(first_limit(few).scope, LimitScope::Owner);
    EXPECT_EQ(first_summary(few).cluster->terms.worker_unsynced, 2U);
}

// What the dataplane does not share yet is a warning for `check` alone.
TEST(ClusterLimits, WhatIsNotSharedYetIsNotEnforcedYet) {
    const std::string begin = "  - {id: a, key: [ip.dst], scope: cluster, limits: [";
    for (const std::string& rule :
         {begin + "{algorithm: sliding_counters, count: 1000, window: 10s}]}\n",
          begin + BUCKET "],\n     overrides: {inline: [{key: 192.0.2.1, limits: {'1': {rate: 5/s, "
                         "burst: 500}}}]}}\n",
          begin + BUCKET "], dynamic: {source: api, ttl: 10m, floor: 1/s, ceiling: 1K/s}}\n",
          begin + "{algorithm: concurrency, count: 100, idle: 1m}],\n     overrides: {inline: "
                  "[{key: 192.0.2.1, limits: {'1': {count: 9}}}]}}\n"}) {
        const test::Outcome checked = compile(rule, box_of(), Purpose::Check);
        ASSERT_TRUE(checked.rules.has_value()) << rule;
        EXPECT_EQ(first_summary(checked).cluster->terms.sharing, ClusterSharing::Merged);
        ASSERT_EQ(checked.problems.size(), 1U) << rule;
        EXPECT_NE(checked.problems[0].message.find("not enforced yet: `scope: cluster` of"),
                  std::string::npos);
        EXPECT_FALSE(compile(rule).rules.has_value());
    }
}

TEST(ClusterLimits, WindowsOfUtcAreShared) {
    for (const char* algorithm :
         {"fixed_window, phase: clock", "fixed_window, phase: per_key", "sliding_window"}) {
        const std::string rule = std::string{"  - {id: a, key: [ip.dst], limits: [{algorithm: "} +
                                 algorithm + ", count: 1000, window: 10s, scope: ";
        const test::Outcome compiled = compile(rule + "cluster}]}\n");
        ASSERT_TRUE(compiled.rules.has_value()) << algorithm;
        EXPECT_EQ(first_summary(compiled).cluster->terms.sharing, ClusterSharing::Merged);
        EXPECT_EQ(first_summary(compiled).cluster->not_yet, nullptr);
        const MeteredLimit& shared = compiled.rules->set.rules[0].limits[0];
        EXPECT_TRUE(is_told_to_store(shared.limit)) << algorithm;
        // Another row of windows: what was used under its numbers means nothing in this one.
        const test::Outcome alone = compile(rule + "box}]}\n");
        ASSERT_TRUE(alone.rules.has_value());
        const MeteredLimit& own = alone.rules->set.rules[0].limits[0];
        const bool is_clock = std::string{algorithm}.find("clock") != std::string::npos;
        EXPECT_EQ(own.identity == shared.identity, is_clock) << algorithm;
        EXPECT_EQ(own.limit == shared.limit, is_clock) << algorithm;
    }
}

TEST(ClusterLimits, OpenConnectionsAreShared) {
    const std::string begin = "  - {id: a, key: [ip.dst], scope: cluster, limits: [";
    const test::Outcome compiled =
        compile(begin + "{algorithm: concurrency, count: 100, idle: 1m}]}\n");
    ASSERT_TRUE(compiled.rules.has_value());
    EXPECT_TRUE(compiled.problems.empty()) << "they have no rate to be below";
    const ClusterSummary& cluster = *first_summary(compiled).cluster;
    EXPECT_EQ(cluster.terms.sharing, ClusterSharing::Merged);
    EXPECT_EQ(cluster.not_yet, nullptr);
    EXPECT_EQ(cluster.note,
              ", + 12 connections of 3 boxes together (each box opens at most 6 connections of a "
              "key that the store has not heard of; store away: local_share)");
    EXPECT_TRUE(
        compile(begin + "{algorithm: concurrency, count: 4, idle: 1m}]}\n").rules.has_value());
}

TEST(ClusterLimits, RequestsOfASmallLimitAskTheStore) {
    const std::string begin =
        "  - {id: a, mode: enforce, key: [ip.dst], scope: cluster, limits: [{per: request, ";
    for (const std::string& limit :
         {begin + "algorithm: token_bucket, rate: 5/m, burst: 1}]}\n",
          begin + "algorithm: fixed_window, count: 5, window: 1m}]}\n",
          begin + "algorithm: fixed_window, phase: first, count: 5, window: 1m}]}\n"}) {
        const test::Outcome asked = compile(limit);
        ASSERT_TRUE(asked.rules.has_value()) << limit;
        EXPECT_EQ(first_summary(asked).cluster->terms.sharing, ClusterSharing::Asked);
        EXPECT_EQ(first_summary(asked).cluster->note,
                  ", asked of the cluster's store: 3 boxes together admit no more; each request "
                  "waits for the store's answer, 200 ms at most (store away: local_share)");
    }
    const test::Outcome monitoring = compile(
        "  - {id: a, mode: monitor, key: [ip.dst], scope: cluster, limits: [{per: request, "
        "algorithm: token_bucket, rate: 5/m, burst: 1}]}\n");
    EXPECT_EQ(first_summary(monitoring).cluster->note,
              ", asked of the cluster's store once the rule enforces: a rule that monitors holds "
              "no request up, and each box counts by itself");
    // Of packets nobody waits for the store.
    const std::string packets =
        "  - {id: a, key: [ip.dst], scope: cluster, limits: [{algorithm: "
        "token_bucket, rate: 5/m, burst: 1}]}\n";
    EXPECT_FALSE(compile(packets).rules.has_value());
}

TEST(ClusterLimits, TheStoreIsAskedAboutLogsThatItKeeps) {
    const std::string begin =
        "  - {id: a, mode: enforce, key: [ip.dst], scope: cluster, limits: [{per: request, "
        "algorithm: sliding_log, window: 1m, count: ";
    const test::Outcome few = compile(begin + "5}]}\n");
    ASSERT_TRUE(few.rules.has_value());
    EXPECT_TRUE(few.problems.empty());
    EXPECT_NE(first_summary(few).cluster->note.find("asked of the cluster's store"),
              std::string::npos);
    const test::Outcome many = compile(begin + "1025}]}\n", box_of(), Purpose::Check);
    EXPECT_FALSE(many.rules.has_value());
    ASSERT_EQ(many.problems.size(), 1U);
    EXPECT_NE(many.problems[0].message.find("about logs of 1024 units at most"), std::string::npos)
        << many.problems[0].message;
}

struct Refused {
    std::string rule;
    std::string_view says;
    BoxCluster::Kind kind = BoxCluster::Kind::Member;
};

TEST(ClusterLimits, WhatCannotBeSharedIsRefusedWithTheReason) {
    using Kind = BoxCluster::Kind;
    const std::string begin = "  - {id: a, key: [ip.dst], scope: cluster, limits: [";
    const Refused rows[] = {
        {begin + BUCKET "]}\n", "sluice.yaml needs `cluster:` with a `store`", Kind::None},
        {begin + BUCKET "]}\n", "`cluster:` of sluice.yaml has no `store`", Kind::Storeless},
        {begin + "{algorithm: token_bucket, rate: 5/m, burst: 1}]}\n",
         "a burst or count of at least 20 to be merged; `scope: box`"},
        {begin + "{algorithm: token_bucket, rate: 5/m, burst: 1}]}\n", "3 boxes (assumed)",
         Kind::Assumed},
        {begin + "{algorithm: sliding_log, count: 100, window: 1s}]}\n", "sliding_log keeps"},
        {begin + "{algorithm: fixed_window, phase: first, count: 100, window: 1s}]}\n",
         "begin with its first unit"},
        {begin + "{algorithm: concurrency, count: 3, idle: 1m}]}\n",
         "a burst or count of at least 4 to be merged; `scope: box`"},
        {begin + "{algorithm: srtcm, cir: 1MB/s, cbs: 1MB, ebs: 1MB}], per: byte}\n",
         "colour meters"},
        {begin + BUCKET "], on_exceed: {action: shape, max_delay: 1s}}\n", "`shape`"},
    };
    for (const Refused& row : rows) {
        const test::Outcome outcome = compile(row.rule, box_of(row.kind), Purpose::Check);
        EXPECT_FALSE(outcome.rules.has_value()) << row.rule;
        ASSERT_FALSE(outcome.problems.empty()) << row.rule;
        const Problem& problem = outcome.problems.front();
        EXPECT_EQ(problem.severity, Severity::Error);
        EXPECT_EQ(problem.at.line, 4U);
        EXPECT_NE(problem.message.find(row.says), std::string::npos) << problem.message;
    }
    const test::Outcome off =
        compile("  - {id: a, mode: off, key: [], scope: cluster, limits: [" BUCKET "]}\n",
                box_of(Kind::None));
    ASSERT_TRUE(off.rules.has_value());
    ASSERT_EQ(off.problems.size(), 1U);
    EXPECT_EQ(off.problems[0].severity, Severity::Warning);
}

TEST(ClusterLimits, OwnerDownIsForLimitsThatBoxesShare) {
    for (const char* const rule :
         {"  - {id: a, key: [], owner_down: open, limits: [" BUCKET "]}\n",
          "  - {id: a, key: [], limits: [{owner_down: open, algorithm: token_bucket, rate: 1/s, "
          "burst: 9}]}\n",
          "  - {id: a, key: [], scope: cluster, limits: [" BUCKET
          ", {scope: box, owner_down: open, "
          "algorithm: token_bucket, rate: 1/s, burst: 9}]}\n"}) {
        const test::Outcome outcome = compile(rule);
        ASSERT_FALSE(outcome.rules.has_value()) << rule;
        EXPECT_NE(outcome.problems[0].message.find("it needs `scope: cluster`"), std::string::npos);
    }
    EXPECT_TRUE(compile("  - {id: a, key: [], owner_down: open, limits: [{scope: cluster, "
                        "algorithm: token_bucket, rate: 1/s, burst: 99}]}\n")
                    .rules.has_value());
}

TEST(ClusterLimits, WarnsOfCreditThatDoesNotLastOverTheWayToTheStore) {
    RssMapping box = box_of();
    const std::string rule =
        "  - {id: a, key: [ip.dst], scope: cluster, limits: [{algorithm: "
        "token_bucket, rate: 1000/s, burst: 1000}]}\n";
    EXPECT_TRUE(compile(rule, box).problems.empty());
    box.cluster.sync = std::chrono::milliseconds{100};
    const test::Outcome outcome = compile(rule, box);
    ASSERT_TRUE(outcome.rules.has_value());
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_EQ(outcome.problems[0].severity, Severity::Warning);
    EXPECT_NE(outcome.problems[0].message.find("ahead of the store, less"), std::string::npos)
        << outcome.problems[0].message;
}

#undef BUCKET

}  // namespace
}  // namespace sluice::cluster_limits_test

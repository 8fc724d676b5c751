#include "dataplane/lane.hpp"

#include "dataplane/lane_rings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <tuple>

namespace sluice::lane_test {
namespace {

TEST(AssignLanes, EveryQueueHasExactlyOneOwner) {
    for (const bool handed : {false, true}) {
        const PairQueues pairs[] = {
            {"a", 0, 1, 4, handed, false}, {"b", 2, 3, 1, handed, handed}, {"c", 4, 5, 2}};
        for (std::size_t workers = 4; workers <= 6; ++workers) {
            std::set<std::tuple<int, int>> rx;
            std::set<std::tuple<int, int>> tx;
            for (const auto& lanes : assign_lanes(pairs, workers)) {
                for (const Lane& lane : lanes) {
                    EXPECT_EQ(lane.rx_queue, lane.tx_queue);
                    if (lane.owns) {
                        EXPECT_TRUE(rx.insert({lane.rx_port, lane.rx_queue}).second);
                        EXPECT_TRUE(tx.insert({lane.tx_port, lane.tx_queue}).second);
                    }
                }
            }
            EXPECT_EQ(rx.size(), 14U);
        }
    }
}

TEST(AssignLanes, APairWithSingleQueuesIsOneWorkers) {
    const PairQueues pairs[] = {{"a", 0, 1, 1}, {"b", 2, 3, 1}, {"c", 4, 5, 1}};
    const auto lanes = assign_lanes(pairs, 2);
    ASSERT_EQ(lanes[0].size(), 4U);
    ASSERT_EQ(lanes[1].size(), 2U);
    EXPECT_EQ(lanes[1][0].name, "b in q0");
    EXPECT_EQ(lanes[1][0].rx_port, 2);
    EXPECT_EQ(lanes[1][0].tx_port, 3);
    EXPECT_EQ(lanes[1][1].name, "b out q0");
    EXPECT_EQ(lanes[1][1].dir, Direction::Out);
    EXPECT_EQ(lanes[1][1].pair, port_name("b"));
}

TEST(AssignLanes, WithAQueueForEachWorkerPairsAreNumberedAlike) {
    const PairQueues pairs[] = {{"a", 0, 1, 3}, {"b", 2, 3, 3}};
    const auto lanes = assign_lanes(pairs, 3);
    for (std::size_t worker = 0; worker < 3; ++worker) {
        for (const Lane& lane : lanes[worker]) {
            EXPECT_EQ(lane.rx_queue, worker) << lane.name;
        }
    }
}

TEST(AssignLanes, WhatIsHandedOverComesToEveryWorker) {
    const PairQueues pairs[] = {{"x", 8, 9, 1}, {"a", 0, 1, 1, true, true}};
    const auto lanes = assign_lanes(pairs, 3);
    EXPECT_EQ(lanes[0].size(), 4U);
    ASSERT_EQ(lanes[2].size(), 2U);
    EXPECT_EQ(lanes[2][0].name, "a in handed over");
    EXPECT_FALSE(lanes[2][0].owns);
    EXPECT_EQ(lanes[2][0].sender, 1U);
    EXPECT_TRUE(lanes[1][0].owns);
    EXPECT_TRUE(lanes[1][0].handed);
}

// Each ring has one writer and one reader, and nobody hands frames to himself.
TEST(ConnectLanes, FromEveryReceiverToEveryOtherAndBack) {
    for (const std::uint16_t queues : std::to_array<std::uint16_t>({1, 2, 4})) {
        const PairQueues pairs[] = {{"a", 0, 1, queues, true, true}, {"b", 2, 3, 1}};
        const auto lanes = assign_lanes(pairs, 4);
        const LaneRings rings = connect_lanes(lanes);
        const std::size_t there = std::size_t{2} * queues * 3;
        const std::size_t back = queues == 4 ? 0 : std::size_t{2} * (4 - queues);
        EXPECT_EQ(rings.rings.size(), there + back);
        EXPECT_EQ(rings.backs.size(), back);
        std::multiset<const FrameRing*> written;
        std::multiset<const FrameRing*> read;
        for (std::size_t worker = 0; worker < 4; ++worker) {
            for (std::size_t i = 0; i < lanes[worker].size(); ++i) {
                const HandoverEnds& ends = rings.ends[worker][i];
                EXPECT_EQ(ends.back == nullptr, lanes[worker][i].owns);
                read.insert(ends.from.begin(), ends.from.end());
                for (std::size_t to = 0; to < ends.to.size(); ++to) {
                    EXPECT_EQ(ends.to[to] == nullptr, to == worker);
                    written.insert(ends.to[to]);
                }
            }
        }
        written.erase(nullptr);
        EXPECT_EQ(written, read);
        EXPECT_EQ(written.size(), there);
        for (const BackRing& one : rings.backs) {
            EXPECT_TRUE(lanes[one.sender][one.lane].owns);
            EXPECT_NE(one.from, one.sender);
        }
    }
}

}  // namespace
}  // namespace sluice::lane_test

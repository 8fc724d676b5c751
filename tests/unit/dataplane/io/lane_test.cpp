#include "dataplane/io/lane.hpp"

#include "dataplane/io/lane_rings.hpp"

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
    ASSERT_EQ(lanes[0].size(), 6U);
    ASSERT_EQ(lanes[1].size(), 6U);
    // The other has only the way out of what it owns.
    EXPECT_EQ(lanes[1][0].name, "a in as owner");
    EXPECT_TRUE(lanes[1][0].for_owner_only());
    EXPECT_EQ(lanes[1][0].sender, 0U);
    EXPECT_EQ(lanes[1][2].name, "b in q0");
    EXPECT_EQ(lanes[1][2].rx_port, 2);
    EXPECT_EQ(lanes[1][2].tx_port, 3);
    EXPECT_FALSE(lanes[1][2].for_owner_only());
    EXPECT_EQ(lanes[1][3].name, "b out q0");
    EXPECT_EQ(lanes[1][3].dir, Direction::Out);
    EXPECT_EQ(lanes[1][3].pair, port_name("b"));
    EXPECT_EQ(assign_lanes(pairs, 1)[0].size(), 6U);
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
    ASSERT_EQ(lanes[2].size(), 4U);
    EXPECT_EQ(lanes[2][2].name, "a in handed over");
    EXPECT_FALSE(lanes[2][2].owns);
    EXPECT_FALSE(lanes[2][2].for_owner_only());
    EXPECT_EQ(lanes[2][2].sender, 1U);
    EXPECT_TRUE(lanes[1][2].owns);
    EXPECT_TRUE(lanes[1][2].handed);
}

struct Ends {
    std::multiset<const FrameRing*> written;
    std::multiset<const FrameRing*> read;

    void add(const HandoverEnds& ends, std::size_t worker) {
        read.insert(ends.from.begin(), ends.from.end());
        for (std::size_t to = 0; to < ends.to.size(); ++to) {
            EXPECT_EQ(ends.to[to] == nullptr, to == worker);
            if (ends.to[to] != nullptr) {
                written.insert(ends.to[to]);
            }
        }
    }
};

// A made frame that goes back where its packet came from leaves by the queue, or the ring, of the
// lane in the other direction, which is the same worker's.
TEST(AssignLanes, OppositeLanesAreTheSameQueueOfOneWorker) {
    for (const bool handed : {false, true}) {
        const PairQueues pairs[] = {{"a", 0, 1, 3, handed, false}, {"b", 2, 3, 1, false, handed}};
        const auto lanes = assign_lanes(pairs, 4);
        const LaneRings rings = connect_lanes(lanes);
        for (std::size_t worker = 0; worker < lanes.size(); ++worker) {
            for (std::size_t i = 0; i < lanes[worker].size(); ++i) {
                const Lane& one = lanes[worker][i];
                const Lane& other = lanes[worker][opposite_of(i)];
                EXPECT_EQ(one.rx_port, other.tx_port) << one.name;
                EXPECT_EQ(one.tx_port, other.rx_port) << one.name;
                EXPECT_EQ(one.tx_queue, other.tx_queue) << one.name;
                EXPECT_NE(one.dir, other.dir) << one.name;
                EXPECT_EQ(one.owns, other.owns) << one.name;
                EXPECT_EQ(rings.ends[worker][opposite_of(i)].back == nullptr, one.owns);
            }
        }
    }
}

// Each ring has one writer and one reader, and nobody hands frames to himself.
TEST(ConnectLanes, FromEveryReceiverToEveryOtherAndBack) {
    for (const std::uint16_t queues : std::to_array<std::uint16_t>({1, 2, 4})) {
        const PairQueues pairs[] = {{"a", 0, 1, queues, true, true}, {"b", 2, 3, 1}};
        const auto lanes = assign_lanes(pairs, 4);
        const LaneRings rings = connect_lanes(lanes);
        const std::size_t there = std::size_t{2} * queues * 3;
        // From every worker that meets frames of a port: of `a` all, of `b` one.
        const std::size_t to_owners = std::size_t{2} * (4 + 1) * 3;
        const std::size_t back = std::size_t{2} * (4 - queues) + 2 * 3;
        EXPECT_EQ(rings.rings.size(), there + to_owners + back);
        EXPECT_EQ(rings.backs.size(), back);
        Ends rss_mapping;
        Ends owned;
        for (std::size_t worker = 0; worker < 4; ++worker) {
            for (std::size_t i = 0; i < lanes[worker].size(); ++i) {
                const LaneEnds& ends = rings.ends[worker][i];
                EXPECT_EQ(ends.back == nullptr, lanes[worker][i].owns);
                EXPECT_EQ(ends.owned.to.empty(), lanes[worker][i].for_owner_only());
                // Nobody else meets the frames of `b`.
                EXPECT_EQ(ends.owned.from.empty(),
                          lanes[worker][i].rx_port >= 2 && lanes[worker][i].owns);
                rss_mapping.add(ends.rss_mapping, worker);
                owned.add(ends.owned, worker);
            }
        }
        EXPECT_EQ(rss_mapping.written, rss_mapping.read);
        EXPECT_EQ(rss_mapping.written.size(), there);
        EXPECT_EQ(owned.written, owned.read);
        EXPECT_EQ(owned.written.size(), to_owners);
        for (const BackRing& one : rings.backs) {
            EXPECT_TRUE(lanes[one.sender][one.lane].owns);
            EXPECT_NE(one.from, one.sender);
        }
    }
}

}  // namespace
}  // namespace sluice::lane_test

#include "dataplane/lane.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace sluice::lane_test {
namespace {

TEST(AssignLanes, EveryQueueHasExactlyOneOwner) {
    const PairQueues pairs[] = {{"a", 0, 1, 4}, {"b", 2, 3, 1}, {"c", 4, 5, 2}};
    for (std::size_t workers = 1; workers <= 6; ++workers) {
        std::set<std::tuple<int, int>> rx;
        std::set<std::tuple<int, int>> tx;
        std::size_t count = 0;
        for (const auto& lanes : assign_lanes(pairs, workers)) {
            for (const Lane& lane : lanes) {
                EXPECT_TRUE(rx.insert({lane.rx_port, lane.rx_queue}).second);
                EXPECT_TRUE(tx.insert({lane.tx_port, lane.tx_queue}).second);
                EXPECT_EQ(lane.rx_queue, lane.tx_queue);
                ++count;
            }
        }
        EXPECT_EQ(count, 14U);
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

}  // namespace
}  // namespace sluice::lane_test

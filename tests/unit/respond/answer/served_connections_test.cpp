#include "lib/respond/answer/served_connections.hpp"

#include "lib/respond/answer/answer_bounds.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::served_connections_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};

TEST(ServedConnections, TheLongestSilentMakesRoom) {
    ServedConnections connections{ServedConnections::kWays};
    for (std::uint64_t digest = 1; digest <= ServedConnections::kWays; ++digest) {
        connections.add(digest, kStart + digest * 1s);
    }
    ServedConnections::touch(*connections.find(1), kStart + 5s);
    connections.add(9, kStart + 1000h);
    EXPECT_EQ(connections.find(2), nullptr);
    for (const std::uint64_t stays : {1U, 3U, 4U, 9U}) {
        EXPECT_NE(connections.find(stays), nullptr) << stays;
    }
    ServedConnections::remove(*connections.find(3));
    EXPECT_EQ(connections.find(3), nullptr);
    connections.add(10, kStart + 1001h);
    EXPECT_NE(connections.find(1), nullptr) << "a free line is taken first";
}

TEST(ServedConnections, OneThatStandsBeginsAnew) {
    ServedConnections connections{ServedConnections::kWays};
    connections.add(3, kStart).received = 77;
    EXPECT_EQ(connections.add(3, kStart).received, 0U);
}

TEST(ServedConnections, KnowsPortsInEitherOrder) {
    ServedConnections connections{ServedConnections::kWays};
    EXPECT_FALSE(connections.may_have(40'000, 80));
    connections.note_ports(40'000, 80);
    EXPECT_TRUE(connections.may_have(40'000, 80));
    EXPECT_TRUE(connections.may_have(80, 40'000));
    EXPECT_FALSE(connections.may_have(40'001, 80));
}

// A server that has sent all before 5000, on a connection all before whose client's 900 it has.
TEST(ServedConnections, NumbersFitWhereTheyCanBeItsClients) {
    ServedConnection connection;
    connection.answers.begin(5000);
    connection.received = 900;
    struct Row {
        std::uint32_t seq;
        std::uint32_t ack;
        bool fits;
    };
    constexpr auto kFar = static_cast<std::uint32_t>(kServerInFlight);
    const Row rows[] = {
        {900, 5000, true},
        {900, 4999, true},
        {900, 5001, false},
        {900, 5000 - kFar, true},
        {900, 4999 - kFar, false},
        {900 + kFar, 5000, true},
        {901 + kFar, 5000, false},
        {900 - static_cast<std::uint32_t>(kReachBehind), 5000, true},
        {899 - static_cast<std::uint32_t>(kReachBehind), 5000, false},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(connection.fits(row.seq, row.ack), row.fits) << row.seq << " " << row.ack;
    }
}

}  // namespace
}  // namespace sluice::served_connections_test

#include "lib/l7/stream/unit_budget.hpp"

#include "lib/l7/stream/service_tracking.hpp"

#include "lib/l7/proxy/proxy_clients.hpp"
#include "lib/l7/quic/quic_hellos.hpp"
#include "lib/l7/stream/connection_table.hpp"
#include "lib/l7/stream/unit_parser.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <malloc.h>
#include <unistd.h>

namespace sluice::unit_budget_test {
namespace {

TEST(UnitBudget, IsTheBoxesDividedByItsWorkers) {
    UnitOptions box;
    box.connections = {.max = 1'000'000,
                       .head_bytes = 8192,
                       .timeout = std::chrono::seconds{5},
                       .when_full = FullConnections::Drop};
    box.fragments = {.policy = FragmentPolicy::Judge, .table = 64'000};
    box.quic_initials_percent = 35;
    const UnitBudget one = unit_budget(box, 3);
    EXPECT_EQ(one.connections.connections, 333'334U);
    EXPECT_EQ(one.connections.head_bytes, 8192U);
    EXPECT_EQ(one.connections.half_head_timeout, std::chrono::seconds{5});
    EXPECT_EQ(one.connections.when_full, FullHeads::Refuse);
    EXPECT_EQ(one.fragments.datagrams, 21'334U);
    EXPECT_EQ(one.fragment_policy, FragmentPolicy::Judge);
    EXPECT_EQ(one.quic.percent, 35U);
    EXPECT_EQ(one.quic.connections, 166'667U);
    EXPECT_EQ(one.quic.half_hello_timeout, std::chrono::seconds{5});
    EXPECT_LT(one.connections.half_heads + one.connections.refusals + one.connections.given_up,
              one.connections.connections)
        << "something is idle, and goes first";
}

// A service's client is not given up before its server gives it up.
TEST(UnitBudget, HoldsHeadsOfServicesForAsLongAsServersWait) {
    UnitOptions box;
    box.connections.timeout = std::chrono::seconds{5};
    EXPECT_EQ(service_streams(unit_budget(box, 1)).half_head_timeout, std::chrono::seconds{60});
    box.connections.timeout = std::chrono::seconds{90};
    EXPECT_EQ(service_streams(unit_budget(box, 1)).half_head_timeout, std::chrono::seconds{90});
}

TEST(UnitBudget, HasAPlaceForEachOfManyWorkers) {
    UnitOptions box;
    box.connections.max = 1024;
    box.fragments.table = 1024;
    const UnitBudget one = unit_budget(box, 512);
    EXPECT_GE(one.connections.half_heads_per_source, 1U);
    EXPECT_GE(one.connections.given_up, 1U);
    const ConnectionTable connections{one.connections};
    const FragmentTable fragments{one.fragments};
    EXPECT_EQ(connections.size(), 0U);
}

// Bytes that the process has mapped, less what its heap has free.
std::uint64_t in_use() {
    std::uint64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    const struct mallinfo2 heap = ::mallinfo2();
    return pages * static_cast<std::uint64_t>(::getpagesize()) + heap.uordblks - heap.arena;
}

TEST(UnitBudget, SaysWhatTheTablesTake) {
    constexpr std::uint64_t kRounding = std::uint64_t{1} << 20;
    for (const std::uint64_t most : {64'000U, 500'000U}) {
        UnitOptions box;
        box.connections.max = most;
        box.fragments.table = most;
        const UnitBudget budget = unit_budget(box, 1);
        const std::uint64_t before = in_use();
        const ConnectionTable connections{budget.connections, ReadingStance::Anywhere};
        const ConnectionTable of_services{budget.connections};
        const ProxyClients clients{budget.connections.connections};
        const ServiceTracking tracking{budget};
        const FragmentTable fragments{budget.fragments};
        const QuicHellos hellos{budget.quic};
        EXPECT_NEAR(static_cast<double>(memory_of(budget)), static_cast<double>(in_use() - before),
                    static_cast<double>(kRounding))
            << most;
    }
}

// sluice.yaml(5), *connections*.
TEST(UnitBudget, AConnectionTakesAsManyBytesAsTheManualSays) {
    const auto budget_of = [](std::uint64_t connections) {
        UnitOptions box;
        box.connections.max = connections;
        return unit_budget(box, 1);
    };
    constexpr std::uint64_t kMany = std::uint64_t{1} << 20;
    const UnitBudget fewer = budget_of(kMany);
    const UnitBudget more = budget_of(2 * kMany);
    const auto of_one = [](std::uint64_t with_more, std::uint64_t with_fewer) {
        return (with_more - with_fewer + kMany / 2) / kMany;  // rounded
    };
    EXPECT_EQ(of_one(ServiceTracking::memory_of(more), ServiceTracking::memory_of(fewer)), 336U);
    const auto table = [&](ReadingStance stance) {
        return of_one(ConnectionTable::memory_of(more.connections, stance),
                      ConnectionTable::memory_of(fewer.connections, stance));
    };
    EXPECT_EQ(table(ReadingStance::Anywhere), 912U);
    EXPECT_EQ(table(ReadingStance::Service), 993U);
    EXPECT_EQ(of_one(UnitParser::kept_of(more), UnitParser::kept_of(fewer)), 1217U);
}

}  // namespace
}  // namespace sluice::unit_budget_test

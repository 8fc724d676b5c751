#include "tests/counted_allocations.hpp"
#include "tests/pktgen/arrival_order.hpp"
#include "tests/pktgen/delay_histogram.hpp"
#include "tests/pktgen/pacer.hpp"
#include "tests/pktgen/traffic.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::pktgen::no_allocation_test {
namespace {

std::size_t allocations_of(const TrafficPlan& plan) {
    auto traffic = Traffic::make(plan);
    Pacer pacer{{.units_per_second = 1'000'000, .ticks_per_second = 1'000'000, .backlog = 10}, 0};
    DelayHistogram delays;
    ArrivalOrder order;
    std::array<std::byte, kMaxSize> frame{};
    const std::size_t before = test::allocations();
    for (std::uint64_t now = 0; now < 10'000; ++now) {
        for (pacer.advance(now); pacer.is_due(); pacer.spend(1)) {
            traffic->write_next(frame.data(), now);
            traffic->advance();
        }
        delays.add(now * now);
        order.take(now);
    }
    return test::allocations() - before;
}

TEST(PktgenNoAllocation, NoFrameOfAnyProfileAllocates) {
    const std::size_t before = test::allocations();
    for (const Profile& profile : all_profiles()) {
        EXPECT_EQ(allocations_of({.profile = &profile}), 0U) << profile.name;
        const bool is_imix = !profile.kinds.front().fragment.is_part();
        EXPECT_EQ(allocations_of({.profile = &profile, .is_imix = is_imix, .is_probed = true}), 0U)
            << profile.name;
    }
    EXPECT_GT(test::allocations(), before);  // it does count
}

}  // namespace
}  // namespace sluice::pktgen::no_allocation_test

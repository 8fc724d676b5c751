#include "tests/pktgen/arrival_order.hpp"
#include "tests/pktgen/delay_histogram.hpp"
#include "tests/pktgen/pacer.hpp"
#include "tests/pktgen/traffic.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

// Every allocation of this program passes here.
namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined: the compiler would take malloc and delete for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    void* memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace sluice::pktgen::no_allocation_test {
namespace {

std::size_t allocations_of(const TrafficPlan& plan) {
    auto traffic = Traffic::make(plan);
    Pacer pacer{{.units_per_second = 1'000'000, .ticks_per_second = 1'000'000, .backlog = 10}, 0};
    DelayHistogram delays;
    ArrivalOrder order;
    std::array<std::byte, kMaxSize> frame{};
    const std::size_t before = allocations;
    for (std::uint64_t now = 0; now < 10'000; ++now) {
        for (pacer.advance(now); pacer.is_due(); pacer.spend(1)) {
            traffic->write_next(frame.data(), now);
            traffic->advance();
        }
        delays.add(now * now);
        order.take(now);
    }
    return allocations - before;
}

TEST(PktgenNoAllocation, NoFrameOfAnyProfileAllocates) {
    const std::size_t before = allocations;
    for (const Profile& profile : all_profiles()) {
        EXPECT_EQ(allocations_of({.profile = &profile}), 0U) << profile.name;
        EXPECT_EQ(allocations_of({.profile = &profile, .is_imix = true, .is_probed = true}), 0U)
            << profile.name;
    }
    EXPECT_GT(allocations, before);  // it does count
}

}  // namespace
}  // namespace sluice::pktgen::no_allocation_test

#include "lib/watch/heatmap/heat_sampler.hpp"

#include "lib/share/core.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>

namespace sluice::heat_sampler_test {
namespace {

constexpr std::uint64_t kLoad = 7;
constexpr std::uint32_t kLimit = 3;
constexpr std::uint64_t kKeys = 64;

std::shared_ptr<const HeatPlan> one_limit() {
    auto plan = std::make_shared<HeatPlan>();
    plan->load = kLoad;
    plan->limits.push_back({.rule = "r", .index = kLimit});
    return plan;
}

std::uint64_t offered_in(const HeatTable& table) {
    std::uint64_t offered = 0;
    table.for_each(
        [&](std::size_t, const HeatRecord& record) { offered += record.sample().offered; });
    return offered;
}

// A worker in a thread of its own, and a main lcore that turns as fast as the worker follows: each
// packet is read once, whatever the turns come between.
TEST(HeatSampler, EachPacketIsReadOnceWheneverTheTurnsCome) {
    HeatSampler sampler{{.records = 1024, .limits = 64, .ring = 4}};
    Signal stop;
    std::uint64_t written = 0;  // the worker's, until it has ended
    std::thread worker{[&] {
        while (!stop.raised()) {
            HeatTable* const table = sampler.adopt(kLoad);
            for (std::uint64_t key = 0; table != nullptr && key < kKeys; ++key) {
                table->find(kLimit, key)->note(1, false, 9);
                ++written;
            }
        }
    }};
    std::uint64_t read = 0;
    for (std::uint64_t turn = 0; turn < 20; ++turn) {
        sampler.still().begin({one_limit(), turn, 0});
        sampler.turn();
        while (!sampler.has_adopted()) {
            std::this_thread::yield();
        }
        read += offered_in(sampler.still());
    }
    stop.raise(true);
    worker.join();
    sampler.still().begin({one_limit(), 20, 0});
    sampler.turn();
    (void)sampler.adopt(kLoad);
    read += offered_in(sampler.still());
    EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace sluice::heat_sampler_test

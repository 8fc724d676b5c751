#include "lib/share/core.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sluice::core_test {
namespace {

TEST(PerCore, EachCoreWritesItsOwnAndAnyoneAddsUp) {
    CoreRoster roster;
    PerCore<Counter> counters;
    const CoreToken a = roster.enlist();
    const CoreToken b = roster.enlist();
    counters.mine(a).add(2);
    counters.mine(b).add(3);
    std::uint64_t sum = 0;
    counters.each([&](const Counter& one) { sum += one.read(); });
    EXPECT_EQ(sum, 5U);
    EXPECT_EQ(counters.of(b.index()).read(), 3U);
}

TEST(Counter, ReaderBesideTheWriterSeesItGrowAndNeverShrink) {
    Counter counter;
    std::thread writer{[&] {
        for (int i = 0; i < 100'000; ++i) {
            counter.add(1);
        }
    }};
    std::uint64_t last = 0;
    while (last < 100'000) {
        const std::uint64_t now = counter.read();
        ASSERT_GE(now, last);
        last = now;
    }
    writer.join();
    EXPECT_EQ(counter.read(), 100'000U);
}

}  // namespace
}  // namespace sluice::core_test

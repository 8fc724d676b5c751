#include "lib/share/burst_ring.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice::burst_ring_test {
namespace {

TEST(BurstRing, TakesNoMoreThanItHoldsAndGivesItBackInOrder) {
    BurstRing<int, 8> ring;
    std::array<int, 32> values{};
    std::array<int*, 32> in{};
    std::array<int*, 32> out{};
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = &values[i];
    }
    for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(ring.take(out.data(), 32), 0U);
        EXPECT_EQ(ring.put(in.data(), 5), 5U);
        EXPECT_EQ(ring.put(in.data() + 5, 27), 3U);
        EXPECT_EQ(ring.put(in.data(), 1), 0U);
        EXPECT_EQ(ring.take(out.data(), 3), 3U);
        EXPECT_EQ(ring.put(in.data() + 8, 2), 2U);
        EXPECT_EQ(ring.take(out.data() + 3, 29), 7U);
        EXPECT_TRUE(std::equal(in.begin(), in.begin() + 10, out.begin()));
    }
}

TEST(BurstRing, BetweenThreadsNothingIsLostOrMoved) {
    constexpr std::size_t kCount = 20'000;
    BurstRing<std::size_t, 64> ring;
    std::vector<std::size_t> values(kCount);
    std::thread writer{[&] {
        for (std::size_t at = 0; at < kCount;) {
            std::array<std::size_t*, 7> batch{};
            const auto count = static_cast<unsigned>(std::min<std::size_t>(7, kCount - at));
            for (unsigned i = 0; i < count; ++i) {
                values[at + i] = at + i;  // the ring alone says when the reader may look
                batch[i] = &values[at + i];
            }
            unsigned put = 0;
            while ((put += ring.put(batch.data() + put, count - put)) < count) {
                std::this_thread::yield();
            }
            at += count;
        }
    }};
    std::array<std::size_t*, 32> got{};
    for (std::size_t seen = 0; seen < kCount;) {
        const unsigned count = ring.take(got.data(), 32);
        for (unsigned i = 0; i < count; ++i) {
            ASSERT_EQ(*got[i], seen + i);
        }
        seen += count;
        if (count == 0) {
            std::this_thread::yield();
        }
    }
    writer.join();
}

}  // namespace
}  // namespace sluice::burst_ring_test

#include "lib/share/latest.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice::latest_test {
namespace {

struct Pair {
    std::uint64_t one = 0;
    std::uint64_t other = 0;
};

TEST(Latest, IsWhatWasSetLast) {
    Latest<Pair> latest{{1, 2}};
    EXPECT_EQ(latest.get().other, 2U);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        latest.set({i, ~i});
        EXPECT_EQ(latest.get().one, i);
        EXPECT_EQ(latest.get().other, ~i);
    }
}

// The writer goes on once each value has been seen, so that none is replaced while it is read.
TEST(Latest, IsReadWhole) {
    Latest<Pair> latest{{0, ~std::uint64_t{0}}};
    std::atomic<std::uint64_t> seen{0};
    constexpr std::uint64_t kLast = 20'000;
    std::thread reader{[&] {
        for (std::uint64_t last = 0; last < kLast;) {
            const Pair pair = latest.get();
            EXPECT_EQ(pair.other, ~pair.one);
            EXPECT_GE(pair.one, last);
            last = pair.one;
            seen.store(last);
        }
    }};
    for (std::uint64_t i = 1; i <= kLast; ++i) {
        latest.set({i, ~i});
        while (i % 100 == 0 && seen.load() < i) {
            std::this_thread::yield();
        }
    }
    reader.join();
}

}  // namespace
}  // namespace sluice::latest_test

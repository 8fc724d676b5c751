#include "lib/share/core.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sluice::core_test {
namespace {

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

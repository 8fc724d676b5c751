#include "lib/base/lazy_array.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sluice {
namespace {

constexpr std::size_t kCount = std::size_t{16} << 20;

std::int64_t pages_touched() {
    rusage use{};
    EXPECT_EQ(::getrusage(RUSAGE_SELF, &use), 0);
    return use.ru_minflt;
}

struct Counted {
    std::uint32_t number = 7;
};

TEST(LazyArray, PagesNobodyWritesToAreNeverTouched) {
    const std::int64_t before = pages_touched();
    const LazyArray<std::uint32_t> zero = zeroed_array<std::uint32_t>(kCount);
    const LazyArray<Counted> counted = uninitialized_array<Counted>(kCount);
    zero[kCount - 1] = 1;
    counted[0].number = 1;
    EXPECT_LT(pages_touched() - before, 1000);  // of 32,768
}

TEST(LazyArray, BeginsWithACacheLine) {
    for (const std::size_t count : {1, 2, 15, 16, 17, 1000, 100'000}) {
        const LazyArray<std::uint32_t> one = uninitialized_array<std::uint32_t>(count);
        const LazyArray<std::uint32_t> other = zeroed_array<std::uint32_t>(count);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.get()) % kArrayAlign, 0U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.get()) % kArrayAlign, 0U);
        std::fill_n(one.get(), count, ~std::uint32_t{0});
    }
}

TEST(LazyArray, ZerosAreZerosInMemoryThatWasUsedBefore) {
    for (int round = 0; round < 3; ++round) {
        const LazyArray<std::uint32_t> zero = zeroed_array<std::uint32_t>(1000);
        EXPECT_EQ(std::count(zero.get(), zero.get() + 1000, 0U), 1000);
        std::fill_n(zero.get(), 1000, ~std::uint32_t{0});
    }
}

TEST(LazyArray, NoMemoryEndsTheProgramWithAMessage) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    constexpr std::size_t kMost = ~std::size_t{0} / sizeof(std::uint32_t);
    EXPECT_DEATH((void)zeroed_array<std::uint32_t>(kMost), "no memory for an array");
    EXPECT_DEATH((void)uninitialized_array<std::uint32_t>(kMost), "no memory for an array");
}

}  // namespace
}  // namespace sluice

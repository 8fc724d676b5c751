#include "dataplane/box/unit_memory.hpp"

#include "tests/unit/base/little_memory.hpp"

#include <gtest/gtest.h>

namespace sluice::unit_memory_test {
namespace {

TEST(UnitMemory, WhatDoesNotFitIsRefusedWithBothAmounts) {
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
    BoxConfig box;
    box.units.connections.max = 1'000'000;
    const std::uint64_t needed = unit_memory_of(box, 4);
    EXPECT_GT(needed, 400 * kMebibyte);
    {
        const test::LittleMemory little{needed - 8 * kMebibyte};
        const Result<Done> checked = check_unit_memory(box, 4);
        ASSERT_FALSE(checked.has_value());
        EXPECT_EQ(checked.error().code, Errc::NoMemory);
        const std::string amount = std::to_string((needed >> 20) + 1) + " MiB";
        EXPECT_NE(checked.error().what.find(amount), std::string::npos) << checked.error().what;
        EXPECT_NE(checked.error().what.find("connections: {max}"), std::string::npos);
    }
    const test::LittleMemory enough{needed + 8 * kMebibyte};
    EXPECT_TRUE(check_unit_memory(box, 4).has_value());
}

}  // namespace
}  // namespace sluice::unit_memory_test

#include "lib/packet/row_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sluice::row_sum_test {
namespace {

TEST(SumOfRows, IsThatOfTheRowsAlone) {
    std::mt19937_64 random{7};
    for (int round = 0; round < 2'000; ++round) {
        std::array<std::uint32_t, kMaxBurst> column;
        std::generate(column.begin(), column.end(),
                      [&] { return static_cast<std::uint32_t>(random() % (1U << 27)); });
        const auto rows = static_cast<RowMask>(round == 0 ? 0 : random());
        std::uint64_t sum = 0;
        for_each_row(rows, [&](std::size_t row) { sum += column[row]; });
        EXPECT_EQ(sum_of_rows(rows, column), sum & 0xFFFF'FFFF);
    }
}

TEST(SumOfRows, OfAWholeBurst) {
    std::array<std::uint32_t, kMaxBurst> column;
    column.fill((1U << 27) - 1);
    EXPECT_EQ(sum_of_rows(~RowMask{0}, column), kMaxBurst * ((std::uint64_t{1} << 27) - 1));
}

}  // namespace
}  // namespace sluice::row_sum_test

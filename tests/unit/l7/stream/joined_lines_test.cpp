#include "lib/l7/stream/joined_lines.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::joined_lines_test {
namespace {

// The longest reading: held bytes of the longest head, and the longest segment behind them.
constexpr std::uint32_t kLongestReading = 60'000 + 65'535;

TEST(JoinedLines, CoverAllBetweenTheFirstAndTheLastAndNoneIsTooLong) {
    for (const std::uint32_t end : {20U, 65'544U, 65'545U, 65'546U, 100'000U, kLongestReading}) {
        const std::array<PayloadRange, 3> lines{{{10, 12}, {13, 15}, {17, end}}};
        const JoinedLines joined{lines};
        std::uint32_t at = 10;
        for (const PayloadRange& place : joined.places()) {
            EXPECT_EQ(place.begin, at) << end;
            EXPECT_LT(place.begin, place.end) << end;
            EXPECT_FALSE(is_too_long(place)) << end;
            at = place.end;
        }
        EXPECT_EQ(at, end);
    }
}

}  // namespace
}  // namespace sluice::joined_lines_test

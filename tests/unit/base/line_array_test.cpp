#include "lib/base/line_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace sluice::line_array_test {
namespace {

constexpr std::size_t kCount = 100'000;  // pages of its own
constexpr std::size_t kFew = 100;        // none

struct Zeros {
    std::uint32_t number = 0;
    bool is_known = false;
};
struct Others {
    std::uint32_t number = 0;
    std::uint32_t next = ~0U;
};

TEST(LineArray, BeginsWithZerosWhereAValueIsZeros) {
    LineArray<Zeros> values{kCount};
    EXPECT_TRUE(std::all_of(values.all().begin(), values.all().end(),
                            [](Zeros one) { return one.number == 0 && !one.is_known; }));
    values[kCount - 1].is_known = true;
    EXPECT_TRUE(values[kCount - 1].is_known);
    LineArray<Zeros> few{kFew};
    EXPECT_TRUE(std::all_of(few.all().begin(), few.all().end(),
                            [](Zeros one) { return one.number == 0 && !one.is_known; }));
}

TEST(LineArray, BeginsWithWhatAValueIsElse) {
    LineArray<Others> values{kCount};
    EXPECT_EQ(values.all().size(), kCount);
    EXPECT_TRUE(std::all_of(values.all().begin(), values.all().end(),
                            [](Others one) { return one.number == 0 && one.next == ~0U; }));
}

}  // namespace
}  // namespace sluice::line_array_test

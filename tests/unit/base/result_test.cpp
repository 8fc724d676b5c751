#include "lib/base/result.hpp"

#include <gtest/gtest.h>

namespace sluice::result_test {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) {
        return Error{Errc::BadSyntax, "odd"};
    }
    return n / 2;
}

TEST(Result, IsFalseWhenItHoldsAnError) {
    EXPECT_TRUE(static_cast<bool>(half(2)));
    EXPECT_FALSE(static_cast<bool>(half(3)));
    EXPECT_EQ(half(3).error().code, Errc::BadSyntax);
}

}  // namespace
}  // namespace sluice::result_test

#include "control/daemon/api/own_numbers_text.hpp"

#include <gtest/gtest.h>

namespace sluice::own_numbers_text_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(OwnNumbersText, HasTheKeysNumbersInThePlaceOfTheRules) {
    const std::string_view bucket = "token_bucket 50/s burst 200 per packet";
    const auto with = [&](std::uint64_t units, std::uint64_t ns) {
        return with_own_numbers(bucket, {.rate_units = units, .rate_ns = ns, .most = 9});
    };
    EXPECT_EQ(with(5, kSecond), "token_bucket 5/s burst 9 per packet");
    EXPECT_EQ(with(1, kSecond / 20), "token_bucket 20/s burst 9 per packet");
    EXPECT_EQ(with(1, 6 * kSecond), "token_bucket 10/m burst 9 per packet");
    EXPECT_EQ(with(1, 86'400 * kSecond), "token_bucket 1/d burst 9 per packet");
    EXPECT_EQ(with(1, 7 * kSecond), "token_bucket 0.143/s burst 9 per packet");
    EXPECT_EQ(with_own_numbers("leaky_bucket 10/s queue 4 per byte",
                               {.rate_units = 2, .rate_ns = kSecond, .most = 70'000}),
              "leaky_bucket 2/s queue 70000 per byte");
    EXPECT_EQ(with_own_numbers("sliding_log 9 in 1m per packet", {.most = 12}),
              "sliding_log 12 in 1m per packet");
    EXPECT_EQ(with_own_numbers("", {.most = 12}), "");
}

}  // namespace
}  // namespace sluice::own_numbers_text_test

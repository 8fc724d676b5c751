#include "control/daemon/notify/signature.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::signature_test {
namespace {

// The digests are those of Python's hmac and hashlib.
TEST(Signature, IsTheHmacOfTimeAndBody) {
    EXPECT_EQ(signature_of("0123456789abcdef", 1'764'460'800, "{\"event\":\"test\"}"),
              "t=1764460800,v1=9de46dcc412aa83f1b41e3003dfd8e1b1980b93df5220d6d8b79132b8786f31c");
    EXPECT_EQ(signature_of("0123456789abcdef", 1'764'460'801, "{\"event\":\"test\"}"),
              "t=1764460801,v1=29f3398c51561f44bd80385cec6f4d0c80184d0a69337569f3b4f9f3b76e9a01");
}

TEST(Signature, ASecretMayBeLongerThanABlockAndABodyEmpty) {
    EXPECT_EQ(signature_of(std::string(200, 'k'), 0, ""),
              "t=0,v1=76a82ba859636cc3081c72aa270fd66ac81a202f8182404e7752795c6e7ba88f");
    EXPECT_EQ(signature_of(std::string(64, 'k'), 0, std::string(100'000, 'x')),
              "t=0,v1=7c95d83c35cf2f126c332c55d9f344b5efd2634d2b61a2816a0e5b09afbd6f9f");
}

}  // namespace
}  // namespace sluice::signature_test

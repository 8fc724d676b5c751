#include "lib/bucket/hash/group_key.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::group_key_test {
namespace {

TEST(KeyHasher, SecretIdentityKeyAndLengthAllCount) {
    const std::byte zeroes[33]{};
    std::set<std::uint64_t> seen;
    for (const HashSecret secret : {HashSecret{0, 0}, HashSecret{1, 0}, HashSecret{0, 1}}) {
        for (const std::uint64_t identity : {0U, 1U}) {
            for (std::size_t size = 0; size <= sizeof(zeroes); ++size) {
                seen.insert(KeyHasher{secret}(identity, ByteView{zeroes, size}).hash);
            }
        }
    }
    EXPECT_EQ(seen.size(), 3U * 2U * 34U);
}

TEST(KeyHasher, ADigestServesAllLimitsOfAKey) {
    const std::byte bytes[5]{};
    const KeyHasher hash{{1, 2}};
    EXPECT_EQ(hash(3, bytes), KeyHasher::key_under(3, hash.digest(bytes)));
    EXPECT_EQ(hash(3, bytes), KeyHasher({1, 2})(3, bytes));
}

}  // namespace
}  // namespace sluice::group_key_test

#include "lib/meter/group_key.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace sluice {
namespace {

struct Vector {
    std::size_t size;
    std::uint64_t hash;
};

// SipHash-1-3 of the bytes 0, 1, 2 … under the all-zero secret, as CPython computes it for bytes
// objects (PYTHONHASHSEED=0, sys.hash_info.algorithm == "siphash13").
const Vector kVectors[] = {
    {8, 0xEAD4'11E6'7EBE'2EEA},  {9, 0x7592'7F9D'9512'4362},  {12, 0xA6BA'F4FB'0F9F'E1C2},
    {15, 0xF30E'B725'BB91'C9EA}, {16, 0x8972'1884'33A5'C5B7}, {27, 0x2454'D97D'2992'99DF},
};

TEST(KeyHasher, IsSipHash13OfIdentityAndKey) {
    const KeyHasher hash{{0, 0}};
    for (const Vector& row : kVectors) {
        std::vector<std::uint8_t> bytes(row.size);
        std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
        const ByteView key = std::as_bytes(std::span{bytes}).subspan(8);
        EXPECT_EQ(hash(0x0706'0504'0302'0100, key).hash, row.hash) << row.size;
    }
}

TEST(KeyHasher, SecretIdentityKeyAndLengthAllCount) {
    const std::byte zeroes[9]{};
    const ByteView none{};
    std::set<std::uint64_t> seen;
    for (const HashSecret secret : {HashSecret{0, 0}, HashSecret{1, 0}, HashSecret{0, 1}}) {
        for (const std::uint64_t identity : {0U, 1U}) {
            for (std::size_t size = 0; size <= sizeof(zeroes); ++size) {
                seen.insert(KeyHasher{secret}(identity, ByteView{zeroes, size}).hash);
            }
        }
    }
    EXPECT_EQ(seen.size(), 3U * 2U * 10U);
    EXPECT_EQ(KeyHasher({1, 2})(3, none), KeyHasher({1, 2})(3, none));
}

}  // namespace
}  // namespace sluice

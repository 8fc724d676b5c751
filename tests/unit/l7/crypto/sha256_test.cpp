#include "lib/l7/crypto/sha256.hpp"

#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::sha256_test {
namespace {

using test::from_hex;
using test::octets_of;

// FIPS 180-2, B.1, and RFC 4231, case 2.
TEST(Sha256, DigestsAreThoseOfTheStandards) {
    EXPECT_TRUE(std::ranges::equal(
        sha256(octets_of("abc")),
        from_hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")));
    EXPECT_TRUE(std::ranges::equal(
        hmac_sha256(octets_of("Jefe"), octets_of("what do ya want for nothing?")),
        from_hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")));
}

}  // namespace
}  // namespace sluice::sha256_test

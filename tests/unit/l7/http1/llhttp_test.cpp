#include "tests/rounds.hpp"
#include "tests/unit/l7/http1/head_text.hpp"
#include "tests/unit/l7/http1/llhttp_oracle.hpp"
#include "tests/unit/l7/http1/random_head.hpp"

#include <gtest/gtest.h>

namespace sluice::llhttp_test {
namespace {

TEST(Llhttp, AgreesAboutHeadsOfRandomParts) {
    const std::uint64_t seed = test::new_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomHead heads{seed};
    for (int round = test::rounds(60'000); round > 0 && !HasFailure(); --round) {
        const std::string bytes = heads.make() + "5\r\nhello\r\n0\r\n\r\n" + heads.make();
        EXPECT_EQ(test::disagreement_with_llhttp(bytes), "") << test::quoted(bytes);
    }
}

}  // namespace
}  // namespace sluice::llhttp_test

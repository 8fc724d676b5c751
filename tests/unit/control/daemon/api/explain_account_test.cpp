#include "control/daemon/api/explain_account.hpp"

#include <gtest/gtest.h>

namespace sluice::explain_account_test {
namespace {

// 503 is for a dataplane that is not there, which sluicectl has an exit code for.
TEST(NotExplained, EachReasonHasItsStatus) {
    EXPECT_EQ(not_explained({Errc::TooMany, ""}).status, 429U);
    EXPECT_EQ(not_explained({Errc::Refused, ""}).status, 409U);
    EXPECT_EQ(not_explained({Errc::NoMemory, ""}).status, 507U);
    EXPECT_EQ(not_explained({Errc::NotSupported, ""}).status, 500U);
}

}  // namespace
}  // namespace sluice::explain_account_test

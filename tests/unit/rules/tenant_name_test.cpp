#include "lib/rules/tenant_name.hpp"

#include <gtest/gtest.h>

namespace sluice::tenant_name_test {
namespace {

TEST(TenantName, IsALetterThenLettersDigitsAndDashes) {
    for (const char* name : {"a", "acme", "acme-2", "x--", "a123456789012345678901234567890z"}) {
        EXPECT_TRUE(is_tenant_name(name)) << name;
    }
    for (const char* name : {"", "2acme", "-a", "Acme", "a:b", "a.b", "../a", "a/b", "a b",
                             "\xc3\xa4", "a1234567890123456789012345678901z"}) {
        EXPECT_FALSE(is_tenant_name(name)) << name;
    }
}

TEST(TenantName, IsWhatStandsBeforeTheSeparator) {
    EXPECT_EQ(tenant_of("acme:udp-flood"), "acme");
    EXPECT_EQ(own_id("acme:udp-flood"), "udp-flood");
    EXPECT_EQ(own_id("acme:udp-flood.half"), "udp-flood.half");
    EXPECT_EQ(tenant_of("udp-flood"), "");
    EXPECT_EQ(own_id("udp-flood"), "udp-flood");
    EXPECT_EQ(tenant_of("udp-flood.half"), "");
}

TEST(TenantName, MakesTheIdOfTheJointSet) {
    EXPECT_EQ(joint_id("acme", "udp-flood"), "acme:udp-flood");
    EXPECT_EQ(joint_id("", "udp-flood"), "udp-flood");
}

}  // namespace
}  // namespace sluice::tenant_name_test

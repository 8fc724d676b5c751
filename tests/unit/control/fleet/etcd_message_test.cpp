#include "control/fleet/etcd_message.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::etcd_message_test {
namespace {

TEST(EtcdMessage, ThePrefixOfARangeEndsBehindItsLastKey) {
    EXPECT_EQ(end_of_prefix("/a/"), "/a0");
    EXPECT_EQ(end_of_prefix("a\xFF"), "b");
    EXPECT_EQ(end_of_prefix(std::string("\xFF")), std::string(1, '\0'));
}

TEST(EtcdMessage, ATransactionIsItsConditionsAndBothOfItsSides) {
    EXPECT_EQ(request_text(EtcdTransaction{
                  .when = {is_absent("/a"), is_unchanged("/a", 7), has_value("/a", "x"),
                           has_lease("/a", 8)},
                  .then = {EtcdPut{.key = "/a", .value = "hi", .lease = 5}},
                  .otherwise = {EtcdGet{.key = "/a"}, EtcdDelete{.key = "/a", .end = "/b"}}}),
              R"({"compare":[{"create_revision":"0","key":"L2E=","result":"EQUAL",)"
              R"("target":"CREATE"},{"key":"L2E=","mod_revision":"7","result":"EQUAL",)"
              R"("target":"MOD"},{"key":"L2E=","result":"EQUAL","target":"VALUE","value":"eA=="},)"
              R"({"key":"L2E=","lease":"8","result":"EQUAL","target":"LEASE"}],)"
              R"("failure":[{"request_range":{"key":"L2E="}},{"request_delete_range":)"
              R"({"key":"L2E=","range_end":"L2I="}}],)"
              R"("success":[{"request_put":{"key":"L2E=","lease":"5","value":"aGk="}}]})");
}

TEST(EtcdMessage, ATokenIsOneLineThatAHeaderTakes) {
    EXPECT_TRUE(token_from(R"({"token":"abc.12"})"));
    EXPECT_FALSE(token_from(R"({"token":""})"));
    EXPECT_FALSE(token_from(R"({"token":"a\r\nX: y"})"));
    EXPECT_FALSE(token_from(R"({"token":7})"));
}

TEST(EtcdMessage, ARefusalIsOneVisibleLine) {
    EXPECT_EQ(refusal_from(R"({"message":"no\nlease"})").find('\n'), std::string::npos);
    EXPECT_EQ(refusal_from("<html>"), "");
    EXPECT_EQ(refusal_from(R"({"message":[]})"), "");
}

}  // namespace
}  // namespace sluice::etcd_message_test

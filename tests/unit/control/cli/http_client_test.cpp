#include "control/cli/http_client.hpp"

#include <gtest/gtest.h>

namespace sluice::http_client_test {
namespace {

TEST(UrlEscape, LeavesOnlyUnreservedCharacters) {
    EXPECT_EQ(url_escape("syn-per-source_1.~"), "syn-per-source_1.~");
    EXPECT_EQ(url_escape("/etc/a b&c?d=e%"), "%2Fetc%2Fa%20b%26c%3Fd%3De%25");
    EXPECT_EQ(url_escape("\xC3\xA4"), "%C3%A4");
}

TEST(HttpCall, SaysWhereNobodyListens) {
    const auto reply = http_call({"/nonexistent/sluiced.sock"}, {.target = "/v1/stats"});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::Unreachable);
    EXPECT_NE(reply.error().what.find("/nonexistent/sluiced.sock"), std::string::npos);
}

}  // namespace
}  // namespace sluice::http_client_test

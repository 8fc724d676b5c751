#include "control/daemon/notify/webhook_call.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace sluice::webhook_call_test {
namespace {

bool refused_v4(const char* text) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, text, &address.sin_addr), 1) << text;
    return is_link_local(reinterpret_cast<const sockaddr&>(address));
}

bool refused_v6(const char* text) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    EXPECT_EQ(::inet_pton(AF_INET6, text, &address.sin6_addr), 1) << text;
    return is_link_local(reinterpret_cast<const sockaddr&>(address));
}

TEST(WebhookCall, NoNoticeGoesToALinkLocalAddress) {
    for (const char* const address : {"169.254.169.254", "169.254.0.1"}) {
        EXPECT_TRUE(refused_v4(address)) << address;
    }
    for (const char* const address :
         {"fe80::1", "febf::1", "::ffff:169.254.169.254", "fd00:ec2::254"}) {
        EXPECT_TRUE(refused_v6(address)) << address;
    }
    for (const char* const address : {"127.0.0.1", "10.0.0.1", "192.0.2.1", "168.254.0.1"}) {
        EXPECT_FALSE(refused_v4(address)) << address;
    }
    for (const char* const address : {"::1", "2001:db8::1", "fd00:1::1", "::ffff:192.0.2.1"}) {
        EXPECT_FALSE(refused_v6(address)) << address;
    }
}

}  // namespace
}  // namespace sluice::webhook_call_test

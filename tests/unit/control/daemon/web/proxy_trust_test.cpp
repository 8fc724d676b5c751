#include "control/daemon/web/proxy_trust.hpp"

#include "control/random_secret.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sluice::proxy_trust_test {
namespace {

constexpr const char* kSecret = "0123456789abcdef";

ProxyTrust trust() {
    TrustedProxy by_tcp;
    by_tcp.address = parse_address("192.0.2.1");
    by_tcp.secret_header = "X-Key";
    by_tcp.secret = digest_of(kSecret);
    TrustedProxy by_socket;
    by_socket.user = 33;
    return {WebOptions{}, {by_tcp, by_socket}};
}

RequestHeaders with(std::initializer_list<RequestHeader> all) {
    RequestHeaders headers;
    for (const RequestHeader& one : all) {
        headers.add(one.name, one.value);
    }
    return headers;
}

TEST(ProxyTrust, AProxyByTcpHasItsAddressAndTheSecret) {
    const ProxyTrust proxies = trust();
    const auto here = parse_address("192.0.2.1");
    const auto elsewhere = parse_address("192.0.2.2");
    EXPECT_TRUE(proxies.is_proxy(std::nullopt, here, with({{"x-key", kSecret}})));
    EXPECT_FALSE(proxies.is_proxy(std::nullopt, elsewhere, with({{"x-key", kSecret}})));
    EXPECT_FALSE(proxies.is_proxy(std::nullopt, here, with({})));
    EXPECT_FALSE(proxies.is_proxy(std::nullopt, here, with({{"x-key", ""}})));
    EXPECT_FALSE(proxies.is_proxy(std::nullopt, here, with({{"x-key", "0123456789abcdeF"}})));
    EXPECT_FALSE(proxies.is_proxy(0, std::nullopt, with({{"x-key", kSecret}})));
    EXPECT_TRUE(proxies.knows(std::nullopt, here));
    EXPECT_FALSE(proxies.knows(std::nullopt, elsewhere));
}

TEST(ProxyTrust, AProxyByTheSocketIsItsUser) {
    const ProxyTrust proxies = trust();
    EXPECT_TRUE(proxies.is_proxy(33, std::nullopt, with({})));
    EXPECT_FALSE(proxies.is_proxy(34, std::nullopt, with({})));
    EXPECT_FALSE(proxies.is_proxy(0, std::nullopt, with({})));
    EXPECT_FALSE(proxies.is_proxy(std::nullopt, std::nullopt, with({})));
}

TEST(ProxyTrust, TheUserAndTheRole) {
    const ProxyTrust proxies = trust();
    const auto user = proxies.user_of(with({{"X-Sluice-User", "eve"}}));
    ASSERT_TRUE(user);
    EXPECT_EQ(user->name, "eve");
    EXPECT_EQ(user->assigned, AssignedRole{}) << "without a role header";
    const auto admin =
        proxies.user_of(with({{"x-sluice-user", "eve"}, {"x-sluice-role", "admin"}}));
    ASSERT_TRUE(admin);
    EXPECT_EQ(admin->assigned, AssignedRole{Role::Admin});
    const auto customer =
        proxies.user_of(with({{"x-sluice-user", "eve"}, {"x-sluice-role", "tenant:acme"}}));
    ASSERT_TRUE(customer);
    EXPECT_EQ(customer->assigned, (AssignedRole{Role::Tenant, "acme"}));
    const auto nobody = proxies.user_of(with({}));
    ASSERT_TRUE(nobody);
    EXPECT_EQ(nobody->name, "");
    for (const char* const role :
         {"", "Admin", "none", "view, admin", "admin ", "root", "tenant", "tenant:", "tenant:Acme",
          "tenant:a:b", "Tenant:acme", "tenant: acme", "tenant:acme,other", "acme"}) {
        EXPECT_FALSE(proxies.user_of(with({{"x-sluice-user", "eve"}, {"x-sluice-role", role}})))
            << role;
    }
    const std::string longest(129, 'a');
    for (const std::string& name : {std::string{}, longest, std::string{"a\x1b[1m"}}) {
        EXPECT_FALSE(proxies.user_of(with({{"x-sluice-user", name}}))) << name;
    }
}

TEST(ProxyTrust, AHeaderThatIsGoneByStandsOnce) {
    const ProxyTrust proxies = trust();
    for (const char* const name : {"host", "authorization", "origin", "sec-fetch-site",
                                   "content-type", "x-sluice-user", "x-sluice-role", "x-key"}) {
        EXPECT_FALSE(proxies.repeated_in(with({{name, "a"}, {name, "a"}})).empty()) << name;
        EXPECT_TRUE(proxies.repeated_in(with({{name, "a"}})).empty()) << name;
    }
    EXPECT_TRUE(proxies.repeated_in(with({{"accept", "a"}, {"accept", "b"}})).empty());
}

}  // namespace
}  // namespace sluice::proxy_trust_test

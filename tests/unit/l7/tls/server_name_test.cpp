#include "lib/l7/tls/server_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::server_name_test {
namespace {

struct Row {
    std::string name;
    std::string text;
    ServerNameKind kind;
};

std::string label(std::size_t size) {
    return std::string(size, 'x');
}

TEST(ServerName, HasOneSpellingAndAKind) {
    const std::string longest = label(63) + "." + label(63) + "." + label(63) + "." + label(61);
    const Row rows[] = {
        {"Example.COM", "example.com", ServerNameKind::HostName},
        {"localhost", "localhost", ServerNameKind::HostName},
        {"example.com.", "example.com", ServerNameKind::HostName},
        {"_srv.x-y.example", "_srv.x-y.example", ServerNameKind::HostName},
        {"xn--mnchen-3ya.de", "xn--mnchen-3ya.de", ServerNameKind::HostName},
        {"XN--a-1.xn-.a--", "xn--a-1.xn-.a--", ServerNameKind::HostName},
        {"192.0.2.7", "192.0.2.7", ServerNameKind::Address},
        {"1.2.3.4.5", "1.2.3.4.5", ServerNameKind::Address},
        {"4.example", "4.example", ServerNameKind::HostName},
        {"::1", "::1", ServerNameKind::Address},
        {"0:0:0:0:0:0:0:1", "::1", ServerNameKind::Address},
        {"2001:DB8:0::1", "2001:db8::1", ServerNameKind::Address},
        {"3fff::", "3fff::", ServerNameKind::Address},
        {"fd00::A", "fd00::a", ServerNameKind::Address},
        {"febf::1", "febf::1", ServerNameKind::Address},
        {"::ffff:c000:201", "::ffff:192.0.2.1", ServerNameKind::Address},
        {"2001:0db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:6666",
         ServerNameKind::Address},
        {label(63), label(63), ServerNameKind::HostName},
        {longest, longest, ServerNameKind::HostName},
    };
    for (const Row& row : rows) {
        ServerName name;
        ASSERT_TRUE(name.assign(bytes_of(row.name))) << row.name;
        EXPECT_EQ(name.text(), row.text);
        EXPECT_EQ(name.kind(), row.kind) << row.name;
    }
}

TEST(ServerName, WhatIsNoHostNameIsAbsent) {
    using namespace std::string_view_literals;
    ServerName name;
    ASSERT_TRUE(name.assign(bytes_of("a")));
    const std::string longest = label(63) + "." + label(63) + "." + label(63) + "." + label(61);
    const std::vector<std::string> names{std::string{},
                                         std::string{"a\0"sv},
                                         label(256),
                                         "example.com..",
                                         ".",
                                         ".com",
                                         "a..b",
                                         "m\xC3\xBCnchen.de",
                                         "a b",
                                         "*.example.com",
                                         "db::1",
                                         "cafe::1",
                                         "1fff::1",
                                         "4000::1",
                                         "fec0::1",
                                         "ff02::1",
                                         "2001:db8::1::2",
                                         "2001:db8::1.",
                                         "[2001:db8::1]",
                                         "fe80::1%eth0",
                                         "2001:db8::1:443:1:2:3:4:5",
                                         "2001:443",
                                         "Login.Example:443",
                                         "login.example:",
                                         "login.example.:x",
                                         "login.example::",
                                         ":443",
                                         label(64),
                                         longest + "x",
                                         " login.example",
                                         "login.example ",
                                         "\tlogin.example",
                                         "login.example\r\n",
                                         "\xE2\x80\x83login.example",
                                         "log\xC4\xB0n.example",
                                         "login.example%20",
                                         "xn--login-.example",
                                         "www.XN--Login-",
                                         "xn--.example",
                                         "example.org.xn--."};
    for (const std::string& bad : names) {
        EXPECT_FALSE(name.assign(bytes_of(bad))) << bad;
        EXPECT_EQ(name.kind(), ServerNameKind::Absent);
        EXPECT_EQ(name.text(), "");
    }
}

}  // namespace
}  // namespace sluice::server_name_test

#include "lib/l7/tls/server_name.hpp"

#include <gtest/gtest.h>

#include <string>

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
        {"example.com..", "example.com.", ServerNameKind::Other},
        {".", ".", ServerNameKind::Other},
        {".com", ".com", ServerNameKind::Other},
        {"a..b", "a..b", ServerNameKind::Other},
        {"_srv.x-y.example", "_srv.x-y.example", ServerNameKind::HostName},
        {"xn--mnchen-3ya.de", "xn--mnchen-3ya.de", ServerNameKind::HostName},
        {"m\xC3\xBCnchen.de", "m\xC3\xBCnchen.de", ServerNameKind::Other},
        {"a b", "a b", ServerNameKind::Other},
        {"*.example.com", "*.example.com", ServerNameKind::Other},
        {"192.0.2.7", "192.0.2.7", ServerNameKind::Address},
        {"1.2.3.4.5", "1.2.3.4.5", ServerNameKind::Address},
        {"4.example", "4.example", ServerNameKind::HostName},
        {"2001:DB8::1", "2001", ServerNameKind::Address},
        {"Login.Example:443", "login.example", ServerNameKind::HostName},
        {"login.example:", "login.example", ServerNameKind::HostName},
        {"login.example.:x", "login.example", ServerNameKind::HostName},
        {"login.example::", "login.example", ServerNameKind::HostName},
        {":443", ":443", ServerNameKind::Other},
        {label(63), label(63), ServerNameKind::HostName},
        {label(64), label(64), ServerNameKind::Other},
        {longest, longest, ServerNameKind::HostName},
        {longest + "x", longest + "x", ServerNameKind::Other},
    };
    for (const Row& row : rows) {
        ServerName name;
        ASSERT_TRUE(name.assign(bytes_of(row.name))) << row.name;
        EXPECT_EQ(name.text(), row.text);
        EXPECT_EQ(name.kind(), row.kind) << row.name;
    }
}

TEST(ServerName, WhatNoServerAcceptsIsAbsent) {
    using namespace std::string_view_literals;
    ServerName name;
    ASSERT_TRUE(name.assign(bytes_of("a")));
    for (const std::string& bad : {std::string{}, std::string{"a\0"sv}, label(256)}) {
        EXPECT_FALSE(name.assign(bytes_of(bad)));
        EXPECT_EQ(name.kind(), ServerNameKind::Absent);
        EXPECT_EQ(name.text(), "");
    }
}

}  // namespace
}  // namespace sluice::server_name_test

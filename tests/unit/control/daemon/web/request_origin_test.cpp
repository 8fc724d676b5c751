#include "control/daemon/web/request_origin.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sluice::request_origin_test {
namespace {

struct HostCase {
    const char* said;
    const char* host;  // nullptr: none
};
constexpr HostCase kHosts[] = {
    {"localhost", "localhost"},
    {"LocalHost:8480", "localhost"},
    {"127.0.0.1:1", "127.0.0.1"},
    {"[::1]", "::1"},
    {"[0:0::1]:80", "::1"},
    {"a_b.example", "a_b.example"},
    {"example.", "example."},
    {"", nullptr},
    {":80", nullptr},
    {"a:", nullptr},
    {"a:b", nullptr},
    {"a:70000", nullptr},
    {"a:80:80", nullptr},
    {"a b", nullptr},
    {"a/b", nullptr},
    {"a@b", nullptr},
    {"[::1", nullptr},
    {"[]", nullptr},
    {"[127.0.0.1]", nullptr},
    {"[::1]x", nullptr},
    {"::1", nullptr},
    {"a\xc3\xa4", nullptr},
    {"a,b", nullptr},
};

TEST(RequestOrigin, TheHostOfAnAuthority) {
    for (const HostCase& one : kHosts) {
        const auto host = host_in(one.said);
        EXPECT_EQ(host, one.host == nullptr ? std::nullopt : std::optional<std::string>{one.host})
            << one.said;
    }
    EXPECT_FALSE(host_in(std::string(300, 'a')));
}

TEST(RequestOrigin, OnlyOwnNamesAreKnown) {
    OwnHosts hosts;
    hosts.add("Sluice.Example.net");
    hosts.add("2001:DB8:0::1");
    for (const char* const own :
         {"localhost", "127.0.0.1", "::1", "sluice.example.net", "2001:db8::1"}) {
        EXPECT_TRUE(hosts.has(own)) << own;
    }
    for (const char* const other : {"localhost.", "evil.example", "x.sluice.example.net", ""}) {
        EXPECT_FALSE(hosts.has(other)) << other;
    }
}

struct PageCase {
    const char* site;  // nullptr: not said
    const char* origin;
    AskingPage page;
};
constexpr PageCase kPages[] = {
    {nullptr, nullptr, AskingPage::Unsaid},
    {"same-origin", nullptr, AskingPage::Own},
    {"none", nullptr, AskingPage::Own},
    {"cross-site", nullptr, AskingPage::Other},
    {"same-site", nullptr, AskingPage::Other},
    {"", nullptr, AskingPage::Other},
    {"Same-Origin", nullptr, AskingPage::Other},
    {"cross-site", "http://box:1", AskingPage::Other},
    {"same-origin", "https://box.example", AskingPage::Own},
    {nullptr, "http://box:1", AskingPage::Own},
    {nullptr, "https://BOX:1", AskingPage::Own},
    {nullptr, "http://box", AskingPage::Other},
    {nullptr, "http://box:11", AskingPage::Other},
    {nullptr, "ftp://box:1", AskingPage::Other},
    {nullptr, "null", AskingPage::Other},
    {nullptr, "", AskingPage::Other},
};

TEST(RequestOrigin, ThePageThatAsks) {
    for (const PageCase& one : kPages) {
        RequestHeaders headers;
        headers.add("Host", "Box:1");
        if (one.site != nullptr) {
            headers.add("Sec-Fetch-Site", one.site);
        }
        if (one.origin != nullptr) {
            headers.add("Origin", one.origin);
        }
        EXPECT_EQ(asking_page(headers), one.page) << (one.site == nullptr ? "-" : one.site) << " "
                                                  << (one.origin == nullptr ? "-" : one.origin);
    }
    RequestHeaders nameless;
    nameless.add("Origin", "http://");
    EXPECT_EQ(asking_page(nameless), AskingPage::Other) << "without a Host";
}

TEST(RequestOrigin, ContentTypesThatNoFormHas) {
    for (const char* const own :
         {"application/json", "Application/JSON ; charset=utf-8", "application/yaml"}) {
        EXPECT_TRUE(is_own_content_type(own)) << own;
    }
    for (const char* const other : {"", "text/plain", "application/jsonp", "multipart/form-data",
                                    "text/plain; application/json", "application/json, text/plain",
                                    "application/x-www-form-urlencoded"}) {
        EXPECT_FALSE(is_own_content_type(other)) << other;
    }
}

TEST(RequestHeaders, TheHeadOfARequest) {
    const RequestHeaders headers = headers_in(
        "GET / HTTP/1.1\r\nHost: a\r\nX-Role:  view \r\nx-role: admin\nnonsense\r\n\r\nHost: "
        "b\r\n");
    EXPECT_EQ(headers.value("HOST"), "a");
    EXPECT_EQ(headers.times("host"), 1U);
    EXPECT_EQ(headers.value("x-role"), "view");
    EXPECT_EQ(headers.times("X-ROLE"), 2U);
    EXPECT_FALSE(headers.has("x-rol"));
    EXPECT_FALSE(headers.is_folded());
    EXPECT_TRUE(headers_in("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n").is_folded());
}

}  // namespace
}  // namespace sluice::request_origin_test

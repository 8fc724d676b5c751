#include "lib/policy/texts/text_form.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::text_form_test {
namespace {

struct Row {
    TextField field;
    TextHow how;
    std::string text;
    std::string_view says;  // what the fault ends in; empty: some packet has such a text
    bool ignore_case = false;
};

constexpr TextHow kIs = TextHow::Equals;
constexpr TextHow kBegins = TextHow::StartsWith;
constexpr TextHow kEnds = TextHow::EndsWith;
constexpr TextHow kHas = TextHow::Contains;
constexpr TextField kPath = TextField::HttpPath;
constexpr TextField kHost = TextField::HttpHost;
constexpr TextField kSni = TextField::TlsSni;

constexpr const char* kNoName = "or is an address without brackets and port";

const Row kRows[] = {
    {TextField::ProtoScheme, kIs, "http", ""},
    {TextField::ProtoScheme, kIs, "httsp", "did you mean `http`?"},
    {TextField::ProtoScheme, kBegins, "http", ""},
    {TextField::ProtoScheme, kEnds, "ss", "found \"ss\""},
    {TextField::ProtoL7, kIs, "h2c", ""},
    {TextField::ProtoL7, kIs, "htp", "did you mean `http`?"},
    {TextField::QuicPacketType, kIs, "0rtt", ""},
    {TextField::QuicPacketType, kIs, "Initial", "did you mean `initial`?"},
    {TextField::HttpMethod, kIs, "PURGE", ""},
    {TextField::HttpMethod, kIs, "GET ", "a method is a word such as GET"},
    {TextField::HttpMethod, kIs, "", "a method is a word such as GET"},
    {kHost, kIs, "example.com", ""},
    {kHost, kIs, "Example.COM", "", true},
    {kHost, kIs, "example.com.", "write \"example.com\"", true},
    {kHost, kIs, "Example.com:8080", "write \"example.com\"", true},
    {kHost, kIs, "[2001:db8::1]:80", "write \"[2001:db8::1]\"", true},
    {kHost, kIs, "[2001:db8::1]", "", true},
    {kHost, kIs, "[0:0::1]", "write \"[::1]\"", true},
    {kHost, kIs, "[::ffff:c0a8:1]", "write \"[::ffff:192.168.0.1]\"", true},
    {kHost, kIs, "no host!:80", "", true},
    {kHost, kEnds, ".example.com:443", "write \".example.com\"", true},
    {kHost, kEnds, ".example.com.", "write \".example.com\"", true},
    {kHost, kEnds, ":80", "IPv6 is as in RFC 5952", true},
    {kHost, kEnds, "::1]", "", true},
    {kHost, kBegins, "www.", "", true},
    {kHost, kHas, ".com.", "", true},
    {kSni, kIs, "example.com", "", true},
    {kSni, kIs, "example.com.", "write \"example.com\"", true},
    {kSni, kIs, "example.com:443", "write \"example.com\"", true},
    {kSni, kIs, "2001:db8::1", "", true},
    {kSni, kIs, "2001:DB8::1", "", true},
    {kSni, kIs, "0:0::1", "write \"::1\"", true},
    {kSni, kIs, "db::1", kNoName, true},
    {kSni, kIs, " example.com", kNoName, true},
    {kSni, kEnds, ".example.com:443", "write \".example.com\"", true},
    {kSni, kIs, "[2001:db8::1]:443", kNoName, true},
    {kSni, kEnds, "::1", "", true},
    {kSni, kEnds, ":x", kNoName, true},
    {kSni, kIs, std::string(256, 'a'), kNoName, true},
    {kSni, kIs, "", kNoName, true},
    {TextField::QuicSni, kEnds, ".example.", "write \".example\"", true},
    {TextField::QuicSni, kBegins, "a.", "", true},
    {kPath, kIs, "/a/b", ""},
    {kPath, kIs, "/", ""},
    {kPath, kIs, "*", ""},
    {kPath, kIs, "", ""},
    {kPath, kIs, "a/b", "write \"/a/b\""},
    {kPath, kIs, "/a//b", "write \"/a/b\""},
    {kPath, kIs, "/a/./b/../c", "write \"/a/c\""},
    {kPath, kIs, "/a/..", "write \"/\""},
    {kPath, kIs, "/%7Euser", "write \"/~user\""},
    {kPath, kIs, "/a%2fb", "write \"/a%2Fb\""},
    {kPath, kIs, "/a%2fb", "", true},
    {kPath, kIs, "/a%2Fb", ""},
    {kPath, kIs, "/100%", "write \"/100%25\""},
    {kPath, kIs, "/\xC3\xBC", "write \"/%C3%BC\""},
    {kPath, kIs, "/a?b=1", "http.request.uri.query"},
    {kPath, kIs, "/a\"\xC3", "write \"/a\\\"%C3\""},
    {kPath, kBegins, "/api/", ""},
    {kPath, kBegins, "/.", ""},
    {kPath, kBegins, "/a/..", ""},
    {kPath, kBegins, "/a%", ""},
    {kPath, kBegins, "/a%2", ""},
    {kPath, kBegins, "/a%7", ""},
    {kPath, kBegins, "/a%e", "write \"/a%E\""},
    {kPath, kBegins, "api", "write \"/api\""},
    {kPath, kBegins, "//", "write \"/\""},
    {kPath, kBegins, "/a/../", "write \"/\""},
    {kPath, kEnds, ".php", ""},
    {kPath, kEnds, "..", ""},
    {kPath, kEnds, "/..", "in capitals, and only for what is reserved or not ASCII"},
    {kPath, kEnds, "/./x", "write \"/x\""},
    {kPath, kEnds, "%", "write \"%25\""},
    {kPath, kEnds, "2F", ""},
    {kPath, kHas, "/admin/", ""},
    {kPath, kHas, "//", "write \"/\""},
    {kPath, kHas, "..", ""},
    {kPath, kHas, "%2", ""},
    {kPath, kHas, "%61", "write \"a\""},
    {TextField::HttpQuery, kIs, "a=%7e//", ""},
    {TextField::HttpUri, kIs, "/a//b", ""},
    {TextField::TlsJa4, kIs, "t13d1516h2_8daaf6152771_02713d6af862", ""},
    {TextField::TlsJa4, kIs, "t13d1516h2_8DAAF6152771_02713D6AF862", "8daaf6152771_02713d6af862"},
    {TextField::TlsJa4, kIs, "t13d1516h2_8DAAF6152771_02713D6AF862", "", true},
    {TextField::TlsJa4, kIs, "771,4865-4866", "8daaf6152771_02713d6af862"},
    {TextField::TlsJa4, kBegins, "t13", ""},
    {TextField::DnsQname, kIs, "a.example.", "write \"a.example\"", true},
    {named_text(0), kIs, "Any//thing.:80", ""},
};

TEST(TextForm, SaysWhatPacketsHaveInstead) {
    for (const Row& row : kRows) {
        const auto fault = find_form_fault({row.field, row.how, row.ignore_case, row.text});
        EXPECT_EQ(fault.has_value(), !row.says.empty()) << row.text << fault.value_or("");
        EXPECT_EQ(fault.value_or("").find("write \"2001\""), std::string::npos) << row.text;
        EXPECT_TRUE(!fault || fault->ends_with(row.says)) << row.text << *fault;
    }
}

// What a fault says to write is right.
TEST(TextForm, TheSpellingThatIsSaidHasNoFault) {
    for (const Row& row : kRows) {
        constexpr std::string_view kWrite = "write \"";
        if (!row.says.starts_with(kWrite) || row.says.find('\\') != std::string_view::npos) {
            continue;
        }
        const std::string_view meant =
            row.says.substr(kWrite.size(), row.says.size() - kWrite.size() - 1);
        EXPECT_EQ(find_form_fault({row.field, row.how, row.ignore_case, meant}), std::nullopt)
            << meant;
    }
}

TEST(TextForm, DoubtsMethodsInSmallLetters) {
    const auto doubt = [](std::string_view method, bool ignore_case = false) {
        return find_form_doubt({TextField::HttpMethod, kIs, ignore_case, method});
    };
    EXPECT_TRUE(doubt("get"));
    EXPECT_NE(doubt("Post")->find("is not \"POST\""), std::string::npos);
    EXPECT_FALSE(doubt("GET"));
    EXPECT_FALSE(doubt("purge"));
    EXPECT_FALSE(doubt("get", true));
    EXPECT_FALSE(find_form_doubt({TextField::HttpHost, kIs, false, "get"}));
}

// A wildcard of other programs is a byte here, and such a rule would match nothing.
TEST(TextForm, DoubtsWildcards) {
    const auto doubt = [](TextField field, TextHow how, std::string_view text) {
        return find_form_doubt({field, how, false, text}).value_or("");
    };
    constexpr std::string_view kBegin =
        " has `*` as it stands, which is no wildcard here; for any text write `";
    const auto writes = [&](std::string_view form) {
        return std::string{kBegin} + std::string{form};
    };
    EXPECT_EQ(doubt(TextField::HttpPath, kIs, "/api/*"),
              writes("starts_with(http.request.uri.path, \"/api/\")`"));
    EXPECT_EQ(doubt(TextField::HttpPath, TextHow::StartsWith, "/api/*"),
              writes("starts_with(http.request.uri.path, \"/api/\")`"));
    EXPECT_EQ(doubt(TextField::HttpHost, kIs, "*.a.example"),
              writes("ends_with(http.host, \".a.example\")`"));
    EXPECT_EQ(doubt(TextField::TlsSni, TextHow::EndsWith, "*.a.example"),
              writes("ends_with(tls.sni, \".a.example\")`"));
    EXPECT_EQ(doubt(TextField::HttpPath, kIs, "/a/*/b"),
              writes("matches` with a regular expression"));
    EXPECT_EQ(doubt(TextField::HttpPath, kIs, "/*/*"),
              writes("matches` with a regular expression"));
    EXPECT_EQ(doubt(TextField::HttpPath, TextHow::Contains, "/a/*"),
              writes("matches` with a regular expression"));
    EXPECT_EQ(doubt(TextField::HttpPath, kIs, "*"), "") << "that of OPTIONS *";
    EXPECT_EQ(doubt(TextField::HttpPath, kIs, "/api/"), "");
    EXPECT_EQ(doubt(TextField::HttpUserAgent, kIs, "curl/*"), "") << "any text may be one";
}

}  // namespace
}  // namespace sluice::text_form_test

#include "lib/policy/domains/suffix_list.hpp"

#include <gtest/gtest.h>
#include <libpsl.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace sluice::suffix_list_test {
namespace {

constexpr std::string_view kList = R"(// ===BEGIN ICANN DOMAINS===
com
uk
co.uk   // what follows a blank is no part of it

*.ck
!www.ck
*.kawasaki.jp
!city.kawasaki.jp
jp
公司.cn
cn
// ===BEGIN PRIVATE DOMAINS===
blogspot.com
a.b.c.example
)";

TEST(PublicSuffixes, TheRegisteredPartOfAName) {
    const auto rules = read_suffix_list(kList);
    ASSERT_TRUE(rules) << rules.error().what;
    ASSERT_TRUE(are_sound(*rules));
    const PublicSuffixes suffixes{*rules};
    struct Row {
        std::string_view host;
        std::string_view registered;
    };
    for (const Row& row : std::initializer_list<Row>{
             {"example.com", "example.com"},
             {"www.example.com", "example.com"},
             {"a.b.example.com", "example.com"},
             {"com", "com"},
             {"co.uk", "co.uk"},
             {"example.co.uk", "example.co.uk"},
             {"x.example.co.uk", "example.co.uk"},
             {"x.example.uk", "example.uk"},
             {"blogspot.com", "blogspot.com"},
             {"me.blogspot.com", "me.blogspot.com"},
             {"www.me.blogspot.com", "me.blogspot.com"},
             {"notblogspot.com", "notblogspot.com"},
             {"x.notblogspot.com", "notblogspot.com"},
             {"ck", "ck"},
             {"any.ck", "any.ck"},
             {"kawasaki.jp", "kawasaki.jp"},
             {"b.any.ck", "b.any.ck"},
             {"a.b.any.ck", "b.any.ck"},
             {"www.ck", "www.ck"},
             {"a.www.ck", "www.ck"},
             {"a.city.kawasaki.jp", "city.kawasaki.jp"},
             {"b.a.x.kawasaki.jp", "a.x.kawasaki.jp"},
             {"www.xn--55qx5d.cn", "www.xn--55qx5d.cn"},
             {"a.www.xn--55qx5d.cn", "www.xn--55qx5d.cn"},
             {"a.b.c.example", "a.b.c.example"},
             {"x.a.b.c.example", "x.a.b.c.example"},
             {"b.c.example", "c.example"},
             {"host", "host"},
             {"a.b.unknown", "b.unknown"},
             {"192.0.2.1", "192.0.2.1"},
             {"[2001:db8::1]", "[2001:db8::1]"},
             {"", ""},
             {".", "."},
             {"x.a\\.b.unknown", "a\\.b.unknown"},
             {"x.a\\\\.b.unknown", "b.unknown"},
             {"a\\.unknown", "a\\.unknown"},
             {"\\.", "\\."},
             {"..com", ".com"},
             {".com", ".com"},
         }) {
        EXPECT_EQ(suffixes.registrable_domain(row.host), row.registered) << row.host;
    }
}

TEST(SuffixList, WhatIsNoRuleIsNamedByItsLine) {
    for (const char* line : {"!", "*.", "a..b", "\xFF\xFE"}) {
        const auto rules = read_suffix_list(std::string{"com\n"} + line + "\n");
        ASSERT_FALSE(rules) << line;
        EXPECT_NE(rules.error().what.find("line 2"), std::string::npos) << rules.error().what;
    }
    EXPECT_TRUE(read_suffix_list("")->empty());
    EXPECT_FALSE(are_sound({{"a", 1}, {"a", 2}}));
    EXPECT_FALSE(are_sound({{"", 1}}));
    EXPECT_FALSE(are_sound({{std::string(254, 'a'), 1}}));
    EXPECT_FALSE(are_sound({{"a", 0}}));
}

std::string whole_list() {
    std::ifstream file{kSuffixListFile, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

// A host below a name of the list, or one that is cut out of it.
std::string host_near(const SuffixRule& rule, std::mt19937_64& dice) {
    std::string host = rule.name;
    for (std::uint64_t more = dice() % 4; more > 0; --more) {
        host = std::string(1, static_cast<char>('a' + dice() % 3)) + "." + host;
    }
    const std::size_t dot = host.find('.');
    return dice() % 4 == 0 && dot != std::string::npos ? host.substr(dot + 1) : host;
}

// libpsl reads the same file by code of its own.
TEST(PublicSuffixes, AgreeWithLibpslOverTheWholeList) {
    const std::string text = whole_list();
    ASSERT_FALSE(text.empty()) << "the package publicsuffix is not installed";
    const auto rules = read_suffix_list(text);
    ASSERT_TRUE(rules) << rules.error().what;
    ASSERT_GT(rules->size(), 5000U);
    const PublicSuffixes suffixes{*rules};
    const std::unique_ptr<psl_ctx_t, decltype(&psl_free)> oracle{psl_load_file(kSuffixListFile),
                                                                 &psl_free};
    ASSERT_NE(oracle, nullptr);
    constexpr std::uint64_t kSeed = 20261123;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    std::mt19937_64 dice{kSeed};
    for (unsigned i = 0; i < 100'000; ++i) {
        const std::string host = host_near((*rules)[dice() % rules->size()], dice);
        const char* const expected = psl_registrable_domain(oracle.get(), host.c_str());
        ASSERT_EQ(suffixes.registrable_domain(host), expected == nullptr ? host : expected) << host;
    }
}

}  // namespace
}  // namespace sluice::suffix_list_test

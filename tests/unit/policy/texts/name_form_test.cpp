#include "lib/policy/texts/name_form.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::name_form_test {
namespace {

struct Row {
    std::string_view text;
    std::string_view says;  // empty: it is a name, or nothing that is known
};

const Row kRows[] = {
    {"0.0.0.0 evil.example", "a line of a hosts file; write \"evil.example\""},
    {"127.0.0.1\tevil.example other.example", "a line of a hosts file; write \"evil.example\""},
    {"::1 evil.example", "a line of a hosts file; write \"evil.example\""},
    {"address=/evil.example/0.0.0.0", "a line of dnsmasq; write \"evil.example\""},
    {"||evil.example^", "a filter of Adblock; write \"evil.example\""},
    {"@@||evil.example^$third-party", "a filter of Adblock; write \"evil.example\""},
    {"|https://evil.example/", "a filter of Adblock; write \"evil.example\""},
    {"||ads.*.example^", "a filter of Adblock"},
    {"! Title: names", "a comment of an Adblock list"},
    {"[Adblock Plus 2.0]", "a comment of an Adblock list"},
    {"https://u@evil.example:8443/a?b", "a URL; write \"evil.example\""},
    {"http://[2001:db8::1]:80/", "a URL; write \"[2001:db8::1]\""},
    {"*.evil.example", "ends_with(http.host, \".evil.example\")"},
    {".evil.example", "write \"evil.example\" for that name"},
    {"a*.example", "http.host matches"},
    {"evil.example", ""},
    {"[2001:db8::1]", ""},
    {"a_b-c.example", ""},
    {"xn--bcher-kva.example", ""},
};

TEST(NameForm, FormsOfOtherProgramsAreToldWithTheNameInThem) {
    for (const Row& row : kRows) {
        const auto fault =
            find_name_form_fault({TextField::HttpHost, TextHow::Equals, false, row.text});
        EXPECT_EQ(fault.has_value(), !row.says.empty()) << row.text;
        EXPECT_NE(fault.value_or("").find(row.says), std::string::npos)
            << row.text << ": " << fault.value_or("");
    }
}

TEST(NameForm, ASlashTellsAUrlButInAQueriedName) {
    const auto fault_of = [](TextField field, TextHow how, std::string_view text) {
        return find_name_form_fault({field, how, false, text}).has_value();
    };
    EXPECT_TRUE(fault_of(TextField::TlsSni, TextHow::Equals, "evil.example/a"));
    EXPECT_TRUE(fault_of(TextField::QuicSni, TextHow::StartsWith, "https://"));
    EXPECT_FALSE(fault_of(TextField::DnsQname, TextHow::Equals, "0/25.2.0.192.in-addr.arpa"));
    EXPECT_FALSE(fault_of(TextField::HttpHost, TextHow::EndsWith, ".evil.example"));
    EXPECT_TRUE(fault_of(TextField::HttpHost, TextHow::EndsWith, "*.evil.example"));
    EXPECT_FALSE(fault_of(TextField::DnsQname, TextHow::Equals, "."));
}

}  // namespace
}  // namespace sluice::name_form_test

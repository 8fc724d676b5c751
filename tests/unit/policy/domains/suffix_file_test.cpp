#include "lib/policy/domains/suffix_file.hpp"

#include "lib/policy/compile.hpp"
#include "lib/policy/domains/suffix_list.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::suffix_file_test {
namespace {

using test::lists_of;
using test::Outcome;

const std::string kHead = "version: 1\nrules:\n";
const std::string kTests =
    "  - {id: t, mode: enforce, on_match: drop, when: 'registrable_domain(tls.sni) eq \"a.uk\"'}\n";
const std::string kGroups =
    "  - {id: g, mode: enforce, key: ['registrable_domain(http.host)'], per: request,\n"
    "     limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n";
const std::string kNeither = "  - {id: n, on_match: drop, when: 'tls.sni eq \"a.uk\"'}\n";

Outcome compile(const std::string& rules, const ListReader& files,
                Purpose purpose = Purpose::Enforce) {
    const std::string text = kHead + rules;
    return test::compile({.file = "rules", .text = text, .lists = &files}, purpose);
}
const ListReader kFiles = lists_of({{kSuffixListFile, "uk\nco.uk\n"}});
const ListReader kNoFiles = lists_of({});

// The list crosses the wire with the rules that need it, and with no others.
TEST(SuffixFile, GoesWithTheRulesThatNeedIt) {
    const std::vector<SuffixRule> expected{{"co.uk", SuffixRule::kExact},
                                           {"uk", SuffixRule::kExact}};
    for (const std::string& rules : {kTests, kGroups, kTests + kGroups + kNeither}) {
        const Outcome outcome = compile(rules, kFiles);
        ASSERT_TRUE(outcome.rules) << outcome.problems.front().message;
        ASSERT_NE(outcome.rules->set.suffixes, nullptr);
        EXPECT_EQ(*outcome.rules->set.suffixes, expected);
        EXPECT_EQ(find_fault(outcome.rules->set), std::nullopt);
    }
    std::string off = kTests;
    off.replace(off.find("enforce"), 7, "\"off\"");
    for (const std::string& rules : {kNeither, off}) {
        const Outcome outcome = compile(rules, kFiles);
        ASSERT_TRUE(outcome.rules);
        EXPECT_EQ(outcome.rules->set.suffixes, nullptr);
    }
}

TEST(SuffixFile, IsReadOnceAndOnlyWhereARuleNeedsIt) {
    std::vector<std::string> asked;
    const ListReader files = [&](const std::string& path) {
        asked.push_back(path);
        return kFiles(path);
    };
    EXPECT_TRUE(compile(kNeither, files).rules);
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(compile(kTests + kGroups, files).rules);
    EXPECT_EQ(asked, std::vector<std::string>{kSuffixListFile});
}

TEST(SuffixFile, ThatIsMissingIsAWarningForCheckAndAnErrorForEnforce) {
    for (const auto& [rules, column] : {std::pair{kTests, 51U}, std::pair{kGroups, 35U}}) {
        const Outcome checked = compile(rules, kNoFiles, Purpose::Check);
        EXPECT_TRUE(checked.rules);
        ASSERT_EQ(checked.problems.size(), 1U);
        EXPECT_EQ(checked.problems[0].severity, Severity::Warning);
        EXPECT_EQ(checked.problems[0].at.line, 3U);
        EXPECT_EQ(checked.problems[0].at.column, column);
        EXPECT_NE(checked.problems[0].message.find("needs the list of public suffixes"),
                  std::string::npos);
        const Outcome enforced = compile(rules, kNoFiles);
        EXPECT_FALSE(enforced.rules);
        ASSERT_EQ(enforced.problems.size(), 1U);
        EXPECT_EQ(enforced.problems[0].severity, Severity::Error);
    }
}

TEST(SuffixFile, ThatIsNoListIsAnError) {
    const ListReader broken = lists_of({{kSuffixListFile, "uk\na..b\n"}});
    const Outcome outcome = compile(kTests, broken, Purpose::Check);
    EXPECT_FALSE(outcome.rules);
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_NE(outcome.problems[0].message.find("line 2 is no rule"), std::string::npos)
        << outcome.problems[0].message;
}

// What no packet can have is an error, as far as the list is known.
TEST(SuffixFile, SaysWhichDomainsThereAre) {
    const auto when = [](const std::string& condition) {
        return "  - {id: t, mode: enforce, on_match: drop, when: '" + condition + "'}\n";
    };
    struct Row {
        std::string condition;
        std::string_view says;  // empty: nothing
    };
    for (const Row& row : std::vector<Row>{
             {"registrable_domain(http.host) eq \"www.A.co.uk\"",
              "registrable_domain(http.host) is never so: it has one label more than a public "
              "suffix; write \"a.co.uk\""},
             {"registrable_domain(dns.qname) in {\"a.uk\" \"b.a.uk\"}", "write \"a.uk\""},
             {"registrable_domain(dns.qname) ne \"b.a.uk\"", "write \"a.uk\""},
             {"lower(registrable_domain(tls.sni)) eq \"b.a.uk\"", "write \"a.uk\""},
             {"registrable_domain(http.host) eq \"A.co.uk\"", ""},
             {"registrable_domain(http.host) eq \"co.uk\"", ""},
             {"registrable_domain(http.host) eq \"192.0.2.1\"", ""},
             {"ends_with(registrable_domain(http.host), \"b.a.uk\")", ""},
             {"registrable_domain(http.host) contains \"b.a.uk\"", ""}}) {
        const Outcome outcome = compile(when(row.condition), kFiles);
        EXPECT_EQ(outcome.rules.has_value(), row.says.empty()) << row.condition;
        if (!row.says.empty()) {
            ASSERT_EQ(outcome.problems.size(), 1U) << row.condition;
            EXPECT_NE(outcome.problems[0].message.find(row.says), std::string::npos)
                << outcome.problems[0].message;
        }
    }
    EXPECT_TRUE(
        compile(when("registrable_domain(http.host) eq \"www.a.uk\""), kNoFiles, Purpose::Check)
            .rules);
}

}  // namespace
}  // namespace sluice::suffix_file_test

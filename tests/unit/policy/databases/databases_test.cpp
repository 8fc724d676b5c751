#include "lib/policy/databases/databases.hpp"

#include "tests/packets/list_files.hpp"
#include "tests/packets/mmdb_bytes.hpp"

#include "lib/packet/country.hpp"

#include <gtest/gtest.h>

namespace sluice::databases_test {
namespace {

namespace mmdb = test::mmdb;

struct Compiled {
    std::optional<CompiledRules> rules;
    std::vector<Problem> problems;

    [[nodiscard]] std::string all() const {
        std::string text;
        for (const Problem& problem : problems) {
            text += std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column) +
                    (problem.severity == Severity::Error ? ": error: " : ": warning: ") +
                    problem.message + "\n";
        }
        return text;
    }
};

Compiled compile(const std::string& text, Purpose purpose = Purpose::Enforce) {
    const std::string countries = test::MmdbBytes{{6, 24, "Test-Country"}}
                                      .add("10.0.0.0/8", mmdb::country("NL"))
                                      .add("2001:db8::/32", mmdb::country("DE"))
                                      .bytes();
    const std::string systems = test::MmdbBytes{{6, 24, "Test-ASN"}}
                                    .add("10.0.0.0/9", mmdb::asn(64'500))
                                    .add("11.0.0.0/8", mmdb::asn(64'501))
                                    .bytes();
    const ListReader files = test::lists_of({{"c.mmdb", countries},
                                             {"a.mmdb", systems},
                                             {"broken.mmdb", countries.substr(0, 100)},
                                             {"codes", "NL\nDE\n"},
                                             {"odd", "nl\nd1\n"},
                                             {"numbers", "64500\n64501\n"}});
    Problems problems{"rules"};
    Compiled compiled;
    compiled.rules = compile_rules({"rules", text, &files}, purpose, {}, problems);
    compiled.problems = problems.list();
    return compiled;
}

std::string rule(const std::string& when, const std::string& key = "[ip.src]") {
    return "rules: [{id: a, mode: enforce, when: '" + when + "', key: " + key +
           ", limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}]}]\n";
}

const std::string kBoth = "version: 1\ndata: {country_db: c.mmdb, asn_db: a.mmdb}\n";

TEST(Databases, OnlyWhatRulesAskIsCarried) {
    struct Case {
        std::string when;
        std::string key;
        std::vector<Field> asked;
        std::size_t origins;  // different ones, with "none"
    };
    const std::vector<Case> cases{
        {R"(ip.src.country eq "NL")", "[ip.src]", {Field::IpSrcCountry}, 3},
        {"ip.dst.asn ge 64500", "[ip.src]", {Field::IpDstAsn}, 3},
        {"ip.ttl eq 1", "[ip.dst.country]", {Field::IpDstCountry}, 3},
        {R"(not ip.src.country in {"NL" "DE"} and ip.ttl eq 1)",
         "[ip.src.asn, ip.src.country]",
         {Field::IpSrcCountry, Field::IpSrcAsn},
         5},
        {"ip.ttl eq 1", "[ip.src]", {}, 0},
    };
    for (const Case& one : cases) {
        const Compiled compiled = compile(kBoth + rule(one.when, one.key));
        ASSERT_TRUE(compiled.rules) << compiled.all();
        const auto& origins = compiled.rules->set.origins;
        ASSERT_EQ(origins != nullptr, !one.asked.empty()) << one.when;
        if (origins != nullptr) {
            FieldSet asked;
            for (const Field field : one.asked) {
                asked.add(field);
            }
            EXPECT_EQ(origins->asked, asked) << one.when;
            EXPECT_EQ(origins->origins.size(), one.origins) << one.when;
            EXPECT_TRUE(are_sound(*origins)) << one.when;
        }
    }
}

TEST(Databases, ARuleThatIsOffAsksNothing) {
    const Compiled compiled = compile(
        kBoth + R"(rules: [{id: a, mode: "off", when: 'ip.src.country eq "NL"', on_match: drop}])" +
        "\n");
    ASSERT_TRUE(compiled.rules) << compiled.all();
    EXPECT_EQ(compiled.rules->set.origins, nullptr);
}

TEST(Databases, TheTablesJoinBothDatabases) {
    const Compiled compiled =
        compile(kBoth + rule(R"(ip.src.country eq "NL" and ip.src.asn eq 64500)"));
    ASSERT_TRUE(compiled.rules) << compiled.all();
    const GeoParts& parts = *compiled.rules->set.origins;
    const std::uint32_t nl = country_number("NL");
    const std::vector<std::pair<std::uint64_t, GeoOrigin>> expected{{0, {0, 0}},
                                                                    {0x0A00'0000, {64'500, nl}},
                                                                    {0x0A80'0000, {0, nl}},
                                                                    {0x0B00'0000, {64'501, 0}},
                                                                    {0x0C00'0000, {0, 0}}};
    ASSERT_EQ(parts.steps.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(parts.steps[i].first, expected[i].first);
        EXPECT_EQ(parts.origins[parts.steps[i].row], expected[i].second) << i;
    }
    EXPECT_EQ(parts.v6_steps.size(), 3U);
}

TEST(Databases, WhatIsWrongIsSaidAtItsPlace) {
    struct Case {
        std::string text;
        std::string problem;
    };
    const std::string country = R"(ip.src.country eq "NL")";
    const std::vector<Case> cases{
        {"version: 1\n" + rule(country),
         "2:39: error: ip.src.country needs a database: the file has no `country_db` in `data`"},
        {"version: 1\ndata: {country_db: c.mmdb}\n" + rule(country, "[ip.src.country, ip.src.asn]"),
         ": error: ip.src.asn needs a database: the file has no `asn_db` in `data`"},
        {kBoth + rule(R"(ip.src.country eq "n1")"),
         "3:57: error: ip.src.country is a code of two letters, such as \"NL\"; found \"n1\""},
        {kBoth + rule(R"(ip.src.country in {"NL" "NLD"})"), "found \"NLD\"\n"},
        {kBoth + rule("ip.src.country eq NL"), "a text in double quotes for ip.src.country"},
        {kBoth + rule(R"(ip.src.country lt "NL")"), "orders numbers"},
        {kBoth + rule("ip.src.country"), "an operator after ip.src.country"},
        {kBoth + rule(R"(ip.src.asn eq "AS7")"), "a value for ip.src.asn (without quotes)"},
        {kBoth + rule("ip.src.asn eq 4294967296"), "4294967295"},
        {kBoth + rule(R"(ip.src.contry eq "NL")"), "did you mean `ip.src.country`?"},
        {"version: 1\ndata: {country_db: gone.mmdb}\n" + rule(country), "2:20: error: cannot read"},
        {"version: 1\ndata: {country_db: broken.mmdb}\n" + rule(country),
         "2:20: error: broken.mmdb is no good MMDB file"},
        {"version: 1\ndata: {country_db: a.mmdb}\n" + rule(country),
         "2:20: error: a.mmdb holds nothing of what is looked for; it is a database of type "
         "Test-ASN"},
        {"version: 1\ndata: {country_db: ''}\n" + rule(country),
         "2:20: error: `country_db` is the path of a file"},
        {"version: 1\ndata: {country_db: [c.mmdb]}\n" + rule(country), "2:20: error: "},
        {"version: 1\ndata: {country_db: c.mmdb, lists: {l: {type: string, file: odd}}}\n" +
             rule("ip.src.country in $l"),
         "$l holds \"d1\" (odd:2): ip.src.country is a code of two letters, such as \"NL\"; found "
         "\"d1\""},
    };
    for (const Case& one : cases) {
        const Compiled compiled = compile(one.text, Purpose::Enforce);
        EXPECT_NE(compiled.all().find(one.problem), std::string::npos)
            << one.text << compiled.all();
        EXPECT_FALSE(compiled.rules.has_value()) << one.text;
        EXPECT_EQ(compiled.all().find("no rule asks"), std::string::npos) << compiled.all();
    }
}

TEST(Databases, CheckWarnsOfAFileThatIsNotThere) {
    const std::string text =
        "version: 1\ndata: {country_db: gone.mmdb}\n" + rule(R"(ip.src.country eq "NL")");
    const Compiled checked = compile(text, Purpose::Check);
    ASSERT_TRUE(checked.rules) << checked.all();
    EXPECT_EQ(checked.all(), "2:20: warning: cannot read the list gone.mmdb\n");
    EXPECT_FALSE(checked.rules->databases.front().known);
}

TEST(Databases, OtherThanOneCountryIsEveryOther) {
    const Compiled compiled = compile(kBoth + rule(R"(ip.src.country ne "NL")"));
    ASSERT_TRUE(compiled.rules) << compiled.all();
    const std::vector<NumberRange>& ranges = compiled.rules->rules.front().condition.leaf.numbers;
    ASSERT_EQ(ranges.size(), 2U);
    EXPECT_EQ(country_text(static_cast<std::uint16_t>(ranges[0].first)), "AA");
    EXPECT_EQ(country_text(static_cast<std::uint16_t>(ranges[0].last)), "NK");
    EXPECT_EQ(country_text(static_cast<std::uint16_t>(ranges[1].first)), "NM");
    EXPECT_EQ(country_text(static_cast<std::uint16_t>(ranges[1].last)), "ZZ");
}

TEST(Databases, OneThatNobodyAsksIsSaid) {
    const Compiled compiled = compile(kBoth + rule(R"(ip.src.country eq "NL")"));
    EXPECT_EQ(compiled.all(), "2:28: warning: no rule asks `asn_db`\n");
    ASSERT_TRUE(compiled.rules);
    const std::vector<DatabaseSummary>& databases = compiled.rules->databases;
    ASSERT_EQ(databases.size(), 2U);
    EXPECT_EQ(databases[0].key, "country_db");
    EXPECT_EQ(databases[0].type, "Test-Country");
    EXPECT_EQ(databases[0].ranges, 6U);
    EXPECT_EQ(databases[1].file, "a.mmdb");
}

TEST(Databases, ListsOfCodesAndNumbersFit) {
    const std::string data =
        "version: 1\ndata: {country_db: c.mmdb, asn_db: a.mmdb, lists: {c: {type: string, file: "
        "codes}, n: {type: number, file: numbers}}}\n";
    const Compiled compiled = compile(data + rule("ip.src.country in $c or ip.dst.asn in $n"));
    EXPECT_TRUE(compiled.rules) << compiled.all();
}

}  // namespace
}  // namespace sluice::databases_test

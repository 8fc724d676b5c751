#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

// Several files as one set.
namespace sluice::joined_files_test {
namespace {

struct Named {
    std::string file;
    std::string text;
    std::string folder = "/etc/rules.d";
};

struct Outcome {
    std::optional<CompiledRules> compiled;
    std::vector<std::string> problems;
};

Outcome compile(const std::vector<Named>& files, const ListReader* lists = nullptr) {
    std::vector<RuleFilePart> parts;
    for (const Named& one : files) {
        parts.push_back({one.file, one.text, one.folder});
    }
    Problems problems{"rules.d"};
    Outcome outcome;
    outcome.compiled =
        compile_rules({.file = "rules.d", .text = {}, .lists = lists, .parts = parts},
                      Purpose::Enforce, {}, problems);
    for (const Problem& problem : problems.list()) {
        std::string_view text;
        for (const Named& one : files) {
            text = one.file == problem.file ? std::string_view{one.text} : text;
        }
        outcome.problems.push_back(render(problem, text));
    }
    return outcome;
}

const std::string kRule = "version: 1\nrules:\n  - {id: a, when: ip.ttl eq 1, on_match: drop}";

TEST(JoinedFiles, AreOneSetInTheirOrder) {
    const Outcome outcome = compile(
        {{"b.yaml", kRule},
         {"limits.yaml",
          "version: 1\nlimits:\n  small: {algorithm: token_bucket, rate: 1/s, "
          "burst: 2}\ndefaults: {mode: enforce}\n"},
         {"a.yaml", "\xEF\xBB\xBFversion: 1\nrules:\n  - {id: c, key: [], limits: [small]}\n"}});
    ASSERT_TRUE(outcome.compiled);
    EXPECT_TRUE(outcome.problems.empty());
    ASSERT_EQ(outcome.compiled->rules.size(), 2U);
    EXPECT_EQ(outcome.compiled->rules[0].id, "a");
    EXPECT_EQ(outcome.compiled->rules[0].file, "b.yaml");
    EXPECT_EQ(outcome.compiled->rules[0].line, 3U);
    EXPECT_EQ(outcome.compiled->rules[0].mode, Mode::Enforce);
    EXPECT_EQ(outcome.compiled->rules[1].id, "c");
    EXPECT_EQ(outcome.compiled->rules[1].file, "a.yaml");
    EXPECT_EQ(outcome.compiled->rules[1].line, 3U);
}

TEST(JoinedFiles, ShowEachProblemInItsFile) {
    const Outcome outcome =
        compile({{"a.yaml", kRule},
                 {"b.yaml", "version: 1\nrules:\n  - {id: b, when: ip.srcc eq 1.1.1.1}\n"},
                 {"c.yaml", "version: 1\nrules:\n\t- x\n"},
                 {"d.yaml", ""}});
    EXPECT_FALSE(outcome.compiled);
    const std::string all = testing::PrintToString(outcome.problems);
    EXPECT_NE(all.find("c.yaml:3:1: error: indent with spaces"), std::string::npos) << all;
    EXPECT_NE(all.find("d.yaml:1:1: error: a rule file begins with `version: 1`"),
              std::string::npos)
        << all;
    const Outcome condition =
        compile({{"a.yaml", kRule},
                 {"b.yaml",
                  "version: 1\nrules:\n  - {id: b, when: ip.srcc eq 1.1.1.1, on_match: drop}\n"}});
    ASSERT_EQ(condition.problems.size(), 1U);
    EXPECT_TRUE(condition.problems[0].starts_with("b.yaml:3:19: error: ")) << condition.problems[0];
    EXPECT_NE(condition.problems[0].find("\n  " + std::string(18, ' ') + "^"), std::string::npos)
        << condition.problems[0];
}

TEST(JoinedFiles, NameBothPlacesOfWhatStandsTwice) {
    const Outcome rules = compile({{"a.yaml", kRule}, {"b.yaml", "\n" + kRule}});
    ASSERT_EQ(rules.problems.size(), 1U);
    EXPECT_TRUE(rules.problems[0].starts_with(
        "b.yaml:4:10: error: two rules are called `a`; the first stands at a.yaml:3:10"))
        << rules.problems[0];
    const std::string more =
        "version: 1\nlimits: {x: {algorithm: token_bucket, rate: 1/s, burst: 1}}\ndefaults: {mode: "
        "enforce}\nclient_ip: {v4_bits: 24}\ndata: {asn_db: x, lists: {l: {type: cidr, file: "
        "l}}}\n";
    const Outcome others = compile({{"a.yaml", kRule}, {"b.yaml", more}, {"c.yaml", more}});
    const std::string all = testing::PrintToString(others.problems);
    for (const char* what :
         {"c.yaml:2:10: error: two limits are called `x`; the first stands at b.yaml:2:10",
          "c.yaml:3:1: error: the files give `defaults` twice; the first stands at b.yaml:3:1",
          "c.yaml:4:1: error: the files give `client_ip` twice; the first stands at b.yaml:4:1",
          "c.yaml:5:8: error: the files give `asn_db` twice; the first stands at b.yaml:5:8",
          "c.yaml:5:27: error: two lists are called `l`; the first stands at b.yaml:5:27"}) {
        EXPECT_NE(all.find(what), std::string::npos) << what << "\n" << all;
    }
}

TEST(JoinedFiles, WantAListOfRulesInOneOfThem) {
    const Outcome none = compile({{"a.yaml", "version: 1\n"}, {"b.yaml", "version: 1\n"}});
    ASSERT_EQ(none.problems.size(), 1U);
    EXPECT_NE(none.problems[0].find("a rule file has `rules`"), std::string::npos);
    const Outcome cut = compile({{"a.yaml", kRule}, {"b.yaml", "version: 1\nrules:\n"}});
    ASSERT_EQ(cut.problems.size(), 1U);
    EXPECT_TRUE(cut.problems[0].starts_with("b.yaml:2:1: error: `rules` is a list"))
        << cut.problems[0];
    EXPECT_FALSE(compile({{"a.yaml", kRule}, {"b.yaml", "version: 2\n"}}).compiled);
    EXPECT_FALSE(compile({{"a.yaml", kRule}, {"b.yaml", "- x\n"}}).compiled);
}

TEST(JoinedFiles, ReadListsBesideTheirFile) {
    std::map<std::string, int> asked;
    const ListReader lists = [&](const std::string& path) -> Result<ListFile> {
        ++asked[path];
        return ListFile{path, std::make_shared<const std::string>("192.0.2.0/24\n")};
    };
    const std::string one =
        "version: 1\ndata: {lists: {%: {type: cidr, file: bad.txt}}}\nrules:\n  - {id: %, when: "
        "ip.src in $%, on_match: drop}\n";
    const auto with = [&](const std::string& name) {
        std::string text = one;
        for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%')) {
            text.replace(at, 1, name);
        }
        return text;
    };
    const Outcome outcome = compile(
        {{"a.yaml", with("a")}, {"b.yaml", with("b")}, {"c.yaml", with("c"), "/srv/x"}}, &lists);
    ASSERT_TRUE(outcome.compiled) << testing::PrintToString(outcome.problems);
    EXPECT_EQ(asked["bad.txt"], 2);
    EXPECT_EQ(asked["/srv/x/bad.txt"], 1);
}

TEST(JoinedFiles, AreBounded) {
    std::vector<Named> many(kMaxRuleFiles + 1, {"x.yaml", "version: 1\n"});
    const Outcome outcome = compile(many);
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_NE(outcome.problems[0].find("at most 256 files"), std::string::npos);
}

}  // namespace
}  // namespace sluice::joined_files_test

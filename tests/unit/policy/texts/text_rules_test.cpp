#include "lib/policy/compile.hpp"

#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

// Rule files whose conditions ask texts: what `check` and `apply` say of them.
namespace sluice::text_rules_test {
namespace {

using test::Outcome;

Outcome compile(const std::string& text, const ListReader* lists = nullptr) {
    return test::compile({"r", text, lists});
}

std::string rule(std::size_t number, const std::string& when) {
    return "  - {id: r" + std::to_string(number) +
           ", mode: enforce, on_match: drop, when: " + when + "}\n";
}
const std::string kHead = "version: 1\nrules:\n";

struct Row {
    std::string when;  // as in the file
    std::uint32_t line;
    std::uint32_t column;
    std::string_view says;
};
// Each is refused, and the first problem stands there and says so.
void expect_refused(std::span<const Row> rows) {
    for (const Row& row : rows) {
        const Outcome outcome = compile(kHead + rule(0, row.when));
        EXPECT_FALSE(outcome.rules) << row.when;
        ASSERT_FALSE(outcome.problems.empty()) << row.when;
        const Problem& problem = outcome.problems.front();
        EXPECT_NE(problem.message.find(row.says), std::string::npos) << problem.message;
        EXPECT_EQ(problem.at.line, row.line) << row.when;
        EXPECT_EQ(problem.at.column, row.column) << row.when;
    }
}

TEST(TextRules, ErrorsStandWhereThePatternIsWrong) {
    const Row rows[] = {
        {"'payload matches \"ab(c\"'", 3, 71, "Missing close parenthesis"},
        {"\"payload matches \\\"ab(c\\\"\"", 3, 72, "Missing close parenthesis"},
        {"'payload matches \"(a)\\1\"'", 3, 68, "back references"},
        {"'lower(payload) matches \"(?<=a)b\"'", 3, 75, "look-behind"},
        {"'payload contains \"\"'", 3, 69, "the empty text"},
        {"'payload matches \"" + std::string(1025, 'a') + "\"'", 3, 68, "at most 1024 bytes"},
        {"'payload contains \"" + std::string(1025, 'a') + "\"'", 3, 69, "at most 1024 bytes"},
        {"'payload eq \"" + std::string(4097, 'a') + "\"'", 3, 63, "at most 4096 bytes"},
    };
    expect_refused(rows);
}

// A spelling of a name that no packet has would make a rule that never matches.
TEST(TextRules, NamesAreWrittenAsPacketsHaveThem) {
    const ListReader lists = [](const std::string& path) -> Result<ListFile> {
        return ListFile{path, std::make_shared<const std::string>("good.example\nbad.example.\n")};
    };
    const auto said = [&](const std::string& when) {
        const Outcome outcome = compile(
            "version: 1\ndata: {lists: {l: {type: string, file: l}}}\nrules:\n" + rule(0, when),
            &lists);
        const auto error = std::ranges::find(outcome.problems, Severity::Error, &Problem::severity);
        return error == outcome.problems.end() ? std::string{} : error->message;
    };
    const std::pair<std::string, std::string_view> wrong[] = {
        {"'dns.qname eq \"bad.example.\"'", "write \"bad.example\""},
        {"'dns.qname ne \"bad.example..\"'", "write \"bad.example\""},
        {"'dns.qname in {\"a\" \"bad.example.\"}'", "write \"bad.example\""},
        {"dns.qname in $l", "write \"bad.example\""},
        {"'ends_with(dns.qname, \".example.\")'", "write \".example\""},
        {"'dns.qname eq \"a b\"'", "write \"a\\\\032b\""},
        {"'starts_with(dns.qname, \"\u00FC.\")'", "write \"\\\\195\\\\188.\""},
        {"'dns.qname eq \"\"'", "write \".\""},
    };
    for (const auto& [when, says] : wrong) {
        EXPECT_NE(said(when).find(says), std::string::npos) << when << ": " << said(when);
    }
    for (const std::string right :
         {"'dns.qname eq \".\"'", "'dns.qname eq \"Bad.Example\"'", "'dns.qname eq \"a\\\\.\"'",
          "'dns.qname contains \"example.\"'", "'starts_with(dns.qname, \"www.\")'",
          "'ends_with(dns.qname, \".\")'", "'payload eq \"a b.\"'"}) {
        EXPECT_EQ(said(right), "") << right;
    }
}

// Of later layers, with what is written in them.
TEST(TextRules, NumbersAreWrittenInEitherBase) {
    const auto tests = [](const std::string& when) {
        const Outcome outcome = compile(kHead + rule(0, "'" + when + "'"));
        if (!outcome.rules) {
            return outcome.problems.front().message;
        }
        std::string texts;
        for (const TextEntry& entry : outcome.rules->set.classifier.parts().texts.entries) {
            texts += entry.text + ";";
        }
        return texts;
    };
    EXPECT_EQ(tests("quic.version eq 0x00000001"), "1;");
    EXPECT_EQ(tests("quic.version in {0x6b3343cf 1}"), "1;1798521807;");
    EXPECT_EQ(tests("quic.version le 0xff"), "0-255;");
    EXPECT_NE(tests("quic.version eq 0x100000000").find("not a number up to 4294967295"),
              std::string::npos);
    EXPECT_EQ(tests("quic.token_len gt 0"), "1-65535;");
    EXPECT_EQ(tests("tls.handshake.type eq 1"), "1;");
    EXPECT_EQ(tests("tls.handshake.type in {1 2}"), "1-2;");
    EXPECT_EQ(tests("tls.handshake.type ne 2"), "0-1;3-255;");
    EXPECT_EQ(tests("tls.handshake.type eq \"client_hello\""), "1;");
    EXPECT_EQ(tests("dns.qtype eq \"ANY\""), "255;");
    EXPECT_EQ(tests("dns.qtype in {\"a\" \"Aaaa\" 65}"), "1;28;65;");
    EXPECT_EQ(tests("dns.qtype ge \"TKEY\""), "249-65535;");
    EXPECT_EQ(tests("dns.qtype ne \"https\""), "0-64;66-65535;");
    EXPECT_NE(
        tests("tls.handshake.type in {1 \"client_helo\"}").find("did you mean `client_hello`?"),
        std::string::npos);
    EXPECT_NE(tests("quic.version eq \"1\"").find("without quotes"), std::string::npos);
}

TEST(TextRules, TooManyPatternsAreAnErrorWithTheirNumber) {
    std::string text = kHead;
    for (std::size_t number = 0; number < 33; ++number) {
        std::string when = "'payload contains \"" + std::to_string(number) + "x\"";
        for (int i = 1; i < 500; ++i) {
            when += " or payload contains \"" + std::to_string(number) + "," + std::to_string(i) +
                    ";\"";
        }
        text += rule(number, when + "'");
    }
    const Outcome outcome = compile(text);
    EXPECT_FALSE(outcome.rules);
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_EQ(outcome.problems[0].message,
              "the conditions name 16500 patterns (`contains` and `matches`) together, and at most "
              "16384 can be held");
}

TEST(TextRules, WhatCanNeverMatchIsSaid) {
    const Outcome outcome = compile(kHead + rule(0, "'payload eq \"a\" and not payload eq \"a\"'"));
    EXPECT_FALSE(outcome.rules);
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_NE(outcome.problems[0].message.find("can never match"), std::string::npos);
}

TEST(TextRules, AListOfTextsIsComparedWithTheWhole) {
    const ListReader lists = [](const std::string& path) -> Result<ListFile> {
        return ListFile{path, std::make_shared<const std::string>("abc\nx y\n")};
    };
    const Outcome outcome =
        compile("version: 1\ndata: {lists: {l: {type: string, file: l}}}\nrules:\n" +
                    rule(0, "payload in $l"),
                &lists);
    ASSERT_TRUE(outcome.rules) << outcome.problems.front().message;
    const TextParts& texts = outcome.rules->set.classifier.parts().texts;
    ASSERT_EQ(texts.entries.size(), 2U);
    EXPECT_EQ(texts.entries[1].text, "x y");
    EXPECT_EQ(texts.entries[1].how, TextHow::Equals);
}

// What the same rules are called does not depend on the order in which others stand beside them.
TEST(TextRules, OnesThatAreOffLeaveNothing) {
    const std::string off =
        "  - {id: off, mode: off, on_match: drop, when: 'payload contains "
        "\"q\" or payload eq \"z\"'}\n";
    const auto entries = [](const Outcome& outcome) {
        return outcome.rules->set.classifier.parts().texts.entries;
    };
    const std::string on = rule(0, "'payload contains \"a\"'");
    EXPECT_EQ(entries(compile(kHead + off + on)), entries(compile(kHead + on)));
}

TEST(TextRules, ATextIsAPartOfAKey) {
    const auto identity = [](const std::string& key) {
        const Outcome outcome =
            compile("version: 1\nrules:\n  - {id: a, mode: enforce, key: [" + key +
                    "], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n");
        return outcome.rules ? outcome.rules->set.rules[0].limits[0].identity : 0;
    };
    EXPECT_NE(identity("payload"), 0U);
    EXPECT_NE(identity("payload"), identity("lower(payload)"));
    EXPECT_NE(identity("payload"), identity("ip.src, payload"));
    EXPECT_NE(identity("http.host"), identity("tls.sni"));
    // By the name, in either case, and by nothing else that is named.
    const std::string key = "'http.request.headers[\"x-key\"]'";
    EXPECT_EQ(identity(key), identity("'http.request.headers[\"X-Key\"]'"));
    EXPECT_NE(identity(key), identity("'http.request.headers[\"x-kez\"]'"));
    EXPECT_NE(identity(key), identity("'http.cookies[\"x-key\"]'"));
    EXPECT_NE(identity("'http.cookies[\"x-key\"]'"), identity("'http.cookies[\"X-Key\"]'"));
}

// They are short, and take Hyperscan seconds or minutes: no more than its share of the time is
// spent on any of them, and the error is where it stands.
TEST(TextRules, PatternsThatTakeTooLongAreRefused) {
    const Row rows[] = {
        {"'payload matches \".{1,32000}x.{1,32000}\"'", 3, 70, "written out it is 64001 places"},
        {"'payload matches \"a(b{1,200}){1,200}\"'", 3, 80, "written out it is 40001 places"},
        {"'payload matches \"((((x{9}){9}){9}){9}){9}\"'", 3, 90, "59049 places"},
        {"'payload matches \"(a|b|ab)*c(d|e|f.){300}\"'", 3, 68, "too large"},
    };
    expect_refused(rows);
}

// Each of eight takes seconds: one of them is named, and without them the others are as they were.
TEST(TextRules, OneThatTakesTooLongIsNamed) {
    std::string text = kHead;
    for (std::size_t number = 0; number < 20; ++number) {
        text += rule(number, "'payload matches \"a.{0,20}b" + std::to_string(number) + "[cd]+\"'");
    }
    EXPECT_TRUE(compile(text).rules);
    for (std::size_t number = 20; number < 28; ++number) {
        text += rule(
            number, "'payload matches \"x.{1,4900}y.{1," + std::to_string(4860 + number) + "}z\"'");
    }
    const Outcome outcome = compile(text);
    ASSERT_FALSE(outcome.rules);
    const Problem& problem = outcome.problems.front();
    EXPECT_GE(problem.at.line, 23U);
    EXPECT_LE(problem.at.line, 30U);
    EXPECT_EQ(problem.at.column, 69U);
    EXPECT_NE(problem.message.find("takes too long"), std::string::npos) << problem.message;
}

}  // namespace
}  // namespace sluice::text_rules_test

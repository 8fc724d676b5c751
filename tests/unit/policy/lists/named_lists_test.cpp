#include "lib/policy/lists/named_lists.hpp"

#include "lib/match/text_parts.hpp"
#include "lib/policy/compile.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sluice::named_lists_test {
namespace {

using test::Outcome;

// Files that lie nowhere.
const std::map<std::string, std::string> kFiles{
    {"nets", "10.0.0.0/8\n2001:db8::/32 # documentation\n"},
    {"ports", "53\n8000-8999\n"},
    {"large", "70000\n"},
    {"words", "in\nout\n"},
    {"pairs", "uplink\nlab\n"},
    {"blocked", "# names\ngood.example\n\n  0.0.0.0 evil.example # one\n||bad.example^\n"},
    {"versions", "4\n5\n6\n"},
    {"ends", ".evil.example\n*.bad.example\n"},
    {"paths", "/a/*\n/b\n/c/*\n"},
    {"long", "short\n" + std::string(1025, 'x') + "\n"},
    {"many",
     [] {
         std::string text;
         for (std::size_t i = 0; i <= kMaxPatterns; ++i) {
             text += "word" + std::to_string(i) + "\n";
         }
         return text;
     }()},
    {"lands", "NL\nXYZ\n"},
    {"office", "10.1.0.0/16\n"},
    {"empty", "# nothing\n"},
    {"bad", "10.0.0.0/8\n10.0.0.1/8\n"},
    {"awful",
     [] {
         std::string text;
         for (int i = 0; i < 50; ++i) {
             text += "x\n";
         }
         return text;
     }()},
};

Result<ListFile> read_file(const std::string& path) {
    if (path == "huge") {
        return Error{Errc::TooMany, "the list huge is larger than 64 MiB"};
    }
    const auto found = kFiles.find(path);
    if (found == kFiles.end()) {
        return Error{Errc::Unreachable, "cannot read the list " + path + ": it is not there"};
    }
    return ListFile{"lists/" + path, std::make_shared<const std::string>(found->second)};
}

constexpr std::string_view kLists = R"yaml(version: 1
data:
  lists:
    nets: {type: cidr, file: nets}
    ports: {type: number, file: ports}
    large: {type: number, file: large}
    words: {type: string, file: words}
    pairs: {type: string, file: pairs}
    gone: {type: cidr, file: gone}
    blocked: {type: string, file: blocked}
    versions: {type: number, file: versions}
    lands: {type: string, file: lands}
    ends: {type: string, file: ends}
    paths: {type: string, file: paths}
    long: {type: string, file: long}
    many: {type: string, file: many}
rules:
  - {id: a, mode: enforce, on_match: drop, when: )yaml";
constexpr std::uint32_t kWhenLine = 18;
constexpr std::uint32_t kWhenColumn = 51;

Outcome compile(const std::string& text, Purpose purpose) {
    const ListReader files = read_file;
    return test::compile({"r", text, &files}, purpose);
}

Outcome compile_when(std::string_view when, Purpose purpose = Purpose::Check) {
    return compile(std::string{kLists} + "'" + std::string{when} + "'}\n", purpose);
}

struct Wrong {
    std::string_view when;
    std::uint32_t offset;
    std::string_view says;
};

const Wrong kWrong[] = {
    {"ip.src in $net", 10, "there is no list called $net; did you mean $nets?"},
    {"ip.src in $zzzzzz", 10, "there is no list called $zzzzzz"},
    {"ip.ttl eq 1 or ip.src in $ports", 25,
     "$ports is a list of type number, and ip.src takes one of type cidr"},
    {"l4.dport in $nets", 12, "is a list of type cidr, and l4.dport takes one of type number"},
    {"dir in $nets", 7, "takes one of type string"},
    {"l4.dport in $large", 12,
     "$large holds \"70000\" (lists/large:1), and l4.dport is at most 65535"},
    {"dir in $pairs", 7, "holds \"lab\" (lists/pairs:2), and dir is one of in, out"},
    {"eth.src in $words", 11, "no list holds values of eth.src"},
    {"prefix(ip.src, 24) in $nets", 22, "write `ip.src in $nets`"},
    {"l4.dport in $gone", 12, "is a list of type cidr"},
    {"http.host in $nets", 13, "takes one of type string"},
    {"http.host in $blocked", 13,
     "$blocked holds \"0.0.0.0 evil.example\" (lists/blocked:4) and 1 more such line: http.host "
     "has names alone: \"0.0.0.0 evil.example\" is a line of a hosts file; write "
     "\"evil.example\""},
    {"registrable_domain(tls.sni) in $blocked", 31, "(lists/blocked:4)"},
    {"dns.qname in $blocked", 13, "(lists/blocked:4)"},
    {"quic.sni in $blocked", 12,
     "(lists/blocked:4) and 1 more such line: quic.sni has names alone"},
    {"ip.version in $versions", 14,
     "$versions holds \"5\" (lists/versions:2), and ip.version is 4 or 6"},
    {"payload eq $words", 11, "a list stands behind `in`: write `payload in $words`"},
    {"payload ne $words", 11, "write `not payload in $words`"},
    {"payload matches $words", 16,
     "`matches` takes one regular expression, and a list holds texts; write `payload contains "
     "$words`"},
    {"payload contains $nets", 17, "$nets is a list of type cidr, and payload takes one of type"},
    {"starts_with(payload, $wrods)", 21, "there is no list called $wrods; did you mean $words?"},
    {"ip.src contains $words", 7, "compares text"},
    {"l4.dport in $ports or payload contains $many", 39,
     "$many holds 16385 texts, and all conditions together scan for at most 16384"},
    {"payload contains $long", 17, "a text has at most 1024 bytes here"},
    {"ends_with(http.host, $ends)", 21,
     "$ends holds \"*.bad.example\" (lists/ends:2): http.host has names alone: \"*.bad.example\" "
     "is "
     "a wildcard; write \".bad.example\""},
    {"starts_with(http.request.uri.path, $words)", 35,
     "$words holds \"in\" (lists/words:1) and 1 more such line: http.request.uri.path is never so: "
     "a path begins with a slash; write \"/in\""},
    {"proto.l7 contains $lands", 18, "$lands holds \"NL\" (lists/lands:1) and 1 more such line"},
    {"ip.src.country in $lands", 18, "$lands holds \"XYZ\" (lists/lands:2)"},
};

TEST(NamedLists, AListThatDoesNotFitIsAnErrorAtItsPlace) {
    for (const Wrong& row : kWrong) {
        const Outcome outcome = compile_when(row.when);
        EXPECT_FALSE(outcome.rules) << row.when;
        bool found = false;
        for (const Problem& problem : outcome.problems) {
            found = found || (problem.severity == Severity::Error && problem.file == "r" &&
                              problem.at.line == kWhenLine &&
                              problem.at.column == kWhenColumn + row.offset &&
                              problem.message.find(row.says) != std::string::npos);
        }
        EXPECT_TRUE(found) << row.when << ": "
                           << (outcome.problems.empty() ? "" : outcome.problems.back().message);
    }
}

TEST(NamedLists, WhatFitsCompilesForCheckAndForUse) {
    for (const std::string_view when :
         {"ip.src in $nets", "not ip.dst in $nets and l4.dport in $ports", "port in $pairs",
          "dir in $words", "l4.sport in $ports", "payload contains $words",
          "not lower(payload) contains $words and starts_with(payload, $many)",
          "ends_with(dns.qname, $long) or payload contains \"x\"", "payload in $many"}) {
        EXPECT_TRUE(compile_when(when).rules) << when;
    }
}

// Which problem mentions a text; nullptr: none.
const Problem* find(const Outcome& outcome, std::string_view text) {
    for (const Problem& problem : outcome.problems) {
        if (problem.message.find(text) != std::string::npos) {
            return &problem;
        }
    }
    return nullptr;
}

TEST(NamedLists, AStarInAListOfPathsIsOneWarningForAllOfItsLines) {
    const Outcome outcome = compile_when("starts_with(http.request.uri.path, $paths)");
    EXPECT_TRUE(outcome.rules);
    const Problem* warning =
        find(outcome, "$paths holds \"/a/*\" (lists/paths:1) and 1 more such line");
    ASSERT_NE(warning, nullptr);
    EXPECT_EQ(warning->severity, Severity::Warning);
    EXPECT_NE(warning->message.find("which is no wildcard here"), std::string::npos);
}

TEST(NamedLists, AMissingFileIsAWarningForCheckAndAnErrorToRun) {
    const Outcome checked = compile_when("ip.src in $gone", Purpose::Check);
    ASSERT_TRUE(checked.rules);
    const Problem* warning = find(checked, "cannot read the list gone");
    ASSERT_NE(warning, nullptr);
    EXPECT_EQ(warning->severity, Severity::Warning);
    EXPECT_EQ(warning->at.line, 9U);
    EXPECT_EQ(warning->at.column, 30U);
    EXPECT_EQ(find(checked, "can never match"), nullptr) << "nobody knows what it matches";
    const Outcome run = compile_when("ip.src in $gone", Purpose::Enforce);
    EXPECT_FALSE(run.rules);
    EXPECT_EQ(find(run, "cannot read the list gone")->severity, Severity::Error);
}

TEST(NamedLists, AListNobodyUsesIsAWarning) {
    const Outcome outcome = compile_when("ip.src in $nets");
    EXPECT_EQ(find(outcome, "no condition uses the list $nets"), nullptr);
    const Problem* warning = find(outcome, "no condition uses the list $ports");
    ASSERT_NE(warning, nullptr);
    EXPECT_EQ(warning->severity, Severity::Warning);
    EXPECT_EQ(warning->at.line, 5U);
}

TEST(NamedLists, ABadLineNamesTheListLineAndColumn) {
    const Outcome outcome = compile(
        "version: 1\ndata: {lists: {a: {type: cidr, file: bad}}}\nrules: []\n", Purpose::Check);
    EXPECT_FALSE(outcome.rules);
    const Problem* error = find(outcome, "the network is 10.0.0.0/8");
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->file, "lists/bad");
    EXPECT_EQ(error->at.line, 2U);
    EXPECT_EQ(error->at.column, 1U);
}

TEST(NamedLists, ManyBadLinesAreTwentyAndACount) {
    const Outcome outcome = compile(
        "version: 1\ndata: {lists: {a: {type: cidr, file: awful}}}\nrules: []\n", Purpose::Check);
    EXPECT_NE(find(outcome, "and 30 more such lines"), nullptr);
    EXPECT_EQ(outcome.problems.size(), 22U) << "and nobody uses it";
}

struct BadList {
    std::string_view lists;
    std::uint32_t column;  // in `lists: ...` of line 2
    std::string_view says;
};

const BadList kBadLists[] = {
    {"[]", 15, "map of names"},
    {"{a: 3}", 19, "must be a map"},
    {"{a: {type: cidr}}", 19, "needs `file`"},
    {"{a: {file: nets}}", 19, "needs `type`"},
    {"{a: {type: cird, file: nets}}", 26, "did you mean `cidr`?"},
    {"{a: {type: cidr, flie: nets}}", 32, "did you mean `file`?"},
    {"{a: {type: cidr, file: \"\"}}", 38, "the path of a file"},
    {"{a b: {type: cidr, file: nets}}", 16, "a list's name"},
    {"{a: {type: cidr, file: huge}}", 38, "larger than 64 MiB"},
};

TEST(NamedLists, EveryErrorSaysWhereAndWhat) {
    for (const BadList& row : kBadLists) {
        const Outcome outcome =
            compile("version: 1\ndata: {lists: " + std::string{row.lists} + "}\nrules: []\n",
                    Purpose::Check);
        EXPECT_FALSE(outcome.rules) << row.lists;
        const Problem* error = find(outcome, row.says);
        ASSERT_NE(error, nullptr) << row.lists;
        EXPECT_EQ(error->at.line, 2U) << row.lists;
        EXPECT_EQ(error->at.column, row.column) << row.lists;
    }
}

TEST(NamedLists, AnEmptyListIsSaidToBeOne) {
    const Outcome outcome = compile(
        "version: 1\ndata: {lists: {a: {type: cidr, file: empty}}}\nrules:\n"
        "  - {id: a, mode: enforce, when: ip.src in $a, on_match: drop}\n",
        Purpose::Enforce);
    EXPECT_TRUE(outcome.rules);
    EXPECT_NE(find(outcome, "has no entry"), nullptr);
    EXPECT_NE(find(outcome, "can never match"), nullptr);
}

// The file of a list may come to hold the other version: a rule that is read once stays readable.
TEST(NamedLists, OnePrefixLengthDoesNotHangOnWhatAListHoldsToday) {
    const auto with_key = [](std::string_view when, std::string_view key) {
        return compile(
            "version: 1\ndata: {lists: {a: {type: cidr, file: office}}}\nrules:\n"
            "  - {id: a, mode: enforce, when: '" +
                std::string{when} + "', key: [\"" + std::string{key} +
                "\"], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n",
            Purpose::Check);
    };
    const Outcome one = with_key("ip.src in $a", "prefix(ip.src, 24)");
    EXPECT_NE(find(one, "such as 24|64"), nullptr);
    EXPECT_TRUE(with_key("ip.src in $a", "prefix(ip.src, 24|64)").rules);
    EXPECT_TRUE(with_key("ip.version eq 4 and ip.src in $a", "prefix(ip.src, 24)").rules);
}

TEST(NamedLists, TheSummarySaysWhatWasRead) {
    const Outcome outcome = compile_when("ip.src in $nets");
    ASSERT_EQ(outcome.rules->lists.size(), 13U);
    const ListSummary& gone = outcome.rules->lists[2];
    EXPECT_EQ(gone.name, "gone");
    EXPECT_FALSE(gone.known);
    const ListSummary& ports = outcome.rules->lists[10];
    EXPECT_EQ(ports.name, "ports");
    EXPECT_EQ(ports.type, "number");
    EXPECT_EQ(ports.entries, 2U);
    EXPECT_TRUE(ports.known);
}

TEST(NamedLists, NoReaderIsNoList) {
    Problems problems{"r"};
    const std::string text =
        "version: 1\ndata: {lists: {a: {type: cidr, file: nets}}}\nrules: []\n";
    EXPECT_TRUE(compile_rules({"r", text}, Purpose::Check, {}, problems));
    EXPECT_FALSE(compile_rules({"r", text}, Purpose::Enforce, {}, problems));
}

}  // namespace
}  // namespace sluice::named_lists_test

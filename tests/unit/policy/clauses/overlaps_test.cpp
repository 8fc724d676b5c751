#include "lib/policy/clauses/overlaps.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::overlaps_test {
namespace {

#define BUCKET(rate) "{algorithm: token_bucket, rate: " rate ", burst: 5}"
#define METER(id, when)                             \
    "  - {id: " id ", mode: enforce, when: \"" when \
    "\", key: [ip.src], limits: [" BUCKET("1/s") "]}\n"
#define DROP(id, when) "  - {id: " id ", mode: enforce, when: \"" when "\", on_match: drop}\n"
#define ALLOW(id, when) "  - {id: " id ", mode: enforce, when: \"" when "\", on_match: allow}\n"

struct Row {
    std::string_view name;
    std::string_view rules;
    std::vector<std::string_view> warnings;  // `LINE: part of the message`
};

const Row kRows[] = {
    {"rules that overlap are what rules do",
     DROP("a", "ip.proto eq 17") METER("b", "l4.dport eq 53"),
     {}},
    {"a rule decided on sight, wherever it stands",
     METER("a", "ip.proto eq 17 and l4.dport eq 53") DROP("b", "ip.proto eq 17"),
     {"3: never judges a packet: `b` decides"}},
    {"by an allow as well",
     ALLOW("a", "ip.src in {10.0.0.0/8}") METER("b", "ip.src in {10.1.0.0/16}"),
     {"4: `a` decides"}},
    {"by an answer as well",
     "  - {id: a, mode: enforce, when: 'http.host eq \"x\"', on_match: {action: reply}}\n"
     "  - {id: b, mode: enforce, when: 'http.host eq \"x\" and ip.ttl eq 3', key: [ip.src],\n"
     "     limits: [" BUCKET("1/s") "]}\n",
     {"4: `a` decides"}},
    {"of two that decide, the later",
     DROP("a", "ip.proto eq 17") ALLOW("b", "ip.proto eq 17 and ip.ttl eq 3"),
     {"4: `a` decides"}},
    {"not the earlier",
     ALLOW("a", "ip.proto eq 17 and ip.ttl eq 3") DROP("b", "ip.proto eq 17"),
     {}},
    {"by several together",
     DROP("a", "ip.proto eq 17") DROP("b", "ip.proto eq 6")
         METER("c", "ip.proto eq 17 or l4.dport eq 80 and ip.proto eq 6"),
     {"5: `a` and others decide"}},
    {"by one for a part only", DROP("a", "ip.proto eq 17") METER("b", "ip.proto in {6 17}"), {}},
    {"a list within a wider one",
     DROP("a", "ip.src in {10.0.0.0/8 2001:db8::/32}")
         METER("b", "ip.src in {10.1.0.0/16 2001:db8:7::/48}"),
     {"4: `a` decides"}},
    {"one that only watches decides nothing",
     "  - {id: a, when: ip.proto eq 17, on_match: drop}\n" METER("b", "ip.proto eq 17"),
     {}},
    {"one that is off neither",
     "  - {id: a, mode: off, when: ip.proto eq 17, on_match: drop}\n" METER("b", "ip.proto eq 17"),
     {}},
    {"everything",
     "  - {id: a, mode: enforce, on_match: drop}\n" METER("b", "ip.proto eq 17"),
     {"4: `a` decides"}},
    {"absence counts",
     DROP("a", "not ip.proto eq 6") METER("b", "not ip.proto in {6 17}"),
     {"4: `a` decides"}},
    {"presence is not everything", DROP("a", "ip.proto ge 0") METER("b", "not ip.proto eq 6"), {}},
    {"a text within fewer conditions",
     DROP("a", "payload contains \\\"x\\\"")
         METER("b", "ip.proto eq 17 and payload contains \\\"x\\\""),
     {"4: `a` decides"}},
    {"not a text where another is asked",
     DROP("a", "payload contains \\\"x\\\"") METER("b", "payload contains \\\"y\\\""),
     {}},
    {"not its opposite",
     DROP("a", "payload contains \\\"x\\\"") METER("b", "not payload contains \\\"x\\\""),
     {}},
    {"the same text twice",
     METER("a", "payload contains \\\"x\\\" and ip.proto eq 17")
         METER("b", "ip.proto eq 17 and payload contains \\\"x\\\""),
     {"4: does all the same as `a`"}},
    {"the same twice",
     METER("a", "ip.proto eq 17") METER("b", "ip.proto == 17"),
     {"4: does all the same as `a`"}},
    {"the same said otherwise",
     METER("a", "not (ip.proto ne 17 or not ip.proto ge 0)") METER("b", "ip.proto in {17}"),
     {"4: does all the same as `a`"}},
    {"another number is another rule",
     METER("a", "ip.proto eq 17") "  - {id: b, mode: enforce, when: ip.proto eq 17, key: [ip.src], "
                                  "limits: [" BUCKET("2/s") "]}\n",
     {}},
    {"another key, action, mode or setting too",
     METER("a", "ip.proto eq 17") "  - {id: b, mode: enforce, when: ip.proto eq 17, key: [ip.dst], "
                                  "limits: [" BUCKET(
                                      "1/s") "]}\n"
                                             "  - {id: c, mode: enforce, when: ip.proto eq 17, "
                                             "key: [ip.src], limits: [" BUCKET(
                                                 "1/s") "], on_exceed: {action: pass}}\n"
                                                        "  - {id: d, when: ip.proto eq 17, key: "
                                                        "[ip.src], limits: [" BUCKET(
                                                            "1/s") "]}\n"
                                                                   "  - {id: e, mode: enforce, "
                                                                   "when: ip.proto eq 17, key: "
                                                                   "[ip.src], limits: [" BUCKET(
                                                                       "1/s") "], on_full: open}\n",
     {}},
    {"candidates are meant to be like their rule",
     "  - {id: a, mode: enforce, key: [ip.src], limits: [" BUCKET(
         "1/s") "],\n"
                "     candidates: [{name: x, limits: {\"1\": {burst: 5}}}, {name: y, limits: "
                "{\"1\": {burst: 5}}}]}\n",
     {}},
};

TEST(Overlaps, AreWarnedOf) {
    for (const Row& row : kRows) {
        const std::string text = "version: 1\nrules:\n" + std::string{row.rules};
        Problems problems{"r"};
        ASSERT_TRUE(compile_rules({"r", text}, Purpose::Check, {}, problems)) << row.name;
        ASSERT_EQ(problems.list().size(), row.warnings.size()) << row.name;
        for (std::size_t i = 0; i < row.warnings.size(); ++i) {
            const Problem& got = problems.list()[i];
            const std::string_view wanted = row.warnings[i];
            EXPECT_EQ(std::to_string(got.at.line), wanted.substr(0, wanted.find(':'))) << row.name;
            EXPECT_NE(got.message.find(wanted.substr(wanted.find(' ') + 1)), std::string::npos)
                << row.name << ": " << got.message;
            EXPECT_EQ(got.severity, Severity::Warning);
        }
    }
}

// A list that could not be read says nothing of what it would match.
TEST(Overlaps, AreNotGuessed) {
    const std::string text =
        "version: 1\ndata: {lists: {l: {type: cidr, file: l.txt}}}\nrules:\n" DROP(
            "a", "ip.src in $l") METER("b", "ip.src in {10.0.0.0/8}") METER("c", "ip.src in $l");
    Problems problems{"r"};
    ASSERT_TRUE(compile_rules({"r", text}, Purpose::Check, {}, problems));
    for (const Problem& problem : problems.list()) {
        EXPECT_EQ(problem.message.find("never judges"), std::string::npos);
        EXPECT_EQ(problem.message.find("all the same"), std::string::npos);
    }
}

}  // namespace
}  // namespace sluice::overlaps_test

#undef BUCKET
#undef METER
#undef DROP
#undef ALLOW

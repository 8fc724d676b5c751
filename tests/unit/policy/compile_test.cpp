#include "lib/policy/compile.hpp"

#include "lib/policy/clauses/clause.hpp"

#include "lib/policy/yaml/text_check.hpp"

#include "tests/unit/policy/outcome.hpp"
#include "tests/unit/policy/wrong_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::compile_test {
namespace {

using test::Outcome;

Outcome compile(std::string_view text, Purpose purpose = Purpose::Enforce,
                const ModeOverrides& modes = {}) {
    return test::compile({"r", text}, purpose, modes);
}

constexpr std::string_view kGood = R"yaml(version: 1
defaults: {mode: enforce, missing_key: share, on_full: open}
limits:
  slow: {algorithm: token_bucket, rate: 10/m, burst: 5}
rules:
  - id: a
    description: "first"
    when: ip.proto eq 17
    key: ["prefix(ip.src, 24|64)", l4.dport]
    limits: [slow, {algorithm: token_bucket, per: byte, rate: 20Mbit/s, burst: 256KiB}]
    on_exceed: {action: tag, dscp: AF11, pcp: 3}
  - id: b
    mode: off
    on_match: drop
  - id: c
    mode: monitor
    missing_key: skip
    on_full: closed
    key: [ip.src]
    per: byte
    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 1MB}]
)yaml";

TEST(CompileRules, KeepsEverythingTheFileSays) {
    const Outcome outcome = compile(kGood);
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_TRUE(outcome.problems.empty());
    EXPECT_EQ(find_fault(outcome.rules->set), std::nullopt);
    const std::vector<Rule>& rules = outcome.rules->set.rules;
    ASSERT_EQ(rules.size(), 2U);  // b is off
    EXPECT_EQ(rules[0].id, "a");
    EXPECT_EQ(rules[0].mode, Mode::Enforce);
    EXPECT_EQ(rules[0].missing_key, MissingKey::Share);
    EXPECT_EQ(rules[0].on_full, OnFull::Open);
    EXPECT_EQ(outcome.rules->set.actions.at(rules[0].on_exceed),
              (Action{.verdict = Verdict::Tag, .tag = {.dscp = 10, .pcp = 3}}));
    ASSERT_EQ(rules[0].keys.size(), 1U);
    ASSERT_EQ(rules[0].keys[0].size(), 2U);
    EXPECT_EQ(rules[0].keys[0][0].v4_length, 24);
    EXPECT_EQ(rules[0].keys[0][0].v6_length, 64);
    ASSERT_EQ(rules[0].limits.size(), 2U);
    EXPECT_EQ(rules[0].limits[0].name, "slow");
    EXPECT_EQ(rules[0].limits[0].per, Per::Packet);
    EXPECT_EQ(rules[0].limits[1].name, "2");
    EXPECT_EQ(rules[0].limits[1].per, Per::Byte);
    EXPECT_EQ(std::get<TokenBucketLimit>(rules[0].limits[1].limit).gcra.burst(), 262'144U);
    EXPECT_EQ(rules[1].mode, Mode::Monitor);
    EXPECT_EQ(rules[1].missing_key, MissingKey::Skip);
    EXPECT_EQ(rules[1].on_full, OnFull::Closed);
    EXPECT_EQ(rules[1].limits[0].per, Per::Byte);

    ASSERT_EQ(outcome.rules->rules.size(), 3U);
    EXPECT_EQ(outcome.rules->rules[0].description, "first");
    EXPECT_EQ(outcome.rules->rules[0].limits[0].scope, "merged");
    EXPECT_EQ(outcome.rules->rules[1].mode, Mode::Off);
    EXPECT_EQ(outcome.rules->rules[2].limits[0].scope, "local");
    EXPECT_EQ(outcome.rules->rules[2].limits[0].bound, "1MB + 1MB/s * W");
}

// Equal actions of enabled rules are compiled once; disabled rules add none.
TEST(CompileRules, RulesThatDoTheSameNameOneAction) {
    const Outcome outcome = compile(R"yaml(version: 1
rules:
  - {id: off, mode: off, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}],
     on_exceed: {action: tag, dscp: 1}}
  - {id: drops, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
  - {id: tags, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}],
     on_exceed: {action: tag, dscp: ef}, ban: {after: 1, within: 1s, for: 1m, action: tag, pcp: 1}}
  - {id: colours, mode: enforce, key: [],
     limits: [{algorithm: srtcm, cir: 1/s, cbs: 1, ebs: 1}],
     on_color: {green: {action: tag, dscp: 46}, yellow: {action: tag, pcp: 1}, red: {action: pass}}}
  - {id: allows, mode: enforce, on_match: allow}
  - {id: denies, mode: enforce, on_match: drop}
  - {id: denies-too, mode: enforce, on_match: {action: drop}}
  - {id: marks, mode: enforce, on_match: {action: tag, dscp: ef}}
  - {id: forbids, mode: enforce, when: http.host eq "a", on_match: {action: reply, slip: 1}}
)yaml");
    ASSERT_TRUE(outcome.rules.has_value());
    const RuleSet& set = outcome.rules->set;
    EXPECT_EQ(find_fault(set), std::nullopt);
    EXPECT_EQ(set.actions, (std::vector<Action>{
                               kPass,
                               kDrop,
                               {Verdict::Tag, {.dscp = 46}},
                               {Verdict::Tag, {.pcp = 1}},
                               {.verdict = Verdict::Reply, .answer = {.response = 1, .slip = 1}}}));
    ASSERT_EQ(set.rules.size(), 8U);
    EXPECT_EQ(set.rules[0].on_exceed, kDropAction);
    EXPECT_EQ(set.rules[1].on_exceed, 2);
    EXPECT_EQ(set.rules[1].ban.action, 3);
    EXPECT_EQ(set.rules[2].on_exceed, kDropAction);
    EXPECT_EQ(set.rules[2].on_color, (std::array<ActionIndex, 3>{2, 3, kPassAction}));
    EXPECT_EQ(set.rules[3].match_action, kPassAction);
    EXPECT_EQ(set.rules[4].match_action, kDropAction);
    EXPECT_EQ(set.rules[5].match_action, kDropAction);
    EXPECT_EQ(set.rules[6].match_action, 2);
    EXPECT_EQ(set.rules[7].match_action, 4);
    EXPECT_EQ(set.responses, (std::vector<ResponseSpec>{{.status = 403}}));
    EXPECT_EQ(outcome.rules->rules[6].action, "on_match drop");
    EXPECT_EQ(outcome.rules->rules[7].action, "on_match tag dscp ef");
    EXPECT_EQ(outcome.rules->rules[8].action, "on_match reply 403 slip 1");
}

TEST(CompileRules, TheFateOfWhatExceedsARuleIsThatOfAllItsActions) {
    const Outcome outcome = compile(R"yaml(version: 1
bypass:
  - {when: ip.proto eq 89, key: [], limit: {algorithm: token_bucket, rate: 100/s, burst: 10}}
rules:
  - {id: off, mode: off, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}],
     on_exceed: {action: tag, dscp: 1}}
  - {id: drops, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
  - {id: tags, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}],
     on_exceed: {action: tag, dscp: ef}}
  - {id: tags-then-drops, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}],
     on_exceed: {action: tag, dscp: ef}, ban: {after: 1, within: 1s, for: 1m}}
  - {id: shapes, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1000/s, burst: 1}],
     on_exceed: {action: shape, max_delay: 20ms}}
  - {id: red, mode: enforce, key: [], limits: [{algorithm: srtcm, cir: 1/s, cbs: 1, ebs: 1}],
     on_exceed: {action: tag, dscp: 1}, on_color: {yellow: {action: tag, pcp: 1}}}
  - {id: red-goes-on, mode: enforce, key: [], limits: [{algorithm: srtcm, cir: 1/s, cbs: 1, ebs: 1}],
     on_color: {red: {action: pass}}}
  - {id: denies, mode: enforce, on_match: drop}
)yaml");
    ASSERT_TRUE(outcome.rules.has_value());
    std::vector<std::pair<std::string, Exceeding>> found;
    for (const RuleSummary& rule : outcome.rules->rules) {
        if (rule.mode != Mode::Off) {
            found.emplace_back(rule.id, rule.exceeding);
        }
    }
    EXPECT_EQ(found, (std::vector<std::pair<std::string, Exceeding>>{
                         {"bypass.1", Exceeding::LetOn},
                         {"drops", Exceeding::KeptBack},
                         {"tags", Exceeding::LetOn},
                         {"tags-then-drops", Exceeding::Either},
                         {"shapes", Exceeding::Either},
                         {"red", Exceeding::KeptBack},
                         {"red-goes-on", Exceeding::LetOn},
                         {"denies", Exceeding::KeptBack}}));
}

// How far workers may go ahead of each other under a limit whose key they share.
TEST(CompileRules, WhatWorkersShareSaysByHowMuch) {
    const auto first = [](const std::string& rule) {
        const Outcome outcome =
            compile("version: 1\nrules:\n  - id: a\n    mode: enforce\n" + rule);
        EXPECT_TRUE(outcome.rules.has_value());
        return std::pair{outcome.rules->set.rules[0].limits[0],
                         bound_text(outcome.rules->rules[0].limits[0])};
    };
    const std::string limit = "    limits: [{algorithm: token_bucket, rate: 1000/s, burst: 100}]\n";
    const auto [merged, bound] = first("    key: [ip.dst]\n" + limit);
    EXPECT_EQ(merged.scope, LimitScope::Merged);
    EXPECT_EQ(merged.max_unsynced, 0U);
    EXPECT_EQ(bound,
              "100 packets + 1000/s * W, + 6 packets for each worker beyond the first "
              "(max_unsynced 6 packets; with "
              "more than 11 workers: at the owners of its keys)");
    EXPECT_EQ(first("    key: [ip.dst]\n    max_unsynced: 20\n" + limit).first.max_unsynced, 20U);
    EXPECT_TRUE(first("    key: [ip.dst]\n    max_unsynced: 51\n" + limit)
                    .second.ends_with("W, packets handed to the owner of their ip.dst: (workers - "
                                      "1) * max_unsynced would be over half of its burst"));
    // Any second touches two windows.
    const auto of_windows = [&](const std::string& numbers) {
        return first("    key: [ip.dst]\n    limits: [{count: 100, window: 1s, algorithm: " +
                     numbers + "}]\n")
            .second;
    };
    const std::string twice =
        ", + 2 * 3 packets for each worker beyond the first (max_unsynced 3 packets; with more "
        "than 26 "
        "workers: at the owners of its keys)";
    EXPECT_EQ(of_windows("fixed_window"), "2 * 100 packets in any 1s" + twice);
    EXPECT_EQ(of_windows("fixed_window, phase: per_key"), "2 * 100 packets in any 1s" + twice);
    EXPECT_EQ(of_windows("sliding_window"), "under 2 * 100 packets in any 1s" + twice);
    EXPECT_TRUE(
        of_windows("sliding_counters").starts_with("100 packets in any 1s, + 6 packets for each"));
    EXPECT_TRUE(of_windows("sliding_counters, edge: lenient")
                    .starts_with("2 * 100 packets in any 1s, + 2 * 3 packets for each"));
    EXPECT_EQ(of_windows("fixed_window, phase: first"),
              "2 * 100 packets in any 1s, packets handed to the owner of their ip.dst: each key's "
              "windows begin with its first unit");
    EXPECT_EQ(
        of_windows("sliding_log"),
        "100 packets in any 1s, packets handed to the owner of their ip.dst: its algorithm is "
        "not merged");
    const auto [local, exact] = first("    key: [ip.src]\n" + limit);
    EXPECT_EQ(local.scope, LimitScope::Local);
    EXPECT_EQ(exact, "100 packets + 1000/s * W");
    // Whose keys have numbers of their own, the owner of a key cannot tell.
    EXPECT_TRUE(first("    key: [ip.dst]\n    overrides: {inline: [{key: \"192.0.2.1\", exempt: "
                      "true}]}\n" +
                      limit)
                    .second.ends_with("W, packets handed to the owner of their ip.dst: its keys "
                                      "may have numbers of their own"));
    EXPECT_TRUE(
        first("    key: []\n    limits: [{algorithm: sliding_log, count: 9, window: 1s}]\n")
            .second.ends_with(", packets handed to the owner of all of its rule's packets: its "
                              "algorithm is not merged"));
}

std::uint64_t identity(std::string_view from, std::string_view to) {
    std::string text{kGood};
    text.replace(text.find(from), from.size(), to);
    return compile(text).rules->set.rules[0].limits[0].identity;
}

// State belongs to (rule, limit, key schema, algorithm, per), not to the numbers.
TEST(CompileRules, IdentityOutlivesNumbersAndNothingElse) {
    const std::uint64_t same = identity("version", "version");
    EXPECT_EQ(identity("10/m", "20/s"), same);
    EXPECT_EQ(identity("burst: 5", "burst: 9"), same);
    EXPECT_EQ(identity("mode: enforce", "mode: monitor"), same);
    EXPECT_EQ(identity("\"prefix(ip.src, 24|64)\"", "'prefix( ip.src,24 | 64 )'"), same);
    EXPECT_NE(identity("24|64", "25|64"), same);
    EXPECT_NE(identity("id: a", "id: z"), same);
    EXPECT_NE(identity(", l4.dport", ""), same);
    EXPECT_NE(identity("id: a\n", "id: a\n    per: connection\n"), same);
}

TEST(CompileRules, ModesSetAtRunTimeWin) {
    const Outcome outcome =
        compile(kGood, Purpose::Enforce, {{"b", Mode::Enforce}, {"a", Mode::Off}});
    ASSERT_TRUE(outcome.rules.has_value());
    ASSERT_EQ(outcome.rules->set.rules.size(), 2U);
    EXPECT_EQ(outcome.rules->set.rules[0].id, "b");
    EXPECT_EQ(outcome.rules->rules[0].mode, Mode::Off);
}

#define HEAD "version: 1\nrules:\n  - id: a\n"
#define LIMITS "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"

// Quoted values are the same values, so a rule file may be JSON.
TEST(CompileRules, TakesJson) {
    const Outcome json = compile(R"({"version": 1, "rules": [{"id": "a", "mode": "enforce",
        "key": ["ip.src"], "cost": "2", "table_share": "25%", "on_exceed": {"action": "tag", "dscp": "10"},
        "limits": [{"algorithm": "token_bucket", "rate": "10/s", "burst": "200"}]}]})");
    ASSERT_TRUE(json.rules.has_value());
    const Rule& rule = json.rules->set.rules.front();
    EXPECT_EQ(rule.cost, 2U);
    EXPECT_EQ(std::get<TokenBucketLimit>(rule.limits.front().limit).gcra.burst(), 200U);
}

// Where the condition lets packets of one version through, no other address is cut.
TEST(CompileRules, OnePrefixLengthIsEnoughForOneVersion) {
    for (const std::string_view when :
         {"ip.version eq 4", "ip.src in {10.0.0.0/8}", "ip.proto eq 6 and not (ip.version eq 6)"}) {
        const std::string text =
            HEAD "    when: " + std::string{when} + "\n    key: [\"prefix(ip.src, 24)\"]\n" LIMITS;
        EXPECT_TRUE(compile(text).rules.has_value()) << when;
    }
    EXPECT_TRUE(
        compile(HEAD "    when: ip.version eq 6\n    key: [\"prefix(ip.src, 64)\"]\n" LIMITS)
            .rules.has_value());
    EXPECT_TRUE(compile(HEAD "    when: 'prefix(ip.src, 24) eq 10.0.0.0'\n    key: []\n" LIMITS)
                    .rules.has_value());
}

const test::WrongText kWrong[] = {
    {"rules: []\n", 1, 1, "begins with `version: 1`"},
    {"version: 2\nrules: []\n", 1, 10, "version: 1`, found `2`"},
    {"version: \"1\"\nrules: []\n", 1, 10, "version: 1`, a number: write it without quotes"},
    {"version: 1\n", 1, 1, "has `rules`"},
    {"version: 1\nrules: 5\n", 2, 8, "list of rules"},
    {"version: 1\nrules:\n", 2, 1, "[] for none"},  // the file may be cut
    {"version: 1\nrules", 2, 1, "[] for none"},
    {"version: 1\nruels: []\nrules: []\n", 2, 1, "did you mean `rules`?"},
    {"version: 1\nversion: 1\nrules: []\n", 2, 1, "given twice"},
    {"[1, 2]\n", 1, 1, "must be a map"},
    {"version: 1\nrules: [}\n", 2, 9, ""},
    {"version: 1\nrules: &x []\n", 2, 8, "anchors"},
    {"version: 1\nrules: !!seq []\n", 2, 8, "tags"},
    {"version: 1\nrules: []\n---\nversion: 1\n", 3, 1, "one document"},
    {"version: 1\nrules: []\nlimits: {<<: {}}\n", 3, 10, "merge keys"},
    {"version: 1\nrules: [\xFF]\n", 2, 9, "UTF-8"},
    {"version: 1\nrules:\n  - when: ip.proto eq 6\n", 3, 5, "needs an `id`"},
    {"version: 1\nrules:\n  - id: A_b\n", 3, 9, "lower-case"},
    {HEAD "    key: []\n" LIMITS "  - id: a\n    on_match: drop\n", 6, 9, "two rules"},
    {HEAD LIMITS, 3, 5, "needs `key`"},
    {HEAD "    key: []\n", 3, 5, "needs `limits`"},
    {HEAD "    key: []\n    limits: []\n", 5, 13, "needs `limits`"},
    {HEAD "    key: []\n    limits: {algorithm: gcra, rate: 5/s}\n", 5, 13,
     "`limits` of a rule is a list of names or limits, found a map; write `- ` in front of each"},
    {HEAD "    key: []\n    limits: fast\n", 5, 13, "is a list of names or limits, found"},
    {HEAD "    key: ip.src\n" LIMITS, 4, 10, "list of fields"},
    {HEAD "    key: [ip.scr]\n" LIMITS, 4, 11, "did you mean `ip.src`?"},
    {HEAD "    key: [\"prefix(ip.src, 240)\"]\n" LIMITS, 4, 27, "from 0 to 128"},
    {HEAD "    key: [l4.dport, prefix(ip.src, 24|64)]\n" LIMITS, 4, 21,
     "quote it: YAML splits at the comma; write \"prefix(ip.src, 24|64)\""},
    {HEAD "    key: [\"prefix(ip.src, 24)\"]\n" LIMITS, 4, 27, "such as 24|64"},
    {HEAD "    key: [\"prefix(ip.src, 56)\"]\n" LIMITS, 4, 27, "such as 24|56"},
    {HEAD "    when: ip.proto eq 6\n    key: [\"prefix(ip.src, 24)\"]\n" LIMITS, 5, 27, "24|64"},
    {HEAD "    when: ip.version eq 4\n    key: [\"prefix(ip.src, 64)\"]\n" LIMITS, 5, 27,
     "at most 32"},
    {HEAD "    when: ip.version eq 4\n    key: [\"prefix(outer.ip.src, 24)\"]\n" LIMITS, 5, 33,
     "24|64"},
    {HEAD "    when: 'prefix(ip.src, 24) in {10.0.0.0 2001:d00::}'\n    key: []\n" LIMITS, 4, 27,
     "24|64"},
    {HEAD "    key: [ip.src ip.dst]\n" LIMITS, 4, 18, "the end of the key part"},
    {HEAD "    mode: enforcing\n    key: []\n" LIMITS, 4, 11, "did you mean `enforce`?"},
    {HEAD "    moed: enforce\n    key: []\n" LIMITS, 4, 5, "did you mean `mode`?"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 1, burst: 1}]\n", 5, 46,
     "50/s"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, burst: 1}]\n", 5, 14,
     "needs `rate`"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bukket, rate: 1/s, burst: 1}]\n", 5, 26,
     "did you mean `token_bucket`?"},
    {HEAD "    key: []\n    limits: [{rate: 1/s, burst: 1}]\n", 5, 14, "needs `algorithm`"},
    {HEAD "    key: []\n    limits: [{algorithm: trtcm, cir: 1/s, cbs: 5}]\n", 5, 14,
     "a trtcm needs `variant`, rfc2698 or rfc4115"},
    {HEAD "    key: []\n    limits: [{algorithm: trtcm, variant: rfc2679, cir: 1/s}]\n", 5, 42,
     "one of rfc2698, rfc4115; found `rfc2679`"},
    {HEAD "    key: []\n    limits: [{algorithm: trtcm, variant: rfc2698, cir: 1/s, cbs: 5, "
          "pir: 2/s, pbs: 5, ebs: 5}]\n",
     5, 87, "`ebs` has no meaning with variant rfc2698"},
    {HEAD "    key: []\n    limits: [{algorithm: srtcm, cir: 1/d, cbs: 5, ebs: 834}]\n", 5, 56,
     "the largest that fits is 833"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 64KiB}]\n", 5, 58,
     "say `per: byte`"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 010}]\n", 5, 58,
     "`010`"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 1/s, queue: 1, burst: 1}]\n",
     5, 51, "unknown key `queue`"},
    {HEAD "    key: []\n    per: byte\n    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: "
          "9000}]\n",
     6, 60, "1500B"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 1/d, burst: 60000}]\n", 5, 58,
     "largest that fits"},
    {HEAD "    key: []\n    limits: [fast]\n", 5, 14, "no limit called `fast`"},
    {HEAD "    key: []\n    on_exceed: drop\n" LIMITS, 5, 16, "must be a map"},
    {HEAD "    key: []\n    on_exceed: {action: tag}\n" LIMITS, 5, 16, "needs `dscp`"},
    {HEAD "    key: []\n    on_exceed: {action: tag, dscp: 64}\n" LIMITS, 5, 36, "0 to 63"},
    {HEAD "    key: []\n    on_exceed: {action: tag, pcp: 8}\n" LIMITS, 5, 35, "largest, 7"},
    {HEAD "    key: []\n    on_exceed: {action: drop, dscp: 1}\n" LIMITS, 5, 31, "unknown key"},
    {HEAD "    key: []\n    action: drop\n" LIMITS, 5, 5,
     "did you mean `on_exceed`, for what its limits refuse"},
    {HEAD "    key: []\n    match: ip.proto eq 6\n" LIMITS, 5, 5, "did you mean `when`?"},
    {HEAD "    on_match: drop\n    key: []\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    on_match: block\n", 4, 15, "drop, allow"},
    {HEAD "    on_match: reset\n", 4, 15, "or an action such as {action: reply, status: 403}"},
    {HEAD "    on_match: alow\n", 4, 15, "did you mean `allow`?"},
    {HEAD "    on_match: pass\n", 4, 15, "did you mean `allow`?"},
    {HEAD "    on_match: [drop]\n", 4, 15, "found a list"},
    {HEAD "    on_match: {action: pass}\n", 4, 24, "is written `on_match: allow`"},
    {HEAD "    on_match: {action: allow}\n", 4, 24, "is written `on_match: allow`"},
    {HEAD "    on_match: {action: drp}\n", 4, 24, "did you mean `drop`?"},
    {HEAD "    on_match: {status: 403}\n", 4, 15, "needs `action`"},
    {HEAD "    on_match: {action: shape, max_delay: 1s}\n", 4, 24,
     "`on_match` has no departures: `shape` stands in `on_exceed` alone"},
    {HEAD "    on_match: {action: tag}\n", 4, 15, "needs `dscp`"},
    {HEAD "    on_match: {action: drop, status: 403}\n", 4, 30, "unknown key"},
    {HEAD "    on_match: {action: reply, status: 99}\n", 4, 24, "from 200 to 599"},
    {HEAD "    on_match: {action: reply, x_ratelimit: true}\n", 4, 44,
     "a rule with `on_match` has none"},
    {HEAD "    on_match: {action: reply, body: problem+json}\n", 4, 37, "write the body itself"},
    {HEAD "    on_match: {action: dns_truncate, then: pass}\n", 4, 44, "drop"},
    {HEAD "    on_match: {action: reset}\n    key: []\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    when: ip.proto eq 6\n      and l4.dprot eq 5\n    on_match: drop\n", 5, 11,
     "did you mean `l4.dport`?"},
    {HEAD "    when: >-\n      ip.proto eq 6\n      and l4.dprot eq 5\n    on_match: drop\n", 6, 11,
     "did you mean `l4.dport`?"},
    {HEAD "    when: \"ip.proto eq 6 and dir eq \\\"inn\\\"\"\n    on_match: drop\n", 4, 37,
     "did you mean `in`?"},
    {HEAD "    when: [a]\n    on_match: drop\n", 4, 11, "must be a text"},
    // Without the file that says what a domain is.
    {HEAD "    when: registrable_domain(http.host) eq \"x\"\n    on_match: drop\n", 4, 11,
     "registrable_domain() needs the list of public suffixes: cannot read"},
    {HEAD "    key: [tls.sni, \"lower(registrable_domain(tls.sni))\"]\n" LIMITS, 4, 27,
     "needs the list of public suffixes"},
    {HEAD "    key: []\n    cost: 10\n    max_unsynced: 9\n" LIMITS, 6, 19,
     "what one packet costs"},
    {HEAD "    key: []\n    max_unsynced: lots\n" LIMITS, 5, 19, "not a decimal number"},
    {HEAD "    key: []\n    max_unsynced: 10KiB\n" LIMITS, 5, 19, "without a unit"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 64KiB/s, burst: 128}]\n", 5,
     46, "say `per: byte`"},
    {HEAD "    on_match: drop\n    max_unsynced: 9\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    key: []\n    per: requests\n" LIMITS, 5, 10, "did you mean `request`?"},
    {HEAD "    key: []\n    per: request\n    limits: [{algorithm: token_bucket, rate: 1MB/s, "
          "burst: 1}]\n",
     6, 46, "50/s"},
    {HEAD "    key: []\n    per: handshake\n    limits: [{algorithm: token_bucket, rate: 1/s, "
          "burst: 1KiB}]\n",
     6, 58, "1KiB"},
    {HEAD "    key: ['http.request.headers[x]']\n" LIMITS, 4, 33, "a name in double quotes"},
    {HEAD "    key: ['http.request.headers[\"a b\"]']\n" LIMITS, 4, 33, "has 1 to 128 letters"},
    {HEAD "    key: [http.request.header]\n" LIMITS, 4, 11, "did you mean `http.request.headers`?"},
    {HEAD "    key: [http.cookies.id]\n" LIMITS, 4, 11, "write http.cookies[\"id\"]"},
    {HEAD "    key: []\n    per: conection\n" LIMITS, 5, 10, "did you mean `connection`?"},
    {HEAD "    key: []\n    per: connection\n"
          "    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 1}]\n",
     6, 46, "50/s"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: fixed_window, count: 5, window: 1d, zone: Europe/Moskow}]\n",
     5, 68, "did you mean `Europe/Moscow`?"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: fixed_window, count: 5, window: 1d, zone: Mars}]\n",
     5, 68, "no time zone `Mars`; zones are called as"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: fixed_window, count: 5, window: 1d, zone: [UTC]}]\n",
     5, 68, "`zone` must be a text"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: fixed_window, count: 5, window: 36h, zone: UTC}]\n",
     5, 58, "with a zone the window is whole days"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: fixed_window, count: 5, window: 1m, zone: UTC}]\n",
     5, 58, "whole days"},
    {HEAD
     "    key: []\n"
     "    limits: [{algorithm: fixed_window, count: 5, window: 1d, phase: first, zone: UTC}]\n",
     5, 69, "`zone` is for phase clock"},
    {HEAD
     "    key: []\n"
     "    limits: [{algorithm: fixed_window, count: 5, window: 1d, phase: per_key, zone: UTC}]\n",
     5, 69, "`zone` is for phase clock"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: fixed_window, count: 5, window: 1d, utc_offset: '+03:00', "
          "zone: UTC}]\n",
     5, 74, "not by both"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: sliding_window, count: 5, window: 1d, zone: UTC}]\n",
     5, 64, "`zone` is for fixed_window"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: sliding_log, count: 5, window: 1d, zone: UTC}]\n",
     5, 61, "`zone` is for fixed_window"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: token_bucket, rate: 5/d, burst: 5, zone: UTC}]\n",
     5, 61, "`zone` is for fixed_window"},
    {HEAD "    key: []\n"
          "    limits: [{algorithm: distinct, of: l4.dport, count: 5, window: 1d, zone: UTC}]\n",
     5, 72, "`zone` is for fixed_window"},
    {HEAD "    key: []\n    ban: {after: 3}\n" LIMITS, 5, 10, "a ban needs `within`"},
    {HEAD "    key: []\n    ban: {within: 1s, for: 1s}\n" LIMITS, 5, 10, "needs `after`"},
    {HEAD "    key: []\n    ban: {after: 0, within: 1s, for: 1s}\n" LIMITS, 5, 18, "at least 1"},
    {HEAD "    key: []\n    ban: {after: 65537, within: 1s, for: 1s}\n" LIMITS, 5, 18, "65536"},
    {HEAD "    key: []\n    ban: {after: 3, within: 10, for: 1s}\n" LIMITS, 5, 29, "60s"},
    {HEAD "    key: []\n    ban: {after: 3, within: 10us, for: 1s}\n" LIMITS, 5, 29,
     "the shortest is 1ms"},
    {HEAD "    key: []\n    ban: {after: 3, within: 10s, for: 400d}\n" LIMITS, 5, 39,
     "the longest is 366d"},
    {HEAD "    key: []\n    ban: {after: 3, within: 1s, for: 1s, applies_to: source}\n" LIMITS, 5,
     54, "a key of nothing but `ip.src` or a prefix of it"},
    {HEAD "    key: [ip.src, l4.dport]\n    ban: {after: 3, within: 1s, for: 1s, applies_to: "
          "source}\n" LIMITS,
     5, 54, "a key of nothing but `ip.src` or a prefix of it"},
    {HEAD
     "    key: [ip.dst]\n    ban: {after: 3, within: 1s, for: 1s, applies_to: source}\n" LIMITS,
     5, 54, "a key of nothing but `ip.src` or a prefix of it"},
    {HEAD "    key: []\n    ban: {after: 3, within: 1s, for: 1s, applies_to: all}\n" LIMITS, 5, 54,
     "key, source"},
    {HEAD "    key: []\n    ban: {after: 3, within: 1s, for: 1s, spoofable: yes}\n" LIMITS, 5, 42,
     "belongs to a ban with `applies_to: source`"},
    {HEAD "    key: [ip.src]\n    ban: {after: 3, within: 1s, for: 1s, applies_to: source, "
          "spoofable: maybe}\n" LIMITS,
     5, 73, "no, yes"},
    {HEAD "    key: [ip.src]\n    ban: {after: 3, within: 1s, for: 1s, applies_to: source, "
          "action: reset}\n" LIMITS,
     5, 10, "a ban with `applies_to: source` drops: it takes no other action"},
    {HEAD "    key: []\n    ban: {after: 3, within: 1s, for: 1s, action: drp}\n" LIMITS, 5, 50,
     "did you mean `drop`?"},
    {HEAD "    key: []\n    ban: {after: 3, within: 1s, for: 1s, action: tag}\n" LIMITS, 5, 10,
     "needs `dscp`"},
    {HEAD "    key: []\n    ban: {after: 3, within: 1s, for: 1s, action: shape}\n" LIMITS, 5, 50,
     "`shape` stands in `on_exceed` alone"},
    {HEAD "    key: []\n    on_exceed: {action: reply, status: 99}\n" LIMITS, 5, 25,
     "status 99: a final one is from 200 to 599"},
    {HEAD "    key: []\n    on_exceed: {action: reply, status: 401}\n" LIMITS, 5, 25,
     "needs the header `www-authenticate`"},
    {HEAD "    key: []\n    on_exceed: {action: reply, headers: {Content-Length: 3}}\n" LIMITS, 5,
     25, "a header that the box writes"},
    {HEAD "    key: []\n    on_exceed: {action: reply, headers: [a]}\n" LIMITS, 5, 41,
     "`headers` is a map of names and values"},
    {HEAD "    key: []\n    on_exceed: {action: reply, tls_fallback: close}\n" LIMITS, 5, 46,
     "reset"},
    {HEAD "    key: []\n    on_exceed: {action: decoy, status: 204, body: x}\n" LIMITS, 5, 25,
     "status 204 has no body"},
    {HEAD "    key: []\n    on_exceed: {action: dns_truncate, then: pass}\n" LIMITS, 5, 45, "drop"},
    {HEAD "    key: []\n    on_exceed: {action: dns_truncate, slip: 1000001}\n" LIMITS, 5, 45,
     "1000000"},
    {HEAD "    key: []\n    on_full: {coarsen: {factor: 1}}\n" LIMITS, 5, 33, "from 2 to 1024"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, count: 3, window: 1m}]\n", 5, 14,
     "a distinct needs `of`"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3}]\n", 5, 14,
     "a distinct needs `window`"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 0, window: 1m}]\n",
     5, 57, "at least 1"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 201, window: 1m}]\n",
     5, 57, "the largest that fits is 200"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, window: 10ms}]\n",
     5, 68, "the shortest is 1s"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, window: ''}]\n",
     5, 68, "a duration"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, of: l4.dprt, count: 3, window: 1m}]\n",
     5, 40, "did you mean `l4.dport`?"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, of: 443, count: 3, window: 1m}]\n", 5,
     40, "unknown field `443`"},
    {HEAD "    key: []\n    limits: [{algorithm: distinct, of: '\"443\"', count: 3, window: 1m}]\n",
     5, 41, "a field"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: [l4.dport], count: 3, window: 1m}]\n",
     5, 40, "`of`"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, window: 1m, rate: "
     "1/s}]\n",
     5, 72, "unknown key `rate` in a distinct"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, window: 1m, unit: "
     "packet}]\n",
     5, 72, "unknown key `unit` in a distinct"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, window: 1m, burst: "
     "2}]\n",
     5, 72, "unknown key `burst` in a distinct"},
    {HEAD
     "    key: []\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, window: 1m, per: "
     "byte}]\n",
     5, 77, "counts different values"},
    {HEAD "    key: []\n    cost: 2\n    limits: [{algorithm: distinct, of: l4.dport, count: 3, "
          "window: 1m}]\n",
     5, 5, "`cost` has no meaning beside a distinct limit: each value counts once"},
    {HEAD "    key: []\n    rejected_spend: true\n    limits: [{algorithm: distinct, of: l4.dport, "
          "count: 3, window: 1m}]\n",
     5, 5, "`rejected_spend` has no meaning beside a distinct limit"},
    {HEAD "    key: []\n    limits: [{algorithm: concurrency, count: 3}]\n", 5, 14,
     "a concurrency needs `idle`"},
    {HEAD "    key: []\n    limits: [{algorithm: concurrency, count: 0, idle: 1m}]\n", 5, 46,
     "at least 1"},
    {HEAD "    key: []\n    limits: [{algorithm: concurrency, count: 3, idle: 500us}]\n", 5, 55,
     "`idle` is too short; the shortest is 1ms"},
    {HEAD "    key: []\n    limits: [{algorithm: concurrency, count: 3, idle: 367d}]\n", 5, 55,
     "`idle` is too long; the longest is 366d"},
    {HEAD
     "    key: []\n    limits: [{algorithm: concurrency, count: 3, idle: 1m, half_open: 2m}]\n",
     5, 70, "`half_open` is at most `idle`"},
    {HEAD
     "    key: []\n    limits: [{algorithm: concurrency, count: 3, idle: 1m, half_open: 1us}]\n",
     5, 70, "`half_open` is a whole number of ms, the shortest is 1ms"},
    {HEAD
     "    key: []\n    limits: [{algorithm: concurrency, count: 3, idle: 9d, half_open: 2d}]\n",
     5, 70, "`half_open` is too long; the longest is 1d"},
    {HEAD "    key: []\n    limits: [{algorithm: concurrency, count: 3, idle: 1m, from: ack}]\n", 5,
     65, "syn"},
    {HEAD "    key: []\n    limits: [{algorithm: concurrency, per: byte, count: 3, idle: 1m}]\n", 5,
     44, "its `per` is connection, not byte"},
    {HEAD
     "    key: []\n    per: request\n    limits: [{algorithm: concurrency, count: 3, idle: 1m}]\n",
     6, 26, "its `per` is connection, not request"},
    {HEAD "    key: []\n    cost: 2\n    limits: [{algorithm: concurrency, count: 3, idle: 1m}]\n",
     5, 5, "`cost` has no meaning beside a concurrency limit"},
    {HEAD "    key: []\n    rejected_spend: true\n"
          "    limits: [{algorithm: concurrency, count: 3, idle: 1m}]\n",
     5, 5, "`rejected_spend` has no meaning beside a concurrency limit"},
    {HEAD "    key: []\n    on_exceed: {action: shape, max_delay: 1s}\n"
          "    limits: [{algorithm: concurrency, count: 3, idle: 1m}]\n",
     5, 16, "shape needs limits"},
    {HEAD "    key: []\n    on_exceed: {action: shape}\n" LIMITS, 5, 16, "needs `max_delay`"},
    {HEAD "    key: []\n    on_exceed: {action: shape, max_delay: 61s}\n" LIMITS, 5, 43,
     "at most 1m"},
    {HEAD "    key: []\n    on_exceed: {action: shape, max_delay: 0s}\n" LIMITS, 5, 43,
     "at most 1m"},
    {HEAD "    key: []\n    on_exceed: {action: shape, max_delay: 1s, overflow: tag}\n" LIMITS, 5,
     57, "drop"},
    {HEAD "    key: []\n    limits: [{algorithm: sliding_log, count: 3, window: 1s}]\n"
          "    on_exceed: {action: shape, max_delay: 1s}\n",
     6, 16, "`token_bucket` or `leaky_bucket`"},
    {"version: 1\nbypass: {}\nrules: []\n", 2, 9, "`bypass` is a list of budgets"},
    {"version: 1\nbypass: [arp]\nrules: []\n", 2, 10, "must be a map"},
    {"version: 1\nbypass: [{key: [], limit: x}]\nrules: []\n", 2, 10, "needs `when`"},
    {"version: 1\nbypass: [{when: tcp.flags.syn}]\nrules: []\n", 2, 10, "needs `key`"},
    {"version: 1\nbypass: [{when: tcp.flags.syn, key: [], limit: x}]\nrules: []\n", 2, 48,
     "no limit called `x`"},
    {"version: 1\nbypass: [{when: registrable_domain(http.host) eq \"x\", key: [], "
     "limit: x}]\nrules: []\n",
     2, 17, "needs the list of public suffixes"},
    {HEAD "    key: []\n    ttl: 90\n" LIMITS, 5, 10, "a duration from 1s on"},
    {HEAD "    key: []\n    ttl: 0s\n" LIMITS, 5, 10, "a duration from 1s on"},
    {HEAD "    key: []\n    ttl: 999ms\n" LIMITS, 5, 10, "found `999ms`"},
    {HEAD "    key: []\n    ttl: [1h]\n" LIMITS, 5, 10, "found a list"},
    {HEAD "    key: []\n    ttl: 99999999999999d\n" LIMITS, 5, 10, "a duration from 1s on"},
    // Nothing stands where its key stands.
    {"version: 1\nrules:\n  - id:\n    on_match: drop\n", 3, 5, "found nothing"},
    {HEAD "    key:\n" LIMITS, 4, 5, "found nothing"},
    {HEAD "    when: \"\"\n    on_match: drop\n", 4, 12, "expected a field"},
    // Keys whose default alone is built have types all the same.
    {HEAD "    key: []\n    cost: x\n" LIMITS, 5, 11, "not a decimal number"},
    {HEAD "    key: []\n    cost: 0\n" LIMITS, 5, 11, "`cost` is at least 1"},
    {HEAD "    key: []\n    cost: 2K\n" LIMITS, 5, 11, "not a decimal number"},
    {HEAD "    key: []\n    cost: 1000000001\n" LIMITS, 5, 11, "largest, 1000000000"},
    {HEAD "    key: []\n    cost: [5]\n" LIMITS, 5, 11, "must be a number"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": 5}, default: 1}\n" LIMITS, 5, 18,
     "requests alone have a path, and the limit `1` counts other things"},
    {HEAD "    key: []\n    per: byte\n    cost: {path: {\"/a\": 5}}\n"
          "    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 1MB}]\n",
     6, 18, "it needs per: request"},
    {HEAD "    key: []\n    cost: {path: [5]}\n" LIMITS, 5, 18, "a map from paths to costs"},
    {HEAD "    key: []\n    cost: {path: {}}\n" LIMITS, 5, 18, "a map from paths to costs"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": 0}}\n" LIMITS, 5, 25, "`/a` is at least 1"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": -1}}\n" LIMITS, 5, 25, "not a decimal number"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": 2K}}\n" LIMITS, 5, 25, "not a decimal number"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": [1]}}\n" LIMITS, 5, 25, "must be a number"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": 1000000001}}\n" LIMITS, 5, 25,
     "largest, 1000000000"},
    {HEAD "    key: []\n    cost: {path: {login: 2}}\n" LIMITS, 5, 19, "begins with a slash"},
    {HEAD "    key: []\n    cost: {path: {\"/a/\": 2}}\n" LIMITS, 5, 19, "write \"/a\""},
    {HEAD "    key: []\n    cost: {path: {\"/a//b/%7eu\": 2}}\n" LIMITS, 5, 19,
     "write \"/a/b/~u\""},
    {HEAD "    key: []\n    cost: {default: 1B}\n" LIMITS, 5, 21, "not a decimal number"},
    {HEAD "    key: []\n    cost: {default: 0}\n" LIMITS, 5, 21, "`default` is at least 1"},
    {HEAD "    on_match: drop\n    cost: 2\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    key: []\n    cost: {path: {\"/a\": 5}, defualt: 1}\n" LIMITS, 5, 29,
     "did you mean `default`?"},
    {HEAD "    key: []\n    rejected_spend: maybe\n" LIMITS, 5, 21, "true or false"},
    {HEAD "    key: []\n    heatmap: maybe\n" LIMITS, 5, 14, "`heatmap` is one of off, on"},
    {HEAD "    on_match: drop\n    heatmap: on\n", 5, 5,
     "`heatmap` has no meaning beside `on_match`"},
    {HEAD "    key: []\n    scope: boxx\n" LIMITS, 5, 12, "did you mean `box`?"},
    {HEAD "    key: []\n    owner_down: open\n" LIMITS, 5, 5, "it needs `scope: cluster`"},
    {HEAD "    key: []\n    scope: cluster\n    owner_down: opne\n" LIMITS, 6, 17,
     "did you mean `open`?"},
    {HEAD "    on_match: drop\n    scope: cluster\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    on_match: drop\n    owner_down: open\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    key: []\n    cluster_sync: {interval: 1s}\n" LIMITS, 5, 5,
     "`cluster:` of sluice.yaml says with whom"},
    {HEAD "    key: []\n    table_share: 25\n" LIMITS, 5, 18, "such as 25%"},
    {HEAD "    key: []\n    table_share: 101%\n" LIMITS, 5, 18, "such as 25%"},
    {HEAD "    key: []\n    on_full: {}\n" LIMITS, 5, 14, "open, closed"},
    {HEAD "    key: []\n    on_full: {coarsen: {facter: 2}}\n" LIMITS, 5, 25,
     "did you mean `factor`?"},
    {HEAD "    key: []\n    on_full: closd\n" LIMITS, 5, 14, "did you mean `closed`?"},
    {HEAD "    key: []\n    ban: {aftr: 3}\n" LIMITS, 5, 11, "did you mean `after`?"},
    {HEAD "    key: []\n    ban: 3\n" LIMITS, 5, 10, "must be a map"},
    {HEAD "    key: []\n    events: [limit_strat]\n" LIMITS, 5, 14, "did you mean `limit_start`?"},
    {HEAD "    key: []\n    events: ban\n" LIMITS, 5, 13, "a list of words"},
    {HEAD "    on_match: drop\n    events: [ban]\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    key: []\n    candidates: [{nam: half}]\n" LIMITS, 5, 19, "did you mean `name`?"},
    {HEAD "    key: []\n    candidates: {}\n" LIMITS, 5, 17, "a list of at most 16"},
    {HEAD "    key: []\n    candidates: [half]\n" LIMITS, 5, 18, "must be a map"},
    {HEAD "    key: []\n    candidates: [{name: half}]\n" LIMITS, 5, 18,
     "needs `name` and `limits`"},
    {HEAD "    key: []\n    candidates: [{name: Half, limits: {}}]\n" LIMITS, 5, 25, "lower-case"},
    {HEAD "    key: []\n    candidates: [{name: half, limits: {}}]\n" LIMITS, 5, 39,
     "a map of the rule's limits"},
    {HEAD "    key: []\n    candidates: [{name: half, limits: {\"1\": 5}}]\n" LIMITS, 5, 45,
     "such as {rate: 25/s}"},
    {HEAD "    key: []\n    candidates: [{name: half, limits: {\"2\": {burst: 5}}}]\n" LIMITS, 5,
     40, "no limit called `2`"},
    {HEAD "    key: []\n    candidates: [{name: half, limits: {\"1\": {bust: 5}}}]\n" LIMITS, 5, 46,
     "did you mean `burst`?"},
    {HEAD "    key: []\n    candidates: [{name: half, limits: {\"1\": {burst: x}}}]\n" LIMITS, 5,
     53, "not a"},
    {HEAD "    key: []\n    candidates: [{name: a, limits: {\"1\": {burst: 5}}}, {name: a, limits: "
          "{\"1\": {burst: 6}}}]\n" LIMITS,
     5, 56, "two candidates are called `a`"},
    {HEAD "    on_match: drop\n    candidates: []\n", 5, 5, "no meaning beside `on_match`"},
    {HEAD "    key: []\n    overrides: {inline: [{kye: [a]}]}\n" LIMITS, 5, 27,
     "did you mean `key`?"},
    {HEAD "    key: []\n    on_color: {red: {action: dorp}}\n" LIMITS, 5, 30,
     "did you mean `drop`?"},
    {HEAD "    key: []\n    on_exceed: {action: reply, max_delay: 2s}\n" LIMITS, 5, 32,
     "unknown key `max_delay` in the action reply"},
    {HEAD "    key: []\n    limits: [{algorithm: sliding_log, cir: 1}]\n", 5, 39,
     "unknown key `cir` in a sliding_log"},
    {HEAD
     "    tiers: [{key: [ip.scr], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}]\n",
     4, 20, "did you mean `ip.src`?"},
    {HEAD "    tiers: [{key: [ip.src], limits: [fast]}]\n", 4, 38, "no limit called `fast`"},
    {HEAD "    tiers: [{limits: [fast]}]\n", 4, 13, "needs `key`"},
    {HEAD "    key: []\n    tiers: [{key: [], limits: [fast]}]\n", 4, 5,
     "each tier has its own `key`"},
    {HEAD "    tiers: []\n", 4, 12, "a list of 1 to 16 maps"},
    {HEAD "    tiers: {key: [], limits: []}\n", 4, 12, "a list of 1 to 16 maps"},
    {HEAD "    tiers: [ip.src]\n", 4, 13, "a tier must be a map"},
    {HEAD "    tiers: [{key: [], limit: [fast]}]\n", 4, 23, "did you mean `limits`?"},
    {HEAD "    tiers: [{key: []}]\n", 4, 13, "a tier needs `limits`"},
    {HEAD "    tiers: []\n" LIMITS, 5, 5, "each tier has its own `limits`"},
    {HEAD "    on_match: drop\n    tiers: []\n", 5, 5, "no meaning beside `on_match`"},
    {"version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 1/s, burst: 1}\nrules:\n"
     "  - id: a\n    tiers: [{key: [ip.src], limits: [x]}, {key: [ip.src], limits: [x]}]\n",
     6, 68, "the limit `x` is listed twice with one key"},
    {"version: 1\nbypass: [{when: ip.prto eq 6, key: [], limit: x}]\nrules: []\n", 2, 17,
     "did you mean `ip.proto`?"},
    {"version: 1\nbypass: [{wen: tcp.flags.syn}]\nrules: []\n", 2, 11, "did you mean `when`?"},
    {"version: 1\nclient_ip: {from: {haeder: x}}\nrules: []\n", 2, 20, "did you mean `header`?"},
    {"version: 1\nclient_ip: []\nrules: []\n", 2, 12, "must be a map"},
    {"version: 1\nclient_ip: {ipv4_prefix: 33}\nrules: []\n", 2, 26, "from 1 to 32"},
    {"version: 1\nclient_ip: {ipv4_prefix: 0}\nrules: []\n", 2, 26, "from 1 to 32"},
    {"version: 1\nclient_ip: {ipv6_prefix: /64}\nrules: []\n", 2, 26, "from 1 to 128"},
    {"version: 1\nclient_ip: {unwrap: nat64}\nrules: []\n", 2, 21, "a list of words"},
    {"version: 1\nclient_ip: {unwrap: [nat46]}\nrules: []\n", 2, 22, "did you mean `nat64`?"},
    {"version: 1\nclient_ip: {unwrap: [nat64, nat64]}\nrules: []\n", 2, 29, "stands here twice"},
    {"version: 1\nclient_ip: {from: {header: x}}\nrules: []\n", 2, 13, "which are missing"},
    {"version: 1\nclient_ip: {trusted_proxies: [], from: {header: x}}\nrules: []\n", 2, 30,
     "found none"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.1/8]}\nrules: []\n", 2, 31,
     "the network is 10.0.0.0/8"},
    {"version: 1\nclient_ip: {trusted_proxies: [proxy]}\nrules: []\n", 2, 31,
     "expected an address, a network such as 192.0.2.0/24 or a $list"},
    {"version: 1\nclient_ip: {trusted_proxies: [$proxies]}\nrules: []\n", 2, 31,
     "there is no list called `proxies`"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {header: Forwarded}}\n"
     "rules: []\n",
     2, 59, "pairs such as for=192.0.2.1, which are not read"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {header: a, "
     "hops_from_right: 33}}\nrules: []\n",
     2, 79, "from 1 to 32"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {}}\nrules: []\n", 2, 50,
     "needs `header`"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {header: 'a b'}}\nrules: []\n",
     2, 59, "name of a header"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {header: a, "
     "hops_from_right: 0}}\nrules: []\n",
     2, 79, "from 1 to 32"},
    {"version: 1\nclient_ip: {ipv4_prefix: 24}\nrules:\n  - id: a\n    on_match: drop\n"
     "    when: client.ip eq 192.0.2.1\n",
     6, 24, "client.ip is a network of /24 here"},
    {"version: 1\nclient_ip: {ipv4_prefix: 24}\nrules:\n  - id: a\n    on_match: drop\n"
     "    when: client.ip in {192.0.2.0/25}\n",
     6, 25, "`192.0.2.0/25` is finer"},
    {"version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {header: a}, ipv4_prefix: 24}\n"
     "rules:\n  - id: a\n    on_match: drop\n    when: client.ip eq 192.0.2.1\n",
     6, 24, "client.ip is a network of /24 here"},
    {HEAD "    key: [\"path_prefix(payload, 2)\"]\n" LIMITS, 4, 24,
     "takes a path, http.request.uri.path; payload is none"},
    {"version: 1\ndata: {lists: {a: {typ: cidr}}}\nrules: []\n", 2, 20, "did you mean `type`?"},
    // Names of limits.
    {"version: 1\nlimits:\n  \"1\": {algorithm: token_bucket, rate: 1/s, burst: 1}\nrules: []\n", 3,
     3, "no position"},
    {"version: 1\nlimits:\n  t2.1: {algorithm: token_bucket, rate: 1/s, burst: 1}\nrules: []\n", 3,
     3, "no position"},
    {"version: 1\nlimits:\n  a b: {algorithm: token_bucket, rate: 1/s, burst: 1}\nrules: []\n", 3,
     3, "letters, digits"},
    {"version: 1\nlimits: []\nrules: []\n", 2, 9, "map of names"},
    {"version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 1/s, burst: 1}\n"
     "rules:\n  - id: a\n    key: []\n    limits: [x, x]\n",
     7, 17, "listed twice"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 0/s, burst: 1}]\n", 5, 46,
     "above zero"},
    {HEAD "    key: []\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 0}]\n", 5, 58,
     "at least 1"},
};

TEST(CompileRules, EveryErrorSaysWhereAndWhat) {
    test::expect_errors(kWrong, [](std::string_view text) {
        const Outcome outcome = compile(text);
        return std::pair{outcome.rules.has_value(), outcome.problems};
    });
}

TEST(CompileRules, WhatIsNotBuiltIsAWarningForCheckAndForRulesThatAreOff) {
    const std::string text = HEAD
        "    mode: off\n    key: [registrable_domain(http.host)]\n"
        "    scope: cluster\n    limits: [{algorithm: "
        "concurrency, count: 1, idle: 1m}]\n";
    for (const Purpose purpose : {Purpose::Check, Purpose::Enforce}) {
        const Outcome outcome = compile(text, purpose);
        ASSERT_TRUE(outcome.rules.has_value());
        ASSERT_EQ(outcome.problems.size(), 2U);
        EXPECT_EQ(outcome.problems[0].severity, Severity::Warning);
    }
    EXPECT_FALSE(compile(text, Purpose::Enforce, {{"a", Mode::Monitor}}).rules.has_value());
}

struct Warned {
    std::string_view text;
    std::uint32_t line;
    std::string_view says;
};

TEST(CompileRules, WarnsOfWhatIsProbablyASlip) {
    const Warned rows[] = {
        {"version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 1/s, burst: 1}\nrules: []\n", 3,
         "no rule uses the limit `x`"},
        {HEAD "    key: []\n    per: byte\n    limits: [{algorithm: token_bucket, rate: 1MB/s, "
              "burst: 1000B}]\n",
         6, "below the MTU"},
        {HEAD "    key: []\n    cost: 2\n" LIMITS, 5,
         "the limit `1` holds 1: this cost never fits"},
        {HEAD "    key: []\n    cost: 7\n"
              "    limits: [{algorithm: sliding_log, count: 6, window: 1s}]\n",
         5, "holds 6: this cost never fits"},
        {HEAD "    key: []\n    per: byte\n    cost: 10\n"
              "    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 14KB}]\n",
         6, "holds 14000: a full-sized packet at this cost never fits"},
        {HEAD
         "    key: []\n    cost: 5\n    limits: [{algorithm: trtcm, variant: rfc2698, cir: 1/s, "
         "cbs: 9, pir: 1/s, pbs: 4}]\n",
         5, "holds 4: this cost never fits"},
        {HEAD "    key: []\n    cost: 5\n"
              "    limits: [{algorithm: srtcm, cir: 1/s, cbs: 3, ebs: 4}]\n",
         5, "holds 4: this cost never fits"},
    };
    for (const Warned& row : rows) {
        const Outcome outcome = compile(row.text);
        ASSERT_TRUE(outcome.rules.has_value()) << row.text;
        ASSERT_EQ(outcome.problems.size(), 1U) << row.text;
        EXPECT_EQ(outcome.problems[0].at.line, row.line);
        EXPECT_NE(outcome.problems[0].message.find(row.says), std::string::npos);
    }
}

// A name that two tiers use is one limit with two states, and not unused.
TEST(CompileRules, TiersAndBypassUseTheLimitsTheyName) {
    const Outcome outcome = compile(
        "version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 1/s, burst: 1}\n"
        "  y: {algorithm: token_bucket, rate: 1/s, burst: 1}\n"
        "bypass: [{when: tcp.flags.syn, key: [], limit: y}]\n"
        "rules:\n  - id: a\n    tiers: [{key: [ip.src], limits: [x]}, {key: [], limits: [x]}]\n",
        Purpose::Check);
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_TRUE(outcome.problems.empty());
    const std::vector<MeteredLimit>& limits = outcome.rules->set.rules[1].limits;
    ASSERT_EQ(limits.size(), 2U);
    EXPECT_EQ(limits[0].name, limits[1].name);
    EXPECT_NE(limits[0].identity, limits[1].identity);
}

#define LIMIT "{algorithm: token_bucket, rate: 1/s, burst: 1}"

TEST(CompileRules, TiersKeepTheirKeysAndNumberTheirLimits) {
    const Outcome outcome = compile(HEAD
                                    "    per: connection\n    tiers:\n"
                                    "      - {key: [ip.src, l4.dport], limits: [" LIMIT ", " LIMIT
                                    "]}\n"
                                    "      - {key: [], limits: [" LIMIT "]}\n");
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_TRUE(outcome.problems.empty());
    EXPECT_EQ(find_fault(outcome.rules->set), std::nullopt);
    const Rule& rule = outcome.rules->set.rules[0];
    ASSERT_EQ(rule.keys.size(), 2U);
    EXPECT_EQ(rule.keys[0].size(), 2U);
    EXPECT_TRUE(rule.keys[1].empty());
    std::string named;
    for (const MeteredLimit& limit : rule.limits) {
        EXPECT_EQ(limit.per, Per::Connection);
        named += limit.name + " of key " + std::to_string(limit.key) + ", ";
    }
    EXPECT_EQ(named, "t1.1 of key 0, t1.2 of key 0, t2.1 of key 1, ");
    const RuleSummary& shown = outcome.rules->rules[0];
    EXPECT_EQ(shown.key, "ip.src, l4.dport; []");
    EXPECT_EQ(shown.limits[1].key, "ip.src, l4.dport");
    // One worker judges the second tier, and so the first.
    EXPECT_EQ(shown.limits[1].scope, "owner");
    EXPECT_EQ(shown.limits[2].key, "[]");
    EXPECT_EQ(bound_text(shown.limits[2]),
              "1 connection + 1/s * W, packets handed to the owner of all of its rule's packets: "
              "(workers - 1) * max_unsynced would be over half of its burst; not local, since "
              "packets are handed over for `a`");
}

// State belongs to the key of the tier, not to those beside it.
TEST(CompileRules, AnotherTierLeavesTheStateOfThisOne) {
    const auto identity = [](const std::string& second) {
        const Outcome outcome =
            compile(HEAD "    tiers: [{key: [ip.src], limits: [" LIMIT "]}, {key: [" + second +
                    "], limits: [" LIMIT "]}]\n");
        return std::pair{outcome.rules->set.rules[0].limits[0].identity,
                         outcome.rules->set.rules[0].limits[1].identity};
    };
    EXPECT_EQ(identity("ip.dst").first, identity("l4.dport").first);
    EXPECT_NE(identity("ip.dst").second, identity("l4.dport").second);
}

TEST(CompileRules, BoundsTheLimitsOfAllTiersTogether) {
    const auto compiles = [](std::size_t tiers, std::size_t limits) {
        std::string text = HEAD "    tiers:\n";
        for (std::size_t i = 0; i < tiers; ++i) {
            text += "      - {key: [l4.dport], limits: [";
            for (std::size_t k = 0; k < limits; ++k) {
                text += k == 0 ? LIMIT : ", " LIMIT;
            }
            text += "]}\n";
        }
        return compile(text).rules.has_value();
    };
    EXPECT_TRUE(compiles(16, 1));
    EXPECT_TRUE(compiles(4, 4));
    EXPECT_FALSE(compiles(17, 1));
    EXPECT_FALSE(compiles(4, 5));
}

// What an unused limit counts is left to rules that are not there: its rate tells.
TEST(CompileRules, AnUnusedLimitOfBytesIsNoError) {
    const Outcome outcome = compile(
        "version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 20Mbit/s, burst: 64KiB}\n"
        "rules: []\n");
    ASSERT_TRUE(outcome.rules.has_value());
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_EQ(outcome.problems[0].severity, Severity::Warning);
}

// The same named limit, counted as each rule says.
TEST(CompileRules, ALimitWithoutPerCountsWhatItsRuleCounts) {
    const std::string_view head =
        "version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 5MB/s, burst: 64KiB}\n"
        "rules:\n  - {id: a, key: [], per: byte, limits: [x]}\n";
    const Outcome bytes = compile(head);
    ASSERT_TRUE(bytes.rules.has_value());
    EXPECT_EQ(bytes.rules->set.rules[0].limits[0].per, Per::Byte);
    EXPECT_FALSE(
        compile(std::string{head} + "  - {id: b, key: [], limits: [x]}\n").rules.has_value());
}

TEST(CompileRules, OpenConnectionsAreCountedWhateverTheUsualUnit) {
    const Outcome outcome = compile(
        HEAD "    key: [ip.src]\n    limits: [{algorithm: concurrency, count: 1, idle: 1m}]\n",
        Purpose::Check);
    ASSERT_TRUE(outcome.rules.has_value());
    const LimitSummary& limit = outcome.rules->rules[0].limits[0];
    EXPECT_EQ(limit.text, "concurrency 1 open, idle 1m per connection");
    EXPECT_EQ(limit.bound, "1 connections open at once");
    EXPECT_EQ(outcome.rules->set.rules[0].limits[0].per, Per::Connection);
}

TEST(CompileRules, HalfOpenConnectionsHaveATimeOfTheirOwn) {
    struct Row {
        const char* limit;
        std::uint32_t half_open_ms;
        CountedFrom from;
        const char* text;
    };
    for (const Row& row :
         {Row{"count: 9, idle: 1h", 60'000, CountedFrom::Syn, "concurrency 9 open, idle 1h"},
          Row{"count: 9, idle: 5s", 5'000, CountedFrom::Syn, "concurrency 9 open, idle 5s"},
          Row{"count: 9, idle: 1h, half_open: 90s", 90'000, CountedFrom::Syn,
              "concurrency 9 open, idle 1h, half open 90s"},
          Row{"count: 9, idle: 1h, from: established", 60'000, CountedFrom::Established,
              "concurrency 9 open, idle 1h, from established"}}) {
        const Outcome outcome = compile(std::string{HEAD} +
                                            "    key: [ip.src]\n    limits: [{algorithm: "
                                            "concurrency, " +
                                            row.limit + "}]\n",
                                        Purpose::Check);
        ASSERT_TRUE(outcome.rules.has_value()) << row.limit;
        const auto& limit = std::get<ConcurrencyLimit>(outcome.rules->set.rules[0].limits[0].limit);
        EXPECT_EQ(limit.half_open_ms, row.half_open_ms) << row.limit;
        EXPECT_EQ(limit.from, row.from) << row.limit;
        EXPECT_EQ(outcome.rules->rules[0].limits[0].text,
                  std::string{row.text} + " per connection");
    }
}

TEST(CompileRules, QueriesAreCountedOneByOne) {
    const Outcome outcome =
        compile(HEAD "    key: [dns.qname, dns.qtype, ip.src]\n    per: query\n" LIMITS);
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_EQ(outcome.rules->set.rules[0].limits[0].per, Per::Query);
    const LimitSummary& limit = outcome.rules->rules[0].limits[0];
    EXPECT_EQ(limit.text, "token_bucket 1/s burst 1 per query");
    EXPECT_EQ(limit.bound, "1 query + 1/s * W");
    // A number needs little room, and leaves the rest to the name.
    const GroupingKey& key = outcome.rules->set.rules[0].keys[0];
    EXPECT_EQ(key[1].room, kLeastTextRoom);
    EXPECT_EQ(key[0].room, kMostTextRoom);
}

TEST(CompileRules, RequestsAndHandshakesAreCountedOneByOne) {
    const Outcome outcome =
        compile(HEAD
                "    key: ['http.request.headers[\"X-Api-Key\"]', http.host]\n    limits:\n"
                "      - {algorithm: token_bucket, rate: 5/s, burst: 20, per: request}\n"
                "      - {algorithm: sliding_log, count: 9, window: 1s, per: handshake}\n");
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_TRUE(outcome.problems.empty());
    const std::vector<MeteredLimit>& limits = outcome.rules->set.rules[0].limits;
    EXPECT_EQ(limits[0].per, Per::Request);
    EXPECT_EQ(limits[1].per, Per::Handshake);
    const RuleSummary& rule = outcome.rules->rules[0];
    EXPECT_EQ(rule.limits[0].text, "token_bucket 5/s burst 20 per request");
    EXPECT_EQ(rule.limits[0].bound, "20 requests + 5/s * W");
    EXPECT_EQ(rule.limits[1].bound, "9 handshakes in any 1s");
    EXPECT_EQ(rule.key, "http.request.headers[\"X-Api-Key\"], http.host");
}

TEST(CompileRules, ConnectionsAreCountedOneByOne) {
    const Outcome outcome =
        compile(HEAD
                "    key: [ip.src]\n    per: connection\n    limits:\n"
                "      - {algorithm: token_bucket, rate: 5/s, burst: 20}\n"
                "      - {algorithm: sliding_log, count: 9, window: 1s, per: packet}\n");
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_TRUE(outcome.problems.empty());
    const std::vector<MeteredLimit>& limits = outcome.rules->set.rules[0].limits;
    EXPECT_EQ(limits[0].per, Per::Connection);
    EXPECT_EQ(limits[1].per, Per::Packet);
    const std::vector<LimitSummary>& shown = outcome.rules->rules[0].limits;
    EXPECT_EQ(shown[0].text, "token_bucket 5/s burst 20 per connection");
    EXPECT_EQ(shown[0].bound, "20 connections + 5/s * W");
    EXPECT_EQ(shown[1].bound, "9 packets in any 1s");
}

TEST(CompileRules, ACostIsPartOfTheRuleAndNotOfItsState) {
    const std::string head = HEAD "    key: [ip.src]\n    per: byte\n";
    const std::string limits = "    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 1MB}]\n";
    const Outcome plain = compile(head + limits);
    const Outcome five = compile(head + "    cost: 5\n" + limits);
    ASSERT_TRUE(plain.rules && five.rules);
    EXPECT_TRUE(five.problems.empty());
    EXPECT_EQ(plain.rules->set.rules[0].cost, 1U);
    EXPECT_EQ(five.rules->set.rules[0].cost, 5U);
    EXPECT_EQ(five.rules->set.rules[0].limits[0].identity,
              plain.rules->set.rules[0].limits[0].identity);
    const LimitSummary& shown = five.rules->rules[0].limits[0];
    EXPECT_EQ(shown.text, "token_bucket 1MB/s burst 1MB per byte, cost 5");
    EXPECT_EQ(shown.bound, "1MB + 1MB/s * W, each counted 5 times");
}

// When it ends is for whoever keeps the rules; what runs is the same.
TEST(CompileRules, ATtlIsSaidOfARuleAndNoPartOfIt) {
    const Outcome with = compile(HEAD "    ttl: 90s\n    on_match: drop\n");
    const Outcome without = compile(HEAD "    on_match: drop\n");
    ASSERT_TRUE(with.rules && without.rules);
    EXPECT_TRUE(with.problems.empty());
    EXPECT_EQ(with.rules->rules[0].ttl, std::chrono::seconds{90});
    EXPECT_EQ(without.rules->rules[0].ttl, std::nullopt);
    EXPECT_EQ(with.rules->set.rules.size(), 1U);
}

TEST(CompileRules, RulesThatAreOffAreCheckedToo) {
    std::string when = "    when: tcp.flags.syn";
    for (std::size_t i = 0; i < kMaxClausesPerRule; ++i) {
        const std::string port = std::to_string(i);
        when += " or (l4.sport eq " + port + " and l4.dport eq " + port + ")";
    }
    const Outcome outcome = compile(HEAD "    mode: off\n    on_match: drop\n" + when + "\n");
    EXPECT_FALSE(outcome.rules.has_value());
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_EQ(outcome.problems[0].at.line, 6U);
    EXPECT_EQ(outcome.problems[0].at.column, 11U);
    EXPECT_NE(outcome.problems[0].message.find("makes 1025 alternatives"), std::string::npos);
    EXPECT_NE(outcome.problems[0].message.find("at most 1024"), std::string::npos);
}

TEST(CompileRules, ManyFaultsStayCheap) {
    std::string keys = "version: 1\n";
    std::string whens = "version: 1\nrules:\n";
    for (int i = 0; i < 16'000; ++i) {
        keys += "k" + std::to_string(i) + ": 1\n";
        whens += "  - id: r" + std::to_string(i) +
                 "\n    when: registrable_domain(http.host) eq \"x\"\n    on_match: drop\n";
    }
    const Outcome unknown = compile(keys + "rules: []\n");
    EXPECT_FALSE(unknown.rules.has_value());
    EXPECT_EQ(unknown.problems.size(), Problems::kMaxShown + 1);
    const Outcome warned = compile(whens, Purpose::Check);
    EXPECT_TRUE(warned.rules.has_value());
    EXPECT_EQ(warned.problems.size(), Problems::kMaxShown + 1);
}

TEST(CompileRules, BoundsTheFile) {
    const Outcome outcome = compile(std::string(kMaxTextSize + 1, '\n'));
    EXPECT_FALSE(outcome.rules.has_value());
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_NE(outcome.problems[0].message.find("64 MiB"), std::string::npos);
}

TEST(CompileRules, HostileNestingIsAnErrorAndNoCrash) {
    EXPECT_FALSE(compile("version: 1\nrules: " + std::string(200'000, '[')).rules.has_value());
    EXPECT_FALSE(compile(std::string(200'000, '{')).rules.has_value());
}

}  // namespace
}  // namespace sluice::compile_test

#undef HEAD
#undef LIMITS
#undef LIMIT

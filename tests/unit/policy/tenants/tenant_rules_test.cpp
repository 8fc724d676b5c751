#include "lib/policy/compile.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/limits/limit_algorithms.hpp"
#include "lib/policy/tenants/tenant_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

// The rules of a tenant beside those of the operator: what they may say, and within which bounds.
namespace sluice::tenant_rules_test {
namespace {

TenantOptions acme() {
    return {.name = "acme",
            .networks = {*parse_prefix("198.51.100.0/24"), *parse_prefix("2001:db8:a::/48")},
            .table_share = 10,
            .rules = 4};
}

struct Outcome {
    std::optional<CompiledRules> compiled;
    std::vector<Problem> problems;

    [[nodiscard]] std::string first_error() const {
        const auto error = std::ranges::find(problems, Severity::Error, &Problem::severity);
        return error == problems.end() ? "" : error->message;
    }
};

constexpr std::string_view kOperators =
    "version: 1\nlimits: {small: {algorithm: token_bucket, rate: 1/s, burst: 1}}\nrules:\n"
    "  - {id: a, mode: enforce, key: [ip.src], limits: [small]}\n";

Outcome compile(std::string_view operators, std::string_view tenants,
                const TenantOptions& tenant = acme()) {
    const std::array parts{
        RuleFilePart{.file = "rules.yaml", .text = operators, .folder = "/"},
        RuleFilePart{.file = "acme.yaml", .text = tenants, .folder = "", .tenant = &tenant}};
    Problems problems{"rules.yaml"};
    std::optional<CompiledRules> compiled = compile_rules(
        {.file = "rules.yaml", .text = {}, .parts = parts}, Purpose::Enforce, {}, problems);
    return {std::move(compiled), problems.list()};
}

std::string file_of(std::string_view rule) {
    return "version: 1\nrules:\n  - {" + std::string{rule} + "}\n";
}
std::string with(std::string_view key) {
    return file_of(
        "id: r, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: "
        "1/s, burst: 1}], " +
        std::string{key});
}

TEST(TenantRules, StandBehindTheOperatorsUnderTheirTenantsName) {
    const Outcome both = compile(kOperators, with("when: l4.dport eq 53 or l4.dport eq 80"));
    ASSERT_TRUE(both.compiled) << both.first_error();
    ASSERT_EQ(both.compiled->rules.size(), 2U);
    EXPECT_EQ(both.compiled->rules[0].id, "a");
    EXPECT_EQ(both.compiled->rules[0].file, "") << "the only file of the operator";
    const RuleSummary& rule = both.compiled->rules[1];
    EXPECT_EQ(rule.id, "acme:r");
    EXPECT_EQ(rule.file, "acme.yaml");
    EXPECT_EQ(rule.line, 3U) << "of its own file";
    EXPECT_EQ(rule.when,
              "dir eq \"in\" and ip.dst in {198.51.100.0/24 2001:db8:a::/48} and "
              "(l4.dport eq 53 or l4.dport eq 80)");
    EXPECT_EQ(both.compiled->set.rules[1].id, "acme:r");
    const Outcome bare = compile(kOperators, with("description: all"));
    ASSERT_TRUE(bare.compiled) << bare.first_error();
    EXPECT_EQ(bare.compiled->rules[1].when,
              "dir eq \"in\" and ip.dst in {198.51.100.0/24 2001:db8:a::/48}");
    EXPECT_FALSE(bare.compiled->rules[1].sees_all);
}

// One file's names are nothing to the other: the same id, and limits.
TEST(TenantRules, AndTheOperatorsHaveNamesOfTheirOwn) {
    EXPECT_TRUE(compile(kOperators, file_of("id: a, on_match: drop")).compiled);
    const Outcome borrowed = compile(kOperators, file_of("id: b, key: [ip.src], limits: [small]"));
    EXPECT_FALSE(borrowed.compiled);
    ASSERT_EQ(borrowed.problems.size(), 1U);
    EXPECT_EQ(borrowed.problems[0].file, "acme.yaml");
    EXPECT_EQ(borrowed.problems[0].at.line, 3U);
    const Outcome twice =
        compile(kOperators, file_of("id: b, on_match: drop") + "  - {id: b, on_match: drop}\n");
    EXPECT_FALSE(twice.compiled);
}

struct Row {
    const char* what;
    std::string text;
    std::string_view refusal;  // a part of the error; empty: it is taken
};

// Every key of a rule, and every way to say what is not a tenant's.
const Row kRows[] = {
    {"id", with("when: l4.dport eq 53"), ""},
    {"description", with("description: d"), ""},
    {"mode", file_of("id: r, mode: monitor, on_match: drop"), ""},
    {"active", with("active: {days: mon}"), "`active` is not for tenants"},
    {"on_match drop", file_of("id: r, on_match: drop"), ""},
    {"on_match answers",
     file_of("id: r, when: http.host eq \"a\", on_match: {action: reply, status: 403}"),
     "past the operator's limits"},
    {"on_match allow", file_of("id: r, on_match: allow"), "past the operator's limits"},
    {"on_match pass", file_of("id: r, on_match: {action: pass}"), "past the operator's limits"},
    {"on_match tag", file_of("id: r, on_match: {action: tag, dscp: ef}"), "the action tag"},
    {"per",
     file_of("id: r, key: [ip.src], per: byte, limits: [{algorithm: token_bucket, rate: 1MB/s, "
             "burst: 1MB}]"),
     ""},
    {"tiers",
     file_of("id: r, tiers: [{key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: "
             "1}]}]"),
     ""},
    {"on_exceed pass", with("on_exceed: {action: pass}"), ""},
    {"on_exceed reset", with("on_exceed: {action: reset}"), ""},
    {"on_exceed tag", with("on_exceed: {action: tag, dscp: ef}"), "the action tag"},
    {"on_exceed shape", with("on_exceed: {action: shape, max_delay: 1s}"), "the action shape"},
    {"missing_key", with("missing_key: share"), ""},
    {"on_full", with("on_full: closed"), ""},
    {"cost", with("cost: 2"), ""},
    {"rejected_spend", with("rejected_spend: true"), ""},
    {"table_share", with("table_share: 10%"), ""},
    {"table_share beyond its own", with("table_share: 11%"), "10% of the table"},
    {"scope", with("scope: box"), ""},
    {"scope of several boxes", with("scope: cluster"), "`scope: cluster` is not for tenants"},
    {"on_color", with("on_color: {red: {action: drop}}"), "`on_color` is not for tenants"},
    {"ban of a key", with("ban: {after: 3, within: 1m, for: 1h}"), ""},
    {"ban of sources", with("ban: {after: 3, within: 1m, for: 1h, applies_to: source}"),
     "more than the key"},
    {"ban that tags", with("ban: {after: 3, within: 1m, for: 1h, action: tag, dscp: ef}"),
     "the action tag"},
    {"overrides in the file", with("overrides: {inline: [{key: 192.0.2.1, exempt: true}]}"), ""},
    {"overrides of a file", with("overrides: {file: /etc/passwd}"), "reads files of the box"},
    {"candidates", with("candidates: [{name: half, limits: {'1': {rate: 2/s}}}]"), ""},
    {"a candidate of another algorithm",
     with("candidates: [{name: half, limits: {'1': {algorithm: distinct, of: l4.dport, count: 9, "
          "window: 9s}}}]"),
     "the algorithm distinct"},
    {"dynamic", with("dynamic: {source: x, ttl: 1m}"), "`dynamic` is not for tenants"},
    {"max_unsynced", with("max_unsynced: 1"), "`max_unsynced` is not for tenants"},
    {"owner_down", with("owner_down: open"), "`owner_down` is not for tenants"},
    {"events", with("events: [limit_end]"), ""},
    {"heatmap", with("heatmap: on"), ""},
    {"notify", with("notify: {to: noc}"), "`notify` is not for tenants"},
    {"ttl", with("ttl: 1h"), ""},
    {"a list", with("when: ip.src in $partners"), "partners"},
    {"a country", with("when: ip.src.country eq \"NL\""), "databases of the box"},
    {"client.ip", with("when: client.ip eq 192.0.2.1"), "client.ip is not for tenants"},
    {"a pattern", with("when: 'http.host matches \"^a\"'"), "`matches` is not for tenants"},
    {"a text", with("when: http.host contains \"a\""), ""},
    {"a header", with("when: 'http.request.headers[\"x\"] eq \"a\"'"), "cannot be named here"},
    {"a key by country",
     file_of("id: r, key: [ip.src.country], limits: [{algorithm: token_bucket, "
             "rate: 1/s, burst: 1}]"),
     "country or ASN"},
    {"a key by client.ip",
     file_of("id: r, key: [client.ip], limits: [{algorithm: token_bucket, "
             "rate: 1/s, burst: 1}]"),
     "no client.ip"},
    {"an algorithm of growing state",
     file_of("id: r, key: [], limits: [{algorithm: sliding_log, count: 9, window: 1s}]"),
     "the algorithm sliding_log"},
    {"a named limit of one",
     "version: 1\nlimits: {l: {algorithm: distinct, of: l4.dport, count: 9, window: 9s}}\nrules: "
     "[{id: r, key: [ip.src], limits: [l]}]\n",
     "the algorithm distinct"},
    {"data", "version: 1\ndata: {asn_db: /x}\nrules: []\n", "`data` is not for tenants"},
    {"client_ip", "version: 1\nclient_ip: {}\nrules: []\n", "`client_ip` is not for tenants"},
    {"bypass", "version: 1\nbypass: []\nrules: []\n", "`bypass` is not for tenants"},
    {"services", "version: 1\nservices: []\nrules: []\n", "`services` is not for tenants"},
    {"defaults", "version: 1\ndefaults: {mode: enforce}\nrules: []\n", ""},
    {"no rules", "version: 1\nrules: []\n", ""},
    {"rules cut off", "version: 1\n", "`rules`, a list"},
    {"another version", "version: 2\nrules: []\n", "version"},
    {"nothing", "", "begins with `version: 1`"},
    {"a list at the top", "- 1\n", "begins with `version: 1`"},
    {"an id with the separator", file_of("id: 'other:r', on_match: drop"), "an id has 1 to 128"},
    {"an id with a path", file_of("id: ../r, on_match: drop"), "an id has 1 to 128"},
    {"an id that is too long with its tenant",
     file_of("id: " + std::string(124, 'r') + ", on_match: drop"), "at most 128 bytes"},
    {"an anchor", "version: 1\nrules: &a []\n", "anchor"},
    {"more rules than it has",
     "version: 1\nrules: [{id: a, on_match: drop}, {id: b, on_match: drop}, {id: c, on_match: "
     "drop}, {id: d, on_match: drop}, {id: e, on_match: drop}]\n",
     "may have 4"},
    {"a condition that ends the parenthesis", with("when: 'l4.dport eq 1) or (l4.dport eq 2'"),
     "or the end"},
    {"a condition over others alone", with("when: ip.dst eq 203.0.113.1"),
     "never match: no packet that arrives for the networks of acme is"},
};

TEST(TenantRules, SayWhatATenantMaySay) {
    for (const Row& row : kRows) {
        const Outcome got = compile(kOperators, row.text);
        EXPECT_EQ(got.compiled.has_value(), row.refusal.empty())
            << row.what << ": " << got.first_error();
        EXPECT_NE(got.first_error().find(row.refusal), std::string::npos)
            << row.what << ": " << got.first_error();
        for (const Problem& problem : got.problems) {
            EXPECT_EQ(problem.file, "acme.yaml") << row.what << ": " << problem.message;
        }
    }
}

// A part of the language that nobody has decided about is no tenant's.
TEST(TenantRules, AreDecidedAboutForEveryWordOfTheLanguage) {
    for (const LimitAlgorithm& algorithm : limit_algorithms()) {
        EXPECT_NE(std::ranges::find(kTenantAlgorithms, algorithm.name, &TenantKey::name),
                  kTenantAlgorithms.end())
            << algorithm.name;
    }
    EXPECT_NE(
        compile(kOperators, with("on_exceed: {action: teleport}")).first_error().find("none of"),
        std::string::npos);
}

// What a rule says it takes; what is left is shared among those that say nothing.
TEST(TenantRules, ShareTheTenantsPartOfTheTable) {
    constexpr std::string_view kLimits =
        "key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]";
    std::string text = "version: 1\nrules:\n  - {id: a, table_share: 4%, " + std::string{kLimits} +
                       "}\n  - {id: b, " + std::string{kLimits} + "}\n  - {id: c, " +
                       std::string{kLimits} + "}\n  - {id: d, on_match: drop}\n";
    const Outcome got = compile(kOperators, text);
    ASSERT_TRUE(got.compiled) << got.first_error();
    const std::vector<Rule>& rules = got.compiled->set.rules;
    EXPECT_EQ(rules[0].table_share, kWholeTable) << "the operator's has no share of a tenant's";
    EXPECT_EQ(rules[1].table_share, kWholeTable / 100 * 4);
    EXPECT_EQ(rules[2].table_share, kWholeTable / 100 * 3);
    EXPECT_EQ(rules[3].table_share, kWholeTable / 100 * 3);
    EXPECT_FALSE(find_fault(got.compiled->set)) << "and a dataplane takes it";
    TenantOptions small = acme();
    small.table_share = 1;
    small.rules = 8;
    const Outcome thirds =
        compile(kOperators, text.replace(text.find("table_share: 4%, "), 17, ""), small);
    ASSERT_TRUE(thirds.compiled) << thirds.first_error();
    EXPECT_EQ(thirds.compiled->set.rules[1].table_share, kWholeTable / 300);
    const auto share =
        std::ranges::find(thirds.compiled->rules[1].settings, "table_share", &NamedText::name);
    EXPECT_EQ(share->value, "0.3333%");
    EXPECT_FALSE(find_fault(thirds.compiled->set));
    const Outcome none_left = compile(
        kOperators, "version: 1\nrules:\n  - {id: a, table_share: 10%, " + std::string{kLimits} +
                        "}\n  - {id: b, " + std::string{kLimits} + "}\n");
    EXPECT_NE(none_left.first_error().find("none is left"), std::string::npos);
}

TEST(TenantRules, MakeNoMoreAlternativesThanTheirTenantHas) {
    std::string ports = "l4.dport eq 1";
    for (int port = 1; port < 9; ++port) {
        ports += " or (l4.dport eq " + std::to_string(port) + " and ip.ttl ne " +
                 std::to_string(port) + ")";
    }
    TenantOptions small = acme();
    small.rules = 1;
    std::string many = "(" + ports + ") and (ip.ttl eq 1 or ip.tos eq 2 or l4.sport eq 9)";
    const Outcome got = compile(kOperators, with("when: '" + many + "'"), small);
    EXPECT_FALSE(got.compiled);
    EXPECT_TRUE(compile(kOperators, with("when: l4.dport eq 1"), small).compiled);
}

}  // namespace
}  // namespace sluice::tenant_rules_test

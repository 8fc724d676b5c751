#include "control/daemon/rule_diff.hpp"
#include "tests/packets/list_files.hpp"

#include <gtest/gtest.h>

// What `diff` says of a change (rules, section 1.5).
namespace sluice::rule_diff_test {
namespace {

std::vector<RuleSummary> compiled_rules(const std::string& text) {
    Problems problems{"x"};
    const auto compiled = compile_rules({"x", text}, Purpose::Check, {}, problems);
    EXPECT_TRUE(compiled) << text << (problems.list().empty() ? "" : problems.list()[0].message);
    return compiled ? compiled->rules : std::vector<RuleSummary>{};
}
std::vector<RuleSummary> rules_of(const std::string& rules) {
    return compiled_rules("version: 1\nrules:\n" + rules);
}

std::vector<RuleSummary> rule_with(const std::string& limit, const std::string& key = "[ip.src]") {
    return rules_of("  - {id: a, mode: enforce, key: " + key + ", limits: [" + limit + "]}\n");
}

const std::string kA =
    "  - {id: a, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}\n";
const std::string kB = "  - {id: b, when: ip.proto eq 17, on_match: drop}\n";
const std::string kC = "  - {id: c, when: ip.proto eq 6, on_match: drop}\n";

TEST(Diff, NothingChanges) {
    const SetDiff diff = diff_of(rules_of(kA + kB), rules_of(kA + kB));
    EXPECT_TRUE(diff.added.empty() && diff.removed.empty() && diff.changed.empty());
    EXPECT_FALSE(diff.reordered);
    EXPECT_EQ(diff.unchanged, 2U);
}

TEST(Diff, WhatComesAndGoes) {
    const SetDiff diff = diff_of(rules_of(kA + kB), rules_of(kC + kB));
    EXPECT_EQ(diff.added, std::vector<std::string>{"c"});
    EXPECT_EQ(diff.removed, std::vector<std::string>{"a"});
    EXPECT_EQ(diff.unchanged, 1U);
    EXPECT_FALSE(diff.reordered) << "what stays is in the order it had";
    EXPECT_EQ(diff_of({}, rules_of(kA + kB)).added.size(), 2U);
    EXPECT_EQ(diff_of(rules_of(kA + kB), {}).removed.size(), 2U);
}

TEST(Diff, TheOrder) {
    EXPECT_TRUE(diff_of(rules_of(kA + kB + kC), rules_of(kA + kC + kB)).reordered);
    EXPECT_TRUE(diff_of(rules_of(kA + kB), rules_of(kB + kC + kA)).reordered);
    EXPECT_FALSE(diff_of(rules_of(kA + kC), rules_of(kA + kB + kC)).reordered);
}

std::vector<ServiceSummary> services_of(const std::string& services) {
    Problems problems{"x"};
    const std::string text = "version: 1\nservices:\n" + services + "rules: []\n";
    const auto compiled = compile_rules({"x", text}, Purpose::Check, {}, problems);
    EXPECT_TRUE(compiled) << text;
    return compiled ? compiled->services : std::vector<ServiceSummary>{};
}

TEST(Diff, Services) {
    const std::string web = "  - {id: web, protocol: http, when: l4.dport eq 80";
    const std::string tls = "  - {id: tls, protocol: tls, when: l4.dport eq 443}\n";
    const ServiceDiffs same =
        diff_of(services_of(web + "}\n" + tls), services_of(web + "}\n" + tls));
    EXPECT_EQ(same.unchanged, 2U);
    EXPECT_TRUE(same.added.empty() && same.removed.empty() && same.changed.empty());
    const ServiceDiffs other = diff_of(services_of(web + "}\n"),
                                       services_of(tls + web + ", mode: enforce, min_ttl: 9}\n"));
    EXPECT_EQ(other.added, std::vector<std::string>{"tls"});
    ASSERT_EQ(other.changed.size(), 1U);
    ASSERT_EQ(other.changed[0].settings.size(), 2U);
    EXPECT_EQ(other.changed[0].settings[0].what, "mode");
    EXPECT_EQ(other.changed[0].settings[0].to, "enforce");
    EXPECT_EQ(other.changed[0].settings[1].what, "min_ttl");
    EXPECT_EQ(other.changed[0].settings[1].from, "32");
    EXPECT_EQ(diff_of(services_of(tls), services_of("  []\n")).removed.size(), 1U);
    EXPECT_TRUE(diff_of(services_of(web + "}\n" + tls), services_of(tls + web + "}\n")).reordered);
    SetDiff diff;
    diff.services = other;
    EXPECT_EQ(note_of("apply", diff), "apply: added services tls; changed services web");
}

// What client.ip is stands at the top of the file, and is a setting of the rules that use it.
TEST(Diff, WhoNamesClients) {
    const std::string rules =
        "rules:\n  - {id: a, key: [client.ip], limits: [{algorithm: token_bucket, rate: 1/s, "
        "burst: 2}]}\n  - {id: b, when: client.ip eq 192.0.2.1, on_match: drop}\n" +
        kC;
    const auto with = [&](const std::string& client) {
        return compiled_rules("version: 1\n" + client + rules);
    };
    const auto from = [](const std::string& header, const std::string& proxies) {
        return "client_ip: {trusted_proxies: [" + proxies + "], from: {header: " + header + "}}\n";
    };
    const std::string one = from("X-Forwarded-For", "10.0.0.0/8");
    const auto expect = [](const SetDiff& diff, const std::string& before,
                           const std::string& after) {
        EXPECT_EQ(diff.unchanged, 1U);
        ASSERT_EQ(diff.changed.size(), 2U);
        for (const RuleDiff& rule : diff.changed) {
            ASSERT_EQ(rule.settings.size(), 1U) << rule.id;
            EXPECT_EQ(rule.settings[0].what, "client_ip");
            EXPECT_EQ(rule.settings[0].from, before);
            EXPECT_EQ(rule.settings[0].to, after);
        }
    };
    const std::string shown = "prefixes 32|128, unwrap nothing, from x-forwarded-for 1 of ";
    expect(diff_of(with(one), with(from("x-forwarded-for", "10.0.0.0/8, 192.0.2.1"))),
           shown + "10.0.0.0/8", shown + "10.0.0.0/8 192.0.2.1");
    expect(diff_of(with(one), with("")), shown + "10.0.0.0/8", "");
    expect(diff_of(with(""), with(one)), "", shown + "10.0.0.0/8");
    EXPECT_EQ(diff_of(with(one), with(from("x-forwarded-FOR", "10.0.0.0/8"))).unchanged, 3U);
}

// A list of proxies that holds other addresses is another setting; one that is only written
// otherwise is the same.
TEST(Diff, WhatAListOfProxiesHolds) {
    const auto with = [](const std::string& proxies) {
        const std::string text =
            "version: 1\ndata: {lists: {proxies: {type: cidr, file: proxies.txt}}}\n"
            "client_ip: {trusted_proxies: [10.0.0.0/8, $proxies], from: {header: x-real-ip}}\n"
            "rules:\n  - {id: a, key: [client.ip], limits: [{algorithm: token_bucket, rate: 1/s, "
            "burst: 2}]}\n" +
            kC;
        const ListReader lists = test::lists_of({{"proxies.txt", proxies}});
        Problems problems{"x"};
        const auto compiled = compile_rules({"x", text, &lists}, Purpose::Check, {}, problems);
        EXPECT_TRUE(compiled) << (problems.list().empty() ? "" : problems.list()[0].message);
        return compiled ? compiled->rules : std::vector<RuleSummary>{};
    };
    const std::string two = "192.0.2.1\n2001:db8::/32\n";
    EXPECT_EQ(diff_of(with(two), with("# the same\n2001:db8::/32\n192.0.2.1/32\n")).unchanged, 2U);
    const SetDiff diff = diff_of(with(two), with("192.0.2.2\n2001:db8::/32\n"));
    EXPECT_EQ(diff.unchanged, 1U);
    ASSERT_EQ(diff.changed.size(), 1U);
    ASSERT_EQ(diff.changed[0].settings.size(), 1U);
    const auto& [what, from, to] = diff.changed[0].settings[0];
    EXPECT_EQ(what, "client_ip");
    EXPECT_NE(from, to);
    for (const std::string& text : {from, to}) {
        EXPECT_TRUE(text.find("of 10.0.0.0/8 $proxies (2 ranges, ") != std::string::npos) << text;
    }
}

TEST(Diff, ATtl) {
    const auto with = [](const std::string& ttl) {
        return rules_of("  - {id: b, " + ttl + "when: ip.proto eq 17, on_match: drop}\n");
    };
    const SetDiff diff = diff_of(with("ttl: 60m, "), with("ttl: 90m, "));
    ASSERT_EQ(diff.changed.size(), 1U);
    ASSERT_EQ(diff.changed[0].settings.size(), 1U);
    EXPECT_EQ(diff.changed[0].settings[0].what, "ttl");
    EXPECT_EQ(diff.changed[0].settings[0].from, "1h");
    EXPECT_EQ(diff.changed[0].settings[0].to, "90m");
    EXPECT_EQ(diff_of(with(""), with("ttl: 1500ms, ")).changed.at(0).settings.at(0).to, "1500ms");
    EXPECT_EQ(diff_of(with("ttl: 24h, "), with("ttl: 1d, ")).unchanged, 1U);
}

struct LimitRow {
    const char* from;
    const char* to;
    LimitDiff::Kind kind;
    std::vector<std::string_view> because;
};
const LimitRow kLimits[] = {
    {"{algorithm: token_bucket, rate: 1/s, burst: 2}",
     "{algorithm: token_bucket, rate: 9/s, burst: 2}",
     LimitDiff::Kind::Changed,
     {}},
    {"{algorithm: token_bucket, rate: 1/s, burst: 2}",
     "{algorithm: token_bucket, rate: 1/s, burst: 3}",
     LimitDiff::Kind::Changed,
     {}},
    {"{algorithm: leaky_bucket, rate: 1/s, queue: 2}",
     "{algorithm: leaky_bucket, rate: 1/s, queue: 3}",
     LimitDiff::Kind::Changed,
     {}},
    {"{algorithm: fixed_window, count: 5, window: 1m}",
     "{algorithm: fixed_window, count: 6, window: 60s}",
     LimitDiff::Kind::Changed,
     {}},
    {"{algorithm: trtcm, variant: rfc2698, cir: 1/s, cbs: 1, pir: 2/s, pbs: 2}",
     "{algorithm: trtcm, variant: rfc2698, cir: 2/s, cbs: 1, pir: 3/s, pbs: 2}",
     LimitDiff::Kind::Changed,
     {}},
    {"{algorithm: fixed_window, count: 5, window: 1m}",
     "{algorithm: fixed_window, count: 5, window: 2m}",
     LimitDiff::Kind::Reset,
     {"window"}},
    {"{algorithm: fixed_window, count: 5, window: 1m}",
     "{algorithm: fixed_window, count: 5, window: 1m, phase: first}",
     LimitDiff::Kind::Reset,
     {"phase"}},
    {"{algorithm: sliding_counters, count: 5, window: 1m, buckets: 60}",
     "{algorithm: sliding_counters, count: 5, window: 1m, buckets: 30}",
     LimitDiff::Kind::Reset,
     {"buckets"}},
    {"{algorithm: sliding_counters, count: 5, window: 1m}",
     "{algorithm: sliding_counters, count: 9, window: 1m, edge: lenient}",
     LimitDiff::Kind::Reset,
     {"edge"}},
    {"{algorithm: trtcm, variant: rfc2698, cir: 1/s, cbs: 1, pir: 2/s, pbs: 2}",
     "{algorithm: trtcm, variant: rfc4115, cir: 1/s, cbs: 1, eir: 2/s, ebs: 2}",
     LimitDiff::Kind::Reset,
     {"variant"}},
    {"{algorithm: token_bucket, rate: 1/s, burst: 2}",
     "{algorithm: token_bucket, per: byte, rate: 1MB/s, burst: 2MB}",
     LimitDiff::Kind::Reset,
     {"per"}},
    {"{algorithm: token_bucket, rate: 1/s, burst: 2}",
     "{algorithm: fixed_window, count: 5, window: 1m}",
     LimitDiff::Kind::Reset,
     {"algorithm"}},
};

TEST(Diff, WhatBecomesOfALimit) {
    for (const LimitRow& row : kLimits) {
        const SetDiff diff = diff_of(rule_with(row.from), rule_with(row.to));
        ASSERT_EQ(diff.changed.size(), 1U) << row.to;
        EXPECT_TRUE(diff.changed[0].settings.empty()) << row.to;
        ASSERT_EQ(diff.changed[0].limits.size(), 1U) << row.to;
        const LimitDiff& limit = diff.changed[0].limits[0];
        EXPECT_EQ(limit.name, "1");
        EXPECT_EQ(limit.kind, row.kind) << row.from << " -> " << row.to;
        EXPECT_EQ(limit.because, row.because) << row.from << " -> " << row.to;
        EXPECT_NE(limit.from, limit.to);
    }
}

// What diff foretells is what the compiler does: state goes with the identity.
TEST(Diff, SaysResetWhereTheIdentityChanges) {
    const auto identity = [](const std::string& limit) {
        Problems problems{"x"};
        const std::string text =
            "version: 1\nrules:\n  - {id: a, mode: enforce, key: [ip.src], limits: [" + limit +
            "]}\n";
        return compile_rules({"x", text}, Purpose::Enforce, {}, problems)
            ->set.rules[0]
            .limits[0]
            .identity;
    };
    for (const LimitRow& row : kLimits) {
        EXPECT_EQ(identity(row.from) != identity(row.to), row.kind == LimitDiff::Kind::Reset)
            << row.to;
    }
}

TEST(Diff, AnotherKeyResetsEveryLimitOfTheRule) {
    const std::string limits =
        "{algorithm: token_bucket, rate: 1/s, burst: 2}, {algorithm: sliding_log, count: 3, "
        "window: 1m}";
    const SetDiff diff =
        diff_of(rule_with(limits), rule_with(limits, "[\"prefix(ip.src, 24|64)\"]"));
    ASSERT_EQ(diff.changed.size(), 1U);
    ASSERT_EQ(diff.changed[0].settings.size(), 1U);
    EXPECT_EQ(diff.changed[0].settings[0].what, "key");
    ASSERT_EQ(diff.changed[0].limits.size(), 2U);
    for (const LimitDiff& limit : diff.changed[0].limits) {
        EXPECT_EQ(limit.kind, LimitDiff::Kind::Reset);
        EXPECT_EQ(limit.because, std::vector<std::string_view>{"key"});
    }
}

TEST(Diff, LimitsThatComeAndGo) {
    const std::string one = "{algorithm: token_bucket, rate: 1/s, burst: 2}";
    const SetDiff more = diff_of(rule_with(one), rule_with(one + ", " + one));
    ASSERT_EQ(more.changed.at(0).limits.size(), 1U);
    EXPECT_EQ(more.changed[0].limits[0].kind, LimitDiff::Kind::Added);
    EXPECT_EQ(more.changed[0].limits[0].name, "2");
    const SetDiff less = diff_of(rule_with(one + ", " + one), rule_with(one));
    EXPECT_EQ(less.changed.at(0).limits.at(0).kind, LimitDiff::Kind::Removed);
}

// What another worker owns from then on begins anew there.
TEST(Diff, AnotherOwner) {
    const std::string log = ", limits: [{algorithm: sliding_log, count: 2, window: 1s}]}\n";
    const std::string hosts = "  - {id: a, key: [ip.dst]" + log;
    const SetDiff diff =
        diff_of(rules_of(hosts), rules_of(hosts + "  - {id: b, key: [ip.proto]" + log));
    ASSERT_EQ(diff.changed.size(), 1U);
    ASSERT_EQ(diff.changed[0].limits.size(), 1U);
    EXPECT_EQ(diff.changed[0].limits[0].kind, LimitDiff::Kind::Changed);
    EXPECT_NE(diff.changed[0].limits[0].from.find("to the owner of their ip.dst"),
              std::string::npos);
    EXPECT_NE(diff.changed[0].limits[0].to.find("to the owner of all of its rule's packets"),
              std::string::npos);
    EXPECT_TRUE(diff_of(rules_of(hosts), rules_of(hosts)).changed.empty());
}

TEST(Diff, Settings) {
    const std::string limits = ", limits: [{algorithm: token_bucket, rate: 1/s, burst: 20}]}\n";
    const SetDiff diff = diff_of(
        rules_of("  - {id: a, key: [ip.src]" + limits),
        rules_of("  - {id: a, description: x, mode: enforce, when: ip.proto eq 6, key: [ip.src], "
                 "on_exceed: {action: pass}, missing_key: share, on_full: open, table_share: 10%, "
                 "rejected_spend: true, heatmap: on" +
                 limits));
    ASSERT_EQ(diff.changed.size(), 1U);
    // Packets without a source share one bucket now, whichever worker they meet.
    ASSERT_EQ(diff.changed[0].limits.size(), 1U);
    EXPECT_EQ(diff.changed[0].limits[0].kind, LimitDiff::Kind::Changed);
    EXPECT_EQ(diff.changed[0].limits[0].from, "token_bucket 1/s burst 20 per packet, local");
    EXPECT_TRUE(diff.changed[0].limits[0].to.starts_with(
        "token_bucket 1/s burst 20 per packet, merged, + 2 packets for each worker"));
    std::vector<std::string> seen;
    for (const SettingDiff& setting : diff.changed[0].settings) {
        seen.push_back(std::string{setting.what} + ": " + setting.from + " -> " + setting.to);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{
                        "description:  -> x", "mode: monitor -> enforce", "when:  -> ip.proto eq 6",
                        "action: drop -> pass", "missing_key: skip -> share",
                        "on_full: coarsen by 16 -> open", "table_share: 100% -> 10%",
                        "rejected_spend: false -> true", "heatmap: off -> on"}));
}

TEST(Diff, ARuleThatDecidesOnSightNow) {
    const SetDiff diff = diff_of(rules_of(kA), rules_of("  - {id: a, on_match: drop}\n"));
    ASSERT_EQ(diff.changed.size(), 1U);
    ASSERT_EQ(diff.changed[0].settings.size(), 2U);
    EXPECT_EQ(diff.changed[0].settings[1].what, "action");
    EXPECT_EQ(diff.changed[0].limits.at(0).kind, LimitDiff::Kind::Removed);
}

TEST(Diff, AnActionOnSight) {
    const auto with = [](const std::string& on_match) {
        return rules_of("  - {id: a, when: 'http.host eq \"x\"', on_match: " + on_match + "}\n");
    };
    const SetDiff diff = diff_of(with("drop"), with("{action: reply, status: 451}"));
    ASSERT_EQ(diff.changed.size(), 1U);
    ASSERT_EQ(diff.changed[0].settings.size(), 1U);
    EXPECT_EQ(diff.changed[0].settings[0].what, "action");
    EXPECT_EQ(diff.changed[0].settings[0].from, "on_match drop");
    EXPECT_EQ(diff.changed[0].settings[0].to, "on_match reply 451");
    EXPECT_EQ(diff_of(with("drop"), with("{action: drop}")).unchanged, 1U);
}

}  // namespace
}  // namespace sluice::rule_diff_test

#include "lib/policy/placement/box_scopes.hpp"

#include "lib/policy/placement/common_parts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

// Which limits are local, merged or at owners, and by what the owners go.
namespace sluice::box_scopes_test {
namespace {

#define LOG "limits: [{algorithm: sliding_log, count: 9, window: 1s}]"
#define BUCKET "limits: [{algorithm: token_bucket, rate: 100/s, burst: 100}]"
#define FEW "limits: [{algorithm: token_bucket, rate: 9/s, burst: 3}]"

CompiledRules compile(const std::string& rules, const RssMapping& box,
                      const KeySettings& keys = {}) {
    const std::string text = "version: 1\ndefaults: {mode: enforce}\nrules:\n" + rules;
    Problems problems{"x"};
    auto compiled = compile_rules({.file = "x", .text = text, .keys = &keys, .box = &box},
                                  Purpose::Enforce, {}, problems);
    if (!compiled) {
        throw std::runtime_error(render(problems.list().front(), text));
    }
    EXPECT_EQ(find_fault(compiled->set), std::nullopt);
    return *std::move(compiled);
}

// "a local, b owner(ip.dst)": each limit, and behind the first of a rule its group's parts.
std::string scopes(const std::string& rules, std::size_t workers = 4) {
    RssMapping box = usual_rss_mapping();
    box.workers = workers;
    const CompiledRules compiled = compile(rules, box);
    std::string text;
    for (const Rule& rule : compiled.set.rules) {
        text += (text.empty() ? "" : "; ") + rule.id;
        for (const MeteredLimit& limit : rule.limits) {
            text += " " + std::string{kLimitScopeNames[static_cast<std::size_t>(limit.scope)]};
        }
        if (rule.owner_group != 0) {
            const OwnerGroup& group = compiled.set.owner_groups[rule.owner_group - 1U];
            EXPECT_EQ(group.salt == 0, !group.parts.empty());
            text += " " + std::to_string(rule.owner_group) + "(" + parts_text(group.parts) + ")";
        }
    }
    return text;
}

struct Row {
    std::string_view name;
    std::string_view rules;
    std::string_view scopes;
};

TEST(BoxScopes, Table) {
    const Row rows[] = {
        {"by the source", "  - {id: a, key: [ip.src], " LOG "}\n", "a local"},
        {"a bucket", "  - {id: a, key: [ip.dst], " BUCKET "}\n", "a merged"},
        {"a log", "  - {id: a, key: [ip.dst], " LOG "}\n", "a owner 1(ip.dst)"},
        {"a bucket too small", "  - {id: a, key: [ip.dst], " FEW "}\n", "a owner 1(ip.dst)"},
        {"a colour meter",
         "  - {id: a, key: [l4.dport], limits: [{algorithm: srtcm, cir: 9/s, cbs: 9, ebs: 9}]}\n",
         "a owner 1(l4.dport)"},
        {"own numbers",
         "  - {id: a, key: [ip.dst], overrides: {inline: [{key: 192.0.2.1, exempt: true}]}, " BUCKET
         "}\n",
         "a owner 1(ip.dst)"},
        {"the whole rule", "  - {id: a, key: [], " LOG "}\n", "a owner 1()"},
        {"those that lack a part share",
         "  - {id: a, key: [ip.dst], missing_key: share, " LOG "}\n", "a owner 1()"},
        {"two groups",
         "  - {id: a, when: ip.proto eq 6, key: [ip.dst], " LOG
         "}\n  - {id: b, when: ip.proto eq 17, key: [l4.dport], " LOG "}\n",
         "a owner 1(ip.dst); b owner 2(l4.dport)"},
        {"one group, by what they have in common",
         "  - {id: a, key: [ip.dst, l4.dport], " LOG
         "}\n  - {id: b, key: [\"prefix(ip.dst, 24|64)\"], " LOG "}\n",
         "a owner 1(prefix(ip.dst, 24|64)); b owner 1(prefix(ip.dst, 24|64))"},
        {"units of a later layer", "  - {id: a, key: [dns.qname], per: query, " LOG "}\n",
         "a asked"},
        {"clients that requests name",
         "  - {id: a, key: [client.ip], " LOG
         "}\nclient_ip: {trusted_proxies: [192.0.2.0/24], from: {header: x-forwarded-for, "
         "hops_from_right: 1}}\n",
         "a asked"},
        {"headers of packets that may have units",
         "  - {id: a, key: [ip.dst], " LOG "}\n  - {id: b, when: dns.qr eq 1, on_match: drop}\n",
         "a asked; b"},
        {"headers of packets that have none, and of both",
         "  - {id: a, when: ip.proto eq 6, key: [ip.dst], " LOG
         "}\n  - {id: b, when: ip.proto eq 17 and dns.qr eq 1, on_match: drop}\n  - {id: c, key: "
         "[ip.src], " LOG "}\n",
         "a owner 1(ip.dst); b; c asked"},
        {"nothing in common",
         "  - {id: a, key: [ip.dst], " LOG "}\n  - {id: b, key: [l4.dport], " LOG "}\n",
         "a owner 1(); b owner 1()"},
        {"one group by way of a third",
         "  - {id: a, when: l4.dport eq 1, key: [ip.dst, l4.dport], " LOG
         "}\n  - {id: b, when: l4.dport eq 2, key: [ip.dst], " LOG
         "}\n  - {id: c, when: \"l4.dport in {1 2}\", key: [ip.dst], " LOG "}\n",
         "a owner 1(ip.dst); b owner 1(ip.dst); c owner 1(ip.dst)"},
        {"local no more, but merged",
         "  - {id: a, key: [ip.src], " BUCKET "}\n  - {id: b, key: [ip.dst], " LOG "}\n",
         "a merged; b owner 1(ip.dst)"},
        {"local no more, at owners",
         "  - {id: a, key: [ip.src], " LOG "}\n  - {id: b, key: [ip.dst], " LOG "}\n",
         "a owner 1(); b owner 1()"},
        {"local, since no packet is of both",
         "  - {id: a, when: l4.dport eq 80, key: [ip.src], " LOG
         "}\n  - {id: b, when: l4.dport eq 53, key: [ip.dst], " LOG "}\n",
         "a local; b owner 1(ip.dst)"},
        {"one draws the other along",
         "  - {id: a, when: l4.dport eq 1, key: [ip.dst], " LOG
         "}\n  - {id: b, when: \"l4.dport in {1 2}\", key: [ip.src], " LOG
         "}\n  - {id: c, when: \"l4.dport in {2 3}\", key: [ip.src], " LOG
         "}\n  - {id: d, when: l4.dport eq 3, key: [ip.src], " BUCKET
         "}\n  - {id: e, when: l4.dport eq 4, key: [ip.src], " BUCKET "}\n",
         "a owner 1(); b owner 1(); c owner 1(); d merged; e local"},
        {"a rule that only watches counts",
         "  - {id: a, mode: monitor, key: [ip.dst], " LOG "}\n  - {id: b, key: [ip.src], " BUCKET
         "}\n",
         "a owner 1(ip.dst); b merged"},
        {"one that is off does not",
         "  - {id: a, mode: 'off', key: [ip.dst], " LOG "}\n  - {id: b, key: [ip.src], " BUCKET
         "}\n",
         "b local"},
        {"a block list does not",
         "  - {id: a, on_match: drop}\n  - {id: b, key: [ip.src], " BUCKET "}\n", "a; b local"},
        {"tiers: only what must be",
         "  - {id: a, tiers: [{key: [ip.src], " BUCKET "}, {key: [ip.dst], " LOG "}]}\n",
         "a merged owner 1(ip.dst)"},
        {"a bucket whose packets all come to one owner is exact",
         "  - {id: a, key: [ip.dst], limits: [{algorithm: sliding_log, count: 9, window: 1s}, "
         "{algorithm: token_bucket, rate: 100/s, burst: 100}]}\n",
         "a owner owner 1(ip.dst)"},
        {"a candidate that cannot be merged is of its rule's packets",
         "  - {id: a, key: [ip.dst], " BUCKET
         ", candidates: [{name: b, limits: {\"1\": {burst: 3}}}]}\n"
         "  - {id: c, key: [ip.src], " BUCKET "}\n",
         "a merged; a.b owner 1(ip.dst); c merged"},
        {"a text in small letters",
         "  - {id: a, key: [payload, l4.dport], " LOG
         "}\n  - {id: b, key: [\"lower(payload)\"], " LOG "}\n",
         "a owner 1(lower(payload)); b owner 1(lower(payload))"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(scopes(std::string{row.rules}), row.scopes) << row.name;
    }
}

// Numbers of single keys are counted at their owners, bans and exemptions are not counted.
TEST(BoxScopes, OnlyNumbersOfItsOwnKeepAKeyFromBeingMerged) {
    using What = KeySetting::What;
    RssMapping box = usual_rss_mapping();
    box.workers = 4;
    for (const What what : {What::Banned, What::Exempt, What::Numbers}) {
        const KeySetting setting{.rule = "a",
                                 .key = "192.0.2.1",
                                 .what = what,
                                 .limit = what == What::Numbers ? "1" : "",
                                 .rate = what == What::Numbers ? "5/s" : ""};
        const CompiledRules compiled =
            compile("  - {id: a, key: [ip.dst], " BUCKET "}\n", box, {setting});
        EXPECT_EQ(compiled.rules.front().limits.front().scope,
                  what == What::Numbers ? "owner" : "merged");
    }
}

TEST(BoxScopes, ABudgetCountsToo) {
    EXPECT_EQ(scopes("  - {id: b, key: [ip.src], " BUCKET "}\n"
                     "bypass: [{when: l4.dport eq 53, key: [ip.dst], limit: {algorithm: "
                     "token_bucket, rate: 1/s, burst: 2}}]\n"),
              "bypass.1 owner 1(ip.dst); b merged");
}

// The same rules for boxes with more and more workers.
TEST(BoxScopes, WhatIsMergedDependsOnTheWorkers) {
    const std::string rules = "  - {id: a, key: [ip.dst], " BUCKET "}\n";
    EXPECT_EQ(scopes(rules, 1), "a local");
    EXPECT_EQ(scopes(rules, 4), "a merged");
    EXPECT_EQ(scopes(rules, 26), "a merged");
    EXPECT_EQ(scopes(rules, 27), "a owner 1(ip.dst)");
}

TEST(BoxScopes, AndOnTheMergeInterval) {
    RssMapping box = usual_rss_mapping();
    const auto scope = [&](Nanoseconds interval) {
        box.merge_interval = interval;
        return compile("  - {id: a, key: [ip.dst], " BUCKET "}\n", box).rules[0].limits[0].scope;
    };
    EXPECT_EQ(scope(std::chrono::milliseconds{1}), "merged");
    EXPECT_EQ(scope(std::chrono::seconds{1}), "owner");
}

TEST(BoxScopes, SaysWhatItCosts) {
    const RssMapping box = usual_rss_mapping();
    const CompiledRules compiled =
        compile("  - {id: a, key: [ip.src], " BUCKET "}\n  - {id: b, key: [ip.dst], " LOG
                "}\n  - {id: c, when: l4.dport eq 1, key: [], " LOG "}\n",
                box);
    EXPECT_EQ(compiled.one_worker_notes.size(), 2U);
    EXPECT_TRUE(compiled.one_worker_notes[0].starts_with("b: one worker judges all of its"));
    EXPECT_TRUE(bound_text(compiled.rules[0].limits[0])
                    .ends_with("; not local, since packets are handed over for `b`"))
        << bound_text(compiled.rules[0].limits[0]);
}

// Thousands of rules for a network each stay as many groups.
TEST(BoxScopes, ManyRulesAreToldApart) {
    std::string rules;
    constexpr int kRules = 3'000;
    for (int i = 0; i < kRules; ++i) {
        const std::string net = "10." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        rules += "  - {id: r" + std::to_string(i) + ", when: \"ip.dst in {" + net +
                 ".0/24}\", key: [" + (i % 2 == 0 ? "ip.dst" : "l4.dport") + "], " LOG "}\n";
    }
    const CompiledRules compiled = compile(rules, usual_rss_mapping());
    EXPECT_EQ(compiled.set.owner_groups.size(), std::size_t{kRules});
    EXPECT_TRUE(compiled.one_worker_notes.empty());
}

// A rule that is off is shown as it would be by itself.
TEST(BoxScopes, OffIsShownToo) {
    const CompiledRules compiled =
        compile("  - {id: a, mode: 'off', key: [ip.dst], " LOG "}\n", usual_rss_mapping());
    EXPECT_EQ(compiled.rules[0].limits[0].scope, "owner");
    EXPECT_TRUE(compiled.set.owner_groups.empty());
}

#undef LOG
#undef BUCKET
#undef FEW

}  // namespace
}  // namespace sluice::box_scopes_test

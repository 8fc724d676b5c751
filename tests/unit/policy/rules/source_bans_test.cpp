#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// Bans that hold for all that a source sends: which rules may have one, and which never begins.
namespace sluice::source_bans_test {
namespace {

const std::string kWeb =
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1', mode: enforce}\n";
constexpr std::string_view kLimits = "{algorithm: token_bucket, rate: 1/s, burst: 9}";

std::string rule(const std::string& id, const std::string& more = "",
                 std::string_view limits = kLimits) {
    return "  - id: " + id + "\n    mode: enforce\n    key: [ip.src]\n    limits: [" +
           std::string{limits} + "]\n    ban: {after: 3, within: 10s, for: 1m, applies_to: source" +
           more + "}\n";
}
std::string with_when(std::string text, const std::string& when) {
    return text.insert(text.find("    key:"), "    when: '" + when + "'\n");
}
std::string file(const std::string& before, const std::string& rules) {
    return "version: 1\n" + before + "rules:\n" + rules;
}
bool says(const std::string& text, Severity severity, std::string_view what) {
    const test::Outcome outcome = test::compile({.file = "r", .text = text});
    EXPECT_EQ(outcome.rules.has_value(), severity != Severity::Error) << text;
    return std::any_of(outcome.problems.begin(), outcome.problems.end(), [&](const Problem& one) {
        return one.severity == severity && one.message.find(what) != std::string::npos;
    });
}

TEST(SourceBans, AreOfEightRulesOfASetAtMost) {
    std::string rules;
    for (int i = 0; i < 8; ++i) {
        rules += rule("r" + std::to_string(i));
    }
    EXPECT_FALSE(says(file(kWeb, rules), Severity::Warning, "never begins"));
    EXPECT_TRUE(says(file(kWeb, rules + rule("last")), Severity::Error,
                     "more than 8 rules have a ban with `applies_to: source`"));
}

TEST(SourceBans, NeverBeginWhereNoHandshakeIsSeen) {
    constexpr std::string_view kNone = "`path: both`, and none is declared";
    EXPECT_TRUE(says(file("", rule("r")), Severity::Warning, kNone));
    EXPECT_FALSE(says(file(kWeb, rule("r")), Severity::Warning, kNone));
    EXPECT_FALSE(says(file("", rule("r", ", spoofable: yes")), Severity::Warning, kNone));
    std::string one_way = kWeb;
    one_way.insert(one_way.find(", mode"), ", path: inbound");
    EXPECT_TRUE(says(file(one_way, rule("r")), Severity::Warning, kNone));
    std::string monitored = kWeb;
    monitored.replace(monitored.find("enforce"), 7, "monitor");
    EXPECT_TRUE(says(file(monitored, rule("r")), Severity::Warning, kNone));
}

TEST(SourceBans, NeverBeginWhereLimitsRefuseNothingButTheBeginning) {
    constexpr std::string_view kNever = "the rule's limits refuse what begins one";
    constexpr std::string_view kOpen = "{algorithm: concurrency, count: 5, idle: 60s}";
    constexpr std::string_view kNew =
        "{algorithm: token_bucket, per: connection, rate: 1/s, burst: 9}";
    for (const std::string_view limit : {kOpen, kNew}) {
        EXPECT_TRUE(says(file(kWeb, rule("r", "", limit)), Severity::Warning, kNever)) << limit;
        const std::string both = std::string{limit} + ", " + std::string{kLimits};
        EXPECT_FALSE(says(file(kWeb, rule("r", "", both)), Severity::Warning, kNever)) << limit;
        EXPECT_FALSE(
            says(file(kWeb, rule("r", ", spoofable: yes", limit)), Severity::Warning, kNever))
            << limit;
    }
}

TEST(SourceBans, NeverBeginWhereTheConditionLetsNoProofThrough) {
    struct Row {
        std::string when;
        std::string_view why;  // empty: it may begin
    };
    constexpr std::string_view kSegments = "by segments that are neither SYN nor RST";
    constexpr std::string_view kPackets = "its condition lets through no packet of one";
    const Row rows[] = {
        {"tcp.flags.syn and not tcp.flags.ack", kSegments},
        {"tcp.flags.rst", kSegments},
        {"ip.proto eq 17", kSegments},
        {"ip.dst eq 192.0.2.2", kPackets},
        {"tcp.flags.syn or tcp.flags.ack", ""},
        {"ip.dst in {192.0.2.0/24}", ""},
        {"l4.dport eq 80", ""},
        {"ip.proto eq 6", ""},
    };
    for (const Row& row : rows) {
        const std::string text = file(kWeb, with_when(rule("r"), row.when));
        EXPECT_EQ(says(text, Severity::Warning, kSegments), row.why == kSegments) << row.when;
        EXPECT_EQ(says(text, Severity::Warning, kPackets), row.why == kPackets) << row.when;
        const std::string forged = file(kWeb, with_when(rule("r", ", spoofable: yes"), row.when));
        EXPECT_FALSE(says(forged, Severity::Warning, "never begins")) << row.when;
    }
}

TEST(SourceBans, OfPrefixesThatAreManyNetworksAreWarnedOf) {
    const auto banning = [](const std::string& key) {
        std::string text = rule("r");
        text.replace(text.find("[ip.src]"), 8, "['" + key + "']");
        return file(kWeb, text);
    };
    constexpr std::string_view kEverybody = "and with it everybody there";
    for (const std::string key :
         {"prefix(ip.src, 0|0)", "prefix(ip.src, 7|64)", "prefix(ip.src, 24|15)"}) {
        EXPECT_TRUE(says(banning(key), Severity::Warning, kEverybody)) << key;
    }
    for (const std::string key : {"prefix(ip.src, 8|16)", "prefix(ip.src, 24|64)", "ip.src"}) {
        EXPECT_FALSE(says(banning(key), Severity::Warning, kEverybody)) << key;
    }
}

TEST(SourceBans, BehindProxiesAreWarnedOf) {
    constexpr std::string_view kProxy = "that is the proxy";
    std::string proxied = kWeb;
    proxied.insert(proxied.find(", mode"), ", proxy_protocol: {from: [10.0.0.0/8]}");
    const std::string trusted =
        "client_ip: {trusted_proxies: [10.0.0.0/8], from: {header: x-forwarded-for}}\n" + kWeb;
    const auto let_be = [](const std::string& sources) {
        return "bypass:\n  - {when: 'ip.src in {" + sources +
               "}', key: [], limit: {algorithm: token_bucket, rate: 1000/s, burst: 100}}\n";
    };
    for (const std::string& before : {proxied, trusted}) {
        EXPECT_TRUE(says(file(before, rule("r")), Severity::Warning, kProxy)) << before;
        EXPECT_TRUE(
            says(file(before + let_be("10.0.0.0/9"), rule("r")), Severity::Warning, kProxy));
        EXPECT_FALSE(
            says(file(before + let_be("10.0.0.0/8"), rule("r")), Severity::Warning, kProxy))
            << before;
        const std::string others = with_when(rule("r"), "not ip.src in {10.0.0.0/8}");
        EXPECT_FALSE(says(file(before, others), Severity::Warning, kProxy)) << before;
    }
    const std::string elsewhere = with_when(rule("r"), "ip.dst eq 192.0.2.2");
    EXPECT_FALSE(says(file(proxied, elsewhere), Severity::Warning, kProxy));
    EXPECT_FALSE(says(file(kWeb, rule("r")), Severity::Warning, kProxy));
}

TEST(SourceBans, WhoeverMayForgeIsWarnedOf) {
    EXPECT_TRUE(says(file("", rule("r", ", spoofable: yes")), Severity::Warning,
                     "whoever forges an address has all that it sends dropped"));
    EXPECT_FALSE(says(file(kWeb, rule("r", ", spoofable: no")), Severity::Warning, "forges"));
}

TEST(SourceBans, SayInRulesWhatTheyHoldFor) {
    const std::string text = file(kWeb, rule("r") + rule("s", ", spoofable: yes"));
    const test::Outcome outcome = test::compile({.file = "r", .text = text});
    ASSERT_TRUE(outcome.rules.has_value());
    EXPECT_EQ(outcome.rules->rules[0].ban,
              "after 3 refusals within 10s, for 1m: drop, all that the source sends");
    EXPECT_EQ(outcome.rules->rules[1].ban,
              "after 3 refusals within 10s, for 1m: drop, all that the source sends; forged "
              "refusals count");
    EXPECT_EQ(outcome.rules->set.rules[0].ban.applies_to, BanScope::Source);
    EXPECT_FALSE(outcome.rules->set.rules[0].ban.spoofable);
    EXPECT_TRUE(outcome.rules->set.rules[1].ban.spoofable);
}

}  // namespace
}  // namespace sluice::source_bans_test

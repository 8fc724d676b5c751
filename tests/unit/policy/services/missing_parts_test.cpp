#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::missing_parts_test {
namespace {

constexpr std::string_view kServices = R"(version: 1
services:
  - {id: web, protocol: http, when: "l4.dport in {80 8080}", mode: enforce}
  - {id: late, protocol: tls, when: l4.dport eq 443, mode: enforce}
  - {id: h3, protocol: quic, when: l4.dport eq 443, mode: enforce}
rules:
)";

struct Limited {
    std::string_view when;
    std::string_view per;
    std::string_view key;  // in its list
    std::string_view more = "";
    std::string_view mode = "enforce";
};

std::string rule(const std::string& id, const Limited& limited) {
    return "  - id: " + id + "\n    mode: " + std::string{limited.mode} + "\n    when: '" +
           std::string{limited.when} + "'\n    key: [" + std::string{limited.key} +
           "]\n    per: " + std::string{limited.per} +
           "\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n" +
           std::string{limited.more};
}

// Warnings of the set, a line each.
std::string warnings_of(const std::string& rules) {
    const std::string text = std::string{kServices} + rules;
    const test::Outcome outcome = test::compile({.file = "r", .text = text}, Purpose::Check);
    EXPECT_TRUE(outcome.rules.has_value()) << text;
    std::string all;
    for (const Problem& problem : outcome.problems) {
        const bool is_of_suffixes = problem.message.starts_with("registrable_domain()");
        all +=
            is_of_suffixes ? "" : std::to_string(problem.at.line) + ": " + problem.message + "\n";
    }
    return all;
}
std::string warnings_of(const Limited& limited) {
    return warnings_of(rule("r", limited));
}
bool warns(const Limited& limited, std::string_view of) {
    return warnings_of(limited).find("leaves out `" + std::string{of} + "`") != std::string::npos;
}

constexpr std::string_view kWeb = "l4.dport eq 80";
constexpr std::string_view kLate = "l4.dport eq 443";
constexpr Limited kBySni{kLate, "handshake", "tls.sni, ip.src"};

TEST(MissingParts, AreToldWithTheirCure) {
    EXPECT_EQ(
        warnings_of(kBySni),
        "7: this rule can be walked around over `late`: a client that leaves out `tls.sni`, a "
        "part of its key, meets no limit of it (`missing_key: skip`); add a rule for those "
        "without it, over `proto.l7 eq \"tls\" and not tls.sni contains \".\"`, or say "
        "`missing_key: share`\n");
    EXPECT_EQ(warnings_of({kWeb, "request", "'http.request.headers[\"x-api-key\"]'"}),
              "7: this rule can be walked around over `web`: a client that leaves out "
              "`http.request.headers[\"x-api-key\"]`, a part of its key, meets no limit of it "
              "(`missing_key: skip`); add a rule for those without it, over "
              "`not (http.request.headers[\"x-api-key\"] ne \"\")`, or say `missing_key: share`\n");
}

TEST(MissingParts, AreFieldsWhoseValuesAreCounted) {
    const auto of_values = [](const std::string& field, const std::string& more) {
        return warnings_of(
            "  - id: r\n    mode: enforce\n    when: 'l4.dport eq 443'\n    key: "
            "[ip.src]\n    per: handshake\n    limits: [{algorithm: distinct, of: " +
            field + ", count: 3, window: 1m}" + more + "]\n");
    };
    const auto tells = [](const std::string& warnings) {
        return warnings.find(
                   "leaves out `tls.sni`, the field whose values it counts, meets no "
                   "limit of it; add a rule for those without it, over `proto.l7 eq "
                   "\"tls\" and not tls.sni contains \".\"`\n") != std::string::npos;
    };
    EXPECT_TRUE(tells(of_values("tls.sni", "")));
    EXPECT_FALSE(tells(of_values("tls.sni", ", {algorithm: token_bucket, rate: 1/s, burst: 1}")))
        << "which holds them";
    EXPECT_FALSE(tells(of_values("ip.dst", "")));
}

TEST(MissingParts, AreThoseThatClientsMayLeaveOut) {
    EXPECT_TRUE(warns({kLate, "handshake", "quic.sni"}, "quic.sni"));
    EXPECT_TRUE(warns({kLate, "handshake", "tls.alpn"}, "tls.alpn"));
    EXPECT_TRUE(
        warns({kLate, "handshake", "registrable_domain(tls.sni)"}, "registrable_domain(tls.sni)"));
    EXPECT_TRUE(warns({kWeb, "request", "http.host"}, "http.host"));
    EXPECT_TRUE(warns({kWeb, "request", "lower(http.user_agent)"}, "http.user_agent"));
    EXPECT_TRUE(warns({kWeb, "request", "http.request.uri.query"}, "http.request.uri.query"));
    EXPECT_TRUE(warns({kWeb, "request", "'http.cookies[\"id\"]'"}, "http.cookies[\"id\"]"));
    for (const Limited& limited :
         {Limited{kLate, "handshake", "tls.ja4"}, Limited{kWeb, "request", "ip.src"},
          Limited{kWeb, "request", "http.request.method, http.request.uri"},
          Limited{kWeb, "request", "\"path_prefix(http.request.uri.path, 2)\""}}) {
        EXPECT_EQ(warnings_of(limited), "") << limited.key;
    }
}

TEST(MissingParts, AreToldOfRulesThatEnforceOverServicesAlone) {
    Limited limited = kBySni;
    limited.mode = "monitor";
    EXPECT_EQ(warnings_of(limited), "");
    EXPECT_EQ(warnings_of({"l4.dport eq 444", "handshake", "tls.sni"}), "");
    EXPECT_EQ(warnings_of({"l4.dport eq 81", "request", "http.host"}), "");
    EXPECT_TRUE(warns({"l4.dport in {443 444}", "handshake", "tls.sni"}, "tls.sni"));
}

TEST(MissingParts, AreNoneWhereTheyShareOneBucket) {
    EXPECT_EQ(warnings_of({kWeb, "request", "http.host", "    missing_key: share\n"}), "");
}

TEST(MissingParts, AreNoneWhereAnotherTierHoldsThoseWithout) {
    const auto tiers = [](std::string_view second, std::string_view rate = "9/s, burst: 9") {
        return "  - id: r\n    mode: enforce\n    when: l4.dport eq 80\n    per: request\n"
               "    tiers:\n      - {key: ['http.cookies[\"sid\"]'], limits: [{algorithm: "
               "token_bucket, rate: 1/s, burst: 1}]}\n      - {key: [" +
               std::string{second} +
               "], limits: [{algorithm: token_bucket, rate: " + std::string{rate} + "}]}\n";
    };
    EXPECT_EQ(warnings_of(tiers("ip.src")), "");
    EXPECT_NE(warnings_of(tiers("http.user_agent")), "");
    EXPECT_NE(warnings_of(tiers("ip.src", "1Gbit/s, burst: 64KiB, per: byte")), "")
        << "it counts other units";
}

TEST(MissingParts, AreNoneWhereTheConditionAsksForThem) {
    EXPECT_EQ(warnings_of({"l4.dport eq 80 and lower(http.user_agent) contains \"bot\"", "request",
                           "http.user_agent"}),
              "");
    EXPECT_EQ(warnings_of({"l4.dport eq 443 and ends_with(tls.sni, \".a.example\")", "handshake",
                           "registrable_domain(tls.sni)"}),
              "");
    EXPECT_EQ(warnings_of({"l4.dport eq 443 and tls.sni ne \"a\"", "handshake", "tls.sni"}), "");
    EXPECT_TRUE(
        warns({"l4.dport eq 443 and not tls.sni eq \"a\"", "handshake", "tls.sni"}, "tls.sni"));
    EXPECT_TRUE(warns(
        {"l4.dport eq 443 and (tls.sni eq \"a\" or ip.src eq 192.0.2.1)", "handshake", "tls.sni"},
        "tls.sni"));
    EXPECT_TRUE(warns({"l4.dport eq 80 and http.user_agent contains \"bot\"", "request",
                       "http.user_agent, http.host"},
                      "http.host"));
}

struct Cure {
    Limited other;
    bool cures;
};

TEST(MissingParts, AreNoneWhereAnotherRuleCountsThoseWithout) {
    const Cure cures[] = {
        {{"l4.dport eq 443 and proto.l7 eq \"tls\" and not tls.sni contains \".\"", "handshake",
          "ip.src"},
         true},
        {{"l4.dport eq 443 and not tls.sni contains \".\"", "handshake", "ip.src"}, true},
        {{"l4.dport eq 443 and not (tls.sni ne \"a\")", "handshake", "ip.src"}, true},
        {{"l4.dport in {443 8443} and ip.proto eq \"tcp\"", "handshake", "ip.src"}, true},
        {{"l4.dport eq 443", "handshake", "tls.sni, ip.dst", "    missing_key: share\n"}, true},
        {{"l4.dport eq 443 and ip.proto eq \"udp\"", "handshake", "ip.src"}, false},
        {{"l4.dport eq 443 and proto.l7 eq \"quic\" and not tls.sni contains \".\"", "handshake",
          "ip.src"},
         false},
        {{"l4.dport eq 443 and not tls.sni contains \".\"", "connection", "ip.src"}, false},
        {{"l4.dport eq 443 and not tls.sni contains \".\"", "handshake", "ip.src", "", "monitor"},
         false},
        {{"l4.dport eq 443 and not tls.sni contains \".\"", "handshake", "tls.alpn"}, false},
        {{"l4.dport eq 443 and tls.sni eq \"a\"", "handshake", "ip.src"}, false},
        {{"l4.dport eq 443 and ip.src in {192.0.2.0/24}", "handshake", "ip.src"}, false}};
    for (const Cure& cure : cures) {
        const std::string warnings = warnings_of(rule("r", kBySni) + rule("other", cure.other));
        EXPECT_EQ(warnings.find("leaves out `tls.sni`") == std::string::npos, cure.cures)
            << cure.other.when << "\n"
            << warnings;
    }
}

TEST(MissingParts, AreNoneWhereAnotherRuleRefusesThoseWithout) {
    const std::string other =
        "  - {id: other, mode: enforce, when: 'l4.dport eq 443 and not tls.sni contains \".\"', "
        "on_match: ";
    EXPECT_EQ(warnings_of(rule("r", kBySni) + other + "drop}\n"), "");
    EXPECT_NE(warnings_of(rule("r", kBySni) + other + "allow}\n").find("leaves out `tls.sni`"),
              std::string::npos);
}

}  // namespace
}  // namespace sluice::missing_parts_test

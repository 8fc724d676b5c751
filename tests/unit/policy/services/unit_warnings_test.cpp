#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice::unit_warnings_test {
namespace {

constexpr std::string_view kServices = R"(version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}
  - {id: counted, protocol: http, when: l4.dport eq 81, mode: enforce, on_unreadable: count}
  - {id: one-way, protocol: http, when: l4.dport eq 82, mode: enforce, path: inbound}
  - {id: late, protocol: tls, when: "l4.dport in {80 443}", mode: enforce}
  - {id: h3, protocol: quic, when: "l4.dport in {80 443}", mode: enforce}
rules:
  - id: r
    mode: enforce
)";
constexpr std::size_t kRuleLine = 9;  // before it are warnings of services
constexpr std::string_view kLimits =
    "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n";

std::string limited(std::string_view when, std::string_view per, std::string_view key = "ip.src") {
    return "    when: '" + std::string{when} + "'\n    key: [" + std::string{key} +
           "]\n    per: " + std::string{per} + "\n" + std::string{kLimits};
}

test::Outcome compile(const std::string& rule) {
    const std::string text = std::string{kServices} + rule;
    test::Outcome outcome = test::compile({.file = "r", .text = text});
    EXPECT_TRUE(outcome.rules.has_value()) << text;
    return outcome;
}

// Warnings of the rule, a line each; those of missing parts have a test of their own.
std::string warnings_of(const std::string& rule) {
    std::string all;
    for (const Problem& problem : compile(rule).problems) {
        EXPECT_EQ(problem.severity, Severity::Warning) << problem.message;
        const bool is_of_part = problem.message.find("leaves out") != std::string::npos;
        all += problem.at.line < kRuleLine || is_of_part ? "" : problem.message + "\n";
    }
    return all;
}
bool warns(const std::string& rule, std::string_view of) {
    return warnings_of(rule).find(of) != std::string::npos;
}

constexpr std::string_view kPackets = "it counts packets";

TEST(UnitWarnings, AreOfRequestsThatAreCountedByThePacket) {
    for (const std::string& rule :
         {limited("http.request.uri.path eq \"/login\"", "packet"),
          limited("l4.dport eq 80", "packet", "ip.src, http.request.uri.path"),
          limited("l4.dport eq 80 and (http.host eq \"a\" or http.request.method eq \"POST\")",
                  "packet")}) {
        EXPECT_TRUE(warns(rule, kPackets)) << rule;
    }
    for (const std::string& rule :
         {limited("http.request.uri.path eq \"/login\"", "request"),
          limited("l4.dport eq 80", "packet"),
          limited("l4.dport eq 80 and not http.request.method eq \"GET\"", "packet"),
          limited("l4.dport eq 85 and http.host eq \"a\"", "packet")}) {
        EXPECT_FALSE(warns(rule, kPackets)) << rule;
    }
}

// A rule over the different values of a field.
std::string shown(std::string_view when, std::string_view per, std::string_view of) {
    return "    when: '" + std::string{when} +
           "'\n    key: [ip.src]\n    per: " + std::string{per} +
           "\n    limits: [{algorithm: distinct, of: " + std::string{of} +
           ", count: 3, window: 1m}]\n";
}

TEST(UnitWarnings, AreOfTheFieldWhoseValuesAreCounted) {
    constexpr std::string_view kPath = "http.request.uri.path";
    EXPECT_TRUE(warns(shown("l4.dport eq 80", "packet", kPath), kPackets));
    EXPECT_FALSE(warns(shown("l4.dport eq 80", "request", kPath), kPackets));
    EXPECT_FALSE(warns(shown("l4.dport eq 80", "packet", "ip.dst"), kPackets));
    constexpr std::string_view kAround = "can be walked around over `counted`";
    EXPECT_TRUE(warns(shown("l4.dport eq 81", "request", kPath), kAround));
    EXPECT_FALSE(warns(shown("l4.dport eq 81", "request", "ip.dst"), kAround));
    EXPECT_TRUE(warns(shown("l4.dport eq 81", "query", kPath), "can never count"));
    EXPECT_FALSE(warns(shown("l4.dport eq 99", "query", "dns.qname"), "can never count"));
}

constexpr std::string_view kExclude = "are of different protocols";

TEST(UnitWarnings, AreOfRulesWhosePartsExcludeOneAnother) {
    for (const std::string& rule : {limited("dns.qname eq \"a\"", "request"),
                                    limited("tls.sni eq \"a\"", "handshake", "http.host"),
                                    limited("l4.dport eq 81", "query", "http.host"),
                                    limited("http.host eq \"a\"", "handshake", "quic.sni"),
                                    limited("proto.l7 eq \"dns\"", "request")}) {
        EXPECT_TRUE(warns(rule, kExclude)) << rule;
        EXPECT_EQ(compile(rule).rules->rules.front().stance.kind, Stance::Kind::Nothing) << rule;
    }
}

TEST(UnitWarnings, AreOfRulesWhosePacketsHaveServicesOfOtherProtocols) {
    const std::string sni = limited("l4.dport eq 80", "handshake", "tls.sni");
    EXPECT_TRUE(warns(sni, "reaches `web`, a service of another protocol")) << warnings_of(sni);
    const Stance stance = compile(sni).rules->rules.front().stance;
    EXPECT_EQ(stance.kind, Stance::Kind::Nothing);
    EXPECT_EQ(stance.services, std::vector<std::string>{"web"});
    EXPECT_TRUE(warns(limited("l4.dport eq 443", "request"), "reaches `late`"));
    EXPECT_TRUE(warns(limited("l4.dport eq 81", "query"),
                      "over TCP this rule never sees a query: what it could be about reaches "
                      "`counted`"));
    EXPECT_TRUE(
        warns(limited("l4.dport eq 81 and ip.proto eq \"tcp\"", "query"), "can never count"));
}

TEST(UnitWarnings, AreOfNoRuleThatSomePacketCanBeOf) {
    for (const std::string& rule :
         {limited("l4.dport eq 80", "request"), limited("l4.dport in {80 99}", "handshake"),
          limited("l4.dport eq 443", "handshake", "tls.sni"),
          limited("l4.dport eq 443 and tls.ja4 eq \"q13d0415h3_9caa18292e23_84684a673e38\"",
                  "handshake", "quic.sni"),
          limited("l4.dport eq 443 and not tls.sni eq \"a\"", "handshake", "quic.sni"),
          limited("l4.dport eq 443 or http.host eq \"a\"", "packet"),
          limited("l4.dport eq 99", "query"),
          limited("quic.sni eq \"a\" or tls.sni eq \"a\"", "handshake")}) {
        EXPECT_EQ(warnings_of(rule), "") << rule;
    }
    EXPECT_EQ(warnings_of(limited("l4.dport eq 99", "handshake", "http.host") +
                          "    missing_key: share\n"),
              "");
}

TEST(UnitWarnings, AreOfRulesThatUnreadBytesGoAround) {
    constexpr std::string_view kAround = "can be walked around over `counted`";
    EXPECT_TRUE(warns(limited("l4.dport eq 81 and http.host eq \"a\"", "request"), kAround));
    EXPECT_TRUE(warns(limited("l4.dport eq 81", "request", "http.host"), kAround));
    EXPECT_EQ(warnings_of(limited("l4.dport eq 81", "request")), "");
    EXPECT_EQ(warnings_of(limited("l4.dport eq 81 and proto.l7 eq \"http\"", "request")), "");
    EXPECT_EQ(warnings_of(limited("l4.dport eq 81 and not http.host eq \"a\"", "request")), "");
    EXPECT_EQ(warnings_of(limited("l4.dport eq 80 and http.host eq \"a\"", "request")), "");
}

TEST(UnitWarnings, AreOfRequestsInsideOfTls) {
    const auto of = [](std::string_view when, std::string_view per) {
        std::string all;
        const std::string text = "version: 1\nrules:\n  - id: r\n" + limited(when, per);
        for (const Problem& problem : test::compile({.file = "r", .text = text}).problems) {
            all += problem.message + "\n";
        }
        return all;
    };
    EXPECT_EQ(of("l4.dport eq 443 and http.request.uri.path eq \"/login\"", "request"),
              "at port 443 clients speak TLS, in which no http can be read: this rule sees none of "
              "it; handshakes and `tls.sni` can be limited there\n");
    EXPECT_EQ(of("l4.dport eq 853 and ip.dst eq 192.0.2.1", "query").substr(0, 11), "at port 853");
    for (const auto& [when, per] : {std::pair{"l4.dport in {80 443}", "request"},
                                    {"l4.dport eq 443", "handshake"},
                                    {"l4.dport eq 443", "packet"},
                                    {"http.host eq \"a\"", "request"}}) {
        EXPECT_EQ(of(when, per), "") << when;
    }
    // A service that is declared there has the warning.
    EXPECT_FALSE(warns(limited("l4.dport eq 81", "request"), "clients speak TLS"));
}

TEST(UnitWarnings, AreOfAnswersThatTheServiceCannotHave) {
    EXPECT_TRUE(warns(
        limited("l4.dport eq 82", "request") + "    on_exceed: {action: reply, status: 429}\n",
        "over `one-way`, whose `path` is inbound, `reply` sends no response but a "
        "RST to the client"));
    EXPECT_TRUE(warns(limited("l4.dport eq 82", "request") + "    on_exceed: {action: decoy}\n",
                      "`decoy` sends no response"));
    EXPECT_EQ(
        warnings_of(limited("l4.dport eq 82", "request") + "    on_exceed: {action: reset}\n"), "");
    EXPECT_TRUE(warns(
        limited("l4.dport eq 80", "request") + "    on_exceed: {action: dns_truncate, slip: 2}\n",
        "`dns_truncate` answers queries over UDP, which this rule never sees"));
    EXPECT_EQ(warnings_of(limited("l4.dport eq 99", "query") +
                          "    on_exceed: {action: dns_truncate, slip: 2}\n"),
              "");
}

std::string on_sight(const std::string& when, const std::string& action) {
    return (when.empty() ? "" : "    when: '" + when + "'\n") + "    on_match: " + action + "\n";
}

// The same of what is answered on reading.
TEST(UnitWarnings, AreOfAnswersOnSightToo) {
    const std::string host = " and http.host eq \"a\"";
    EXPECT_TRUE(
        warns(on_sight("l4.dport eq 82" + host, "{action: reply}"), "`reply` sends no response"));
    EXPECT_TRUE(warns(on_sight("l4.dport eq 80" + host, "{action: dns_truncate}"),
                      "which this rule never sees"));
    EXPECT_EQ(warnings_of(on_sight("l4.dport eq 80" + host, "{action: reply}")), "");
    EXPECT_EQ(warnings_of(on_sight("l4.dport eq 80" + host, "{action: decoy}")), "");
}

// A rule that decides on each packet keeps back those that open the connection.
TEST(UnitWarnings, AreOfResponsesThatNoRequestGetsAsFarAs) {
    const auto is_told = [](const std::string& when, const std::string& on_match) {
        return warns(on_sight(when, on_match), "no client gets as far as a request");
    };
    for (const std::string action : {"{action: reply}", "{action: decoy}"}) {
        EXPECT_TRUE(is_told("", action));
        EXPECT_TRUE(is_told("ip.src eq 192.0.2.1", action));
        EXPECT_TRUE(is_told("ip.proto in {6 17} and l4.dport eq 99", action));
        EXPECT_TRUE(is_told("http.host eq \"a\" or ip.src eq 192.0.2.1", action));
        EXPECT_TRUE(is_told("not http.host eq \"a\"", action));
        EXPECT_FALSE(is_told("http.host eq \"a\"", action));
        EXPECT_FALSE(is_told("ip.proto eq 17 and l4.dport eq 53", action));
    }
    for (const std::string action :
         {"drop", "{action: reset}", "{action: tag, pcp: 1}", "{action: dns_truncate}"}) {
        EXPECT_FALSE(is_told("ip.src eq 192.0.2.1", action)) << action;
    }
}

}  // namespace
}  // namespace sluice::unit_warnings_test

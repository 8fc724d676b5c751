#include "lib/policy/services/implied_services.hpp"

#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::implied_services_test {
namespace {

using test::Outcome;

std::string indented(std::string_view when) {
    return "    when: '" + std::string{when} + "'\n";
}

// A rule that counts requests, or what else `per` names.
std::string rule(std::string_view id, std::string_view when, std::string_view per = "request") {
    return "  - id: " + std::string{id} + "\n" + (when.empty() ? "" : indented(when)) +
           "    key: [ip.src]\n    per: " + std::string{per} +
           "\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n";
}

Outcome compile(const std::string& text) {
    return test::compile({"r", text}, Purpose::Enforce);
}

std::string implied_by(const std::string& rules, const std::string& services = "") {
    const Outcome outcome = compile("version: 1\n" + services + "rules:\n" + rules);
    return outcome.rules ? yaml_of(implied_services(*outcome.rules)) : "does not compile";
}

struct Row {
    std::string_view when;
    std::string_view place;  // of the only alternative; empty: no server is named
};

TEST(ImpliedServices, KeepOfAConditionWhatNamesServers) {
    const Row rows[] = {
        {"l4.dport eq 80", "l4.dport eq 80"},
        {"l4.dport in {80 8000..8010} and http.host eq \"a\"", "l4.dport in {80 8000..8010}"},
        {"http.host eq \"a and b\" and ip.dst in {192.0.2.0/24}", "ip.dst in {192.0.2.0/24}"},
        {"ip.src in {10.0.0.0/8} and l4.dport eq 80 and dir eq \"in\"",
         "l4.dport eq 80 and dir eq \"in\""},
        {"(l4.dport eq 80 or l4.dport eq 81) and http.host eq \"a\"",
         "l4.dport eq 80 or l4.dport eq 81"},
        {"(l4.dport eq 80 or l4.dport eq 81) and ip.version eq 4",
         "(l4.dport eq 80 or l4.dport eq 81) and ip.version eq 4"},
        {"(l4.dport eq 80 or http.host eq \"a\") and ip.version eq 4", ""},
        {"l4.dport eq 80 and not (ip.dst eq 192.0.2.1 or ip.dst eq 192.0.2.2)",
         "l4.dport eq 80 and not (ip.dst eq 192.0.2.1 or ip.dst eq 192.0.2.2)"},
        {"l4.dport eq 80 and not (ip.dst eq 192.0.2.1 and http.host eq \"a\")", "l4.dport eq 80"},
        {"not l4.dport eq 22", ""},
        {"starts_with(http.request.uri.path, \"/x\") and l4.dport eq 80", "l4.dport eq 80"},
        {"prefix(ip.dst, 24) eq 192.0.2.0/24 and http.cookies[\"a\"] eq \"b\"",
         "prefix(ip.dst, 24) eq 192.0.2.0/24"},
        {"http.host eq \"a\"", ""},
        {"ip.version eq 4", ""},
        {"l4.dport eq 80 and\n  http.host eq \"a\"", "l4.dport eq 80"},
    };
    for (const Row& row : rows) {
        const std::vector<ServerPlace> places = places_in(std::string{row.when}, {});
        ASSERT_EQ(places.size(), 1U) << row.when;
        EXPECT_EQ(places.front().when, row.place) << row.when;
    }
}

TEST(ImpliedServices, AreOneForEachProtocolAndPlace) {
    EXPECT_EQ(implied_by(rule("a", "l4.dport eq 80 and http.host eq \"a\"") +
                         rule("b", "l4.dport eq 80") + rule("c", "l4.dport eq 81") +
                         rule("d", "l4.dport eq 443", "handshake") +
                         rule("e", "l4.dport eq 53", "query")),
              R"(services:
  - id: http  # of a, b
    protocol: http
    when: 'l4.dport eq 80'
    mode: monitor
  - id: http-2  # of c
    protocol: http
    when: 'l4.dport eq 81'
    mode: monitor
  - id: tls  # of d
    protocol: tls
    when: 'l4.dport eq 443'
    mode: monitor
  - id: quic  # of d
    protocol: quic
    when: 'l4.dport eq 443'
    mode: monitor
  - id: dns  # of e
    protocol: dns
    when: 'l4.dport eq 53'
    mode: monitor
)");
}

TEST(ImpliedServices, TakeAlternativesOneByOne) {
    EXPECT_EQ(implied_by(rule("a",
                              "l4.dport eq 80 and http.host eq \"a\" or l4.dport eq 443 and "
                              "tls.sni eq \"a\" or quic.sni eq \"a\"",
                              "packet")),
              R"(services:
  - id: http  # of a
    protocol: http
    when: 'l4.dport eq 80'
    mode: monitor
  - id: tls  # of a
    protocol: tls
    when: 'l4.dport eq 443'
    mode: monitor
# No address and no port of a server is in the condition of a:
# where it is served is yours to say.
)");
}

TEST(ImpliedServices, AreNotThoseThatNothingWouldReach) {
    EXPECT_EQ(implied_by(rule("a", "l4.dport in {80 8080}") + rule("b", "l4.dport eq 80") +
                         rule("c", "l4.dport eq 8080 or http.host eq \"a\"")),
              R"(services:
  - id: http  # of a, b, c
    protocol: http
    when: 'l4.dport in {80 8080}'
    mode: monitor
# No address and no port of a server is in the condition of c:
# where it is served is yours to say.
)");
    const std::string web =
        "services:\n  - {id: web, protocol: http, when: 'l4.dport in {80 81}', mode: enforce}\n";
    EXPECT_EQ(implied_by(rule("a", "l4.dport eq 80 or l4.dport in {81 82}"), web),
              "services:\n  - id: http  # of a\n    protocol: http\n    when: 'l4.dport in {81 82}'"
              "\n    mode: monitor\n");
}

TEST(ImpliedServices, AreOfProtocolsThatHaveTheKey) {
    std::string by_name = rule("a", "l4.dport eq 443", "handshake");
    by_name.replace(by_name.find("ip.src"), 6, "tls.sni");
    EXPECT_EQ(implied_by(by_name),
              "services:\n  - id: tls  # of a\n    protocol: tls\n    when: 'l4.dport eq 443'\n"
              "    mode: monitor\n");
}

TEST(ImpliedServices, LeaveOutWhatIsDeclaredOrUsesNoLayer7) {
    const std::string web =
        "services:\n  - {id: http, protocol: http, when: l4.dport eq 80, mode: enforce}\n";
    EXPECT_EQ(implied_by(rule("a", "l4.dport eq 80") + rule("b", "l4.dport eq 22", "packet"), web),
              "services: []\n");
    EXPECT_EQ(implied_by(rule("dns", "l4.dport eq 81"), web),
              "services:\n  - id: http-2  # of dns\n    protocol: http\n    when: 'l4.dport eq "
              "81'\n    mode: monitor\n");
}

TEST(ImpliedServices, AreWhatCheckTakesAndCoverTheirRules) {
    const std::string rules =
        rule("a", "ip.dst in {192.0.2.0/24} and l4.dport in {80 8080} and http.host eq \"it''s\"") +
        rule("b", "l4.dport eq 443 and tls.sni eq \"a\"", "handshake") +
        rule("c", "l4.dport eq 53 and ip.src in {10.0.0.0/8}", "query");
    const std::string text = "version: 1\n" + implied_by(rules) + "rules:\n" + rules;
    const Outcome outcome = compile(text);
    ASSERT_TRUE(outcome.rules.has_value()) << text;
    for (const RuleSummary& summary : outcome.rules->rules) {
        EXPECT_EQ(summary.stance.kind, Stance::Kind::Service) << summary.id;
    }
    EXPECT_EQ(yaml_of(implied_services(*outcome.rules)), "services: []\n");
}

TEST(ImpliedServices, SayWhereClientsSpeakTls) {
    EXPECT_EQ(implied_by(rule("a", "l4.dport eq 443 and http.host eq \"a\"")),
              "services:\n  - id: http  # of a\n    protocol: http\n    when: 'l4.dport eq 443'\n"
              "    mode: monitor\n"
              "    # Clients speak TLS at port 443: enforced, this refuses it.\n");
    EXPECT_EQ(implied_by(rule("a", "l4.dport eq 443", "handshake")).find('#'),
              implied_by(rule("a", "l4.dport eq 443", "handshake")).find("# of a"));
}

}  // namespace
}  // namespace sluice::implied_services_test

#include "lib/policy/compile.hpp"
#include "lib/policy/services/stance_text.hpp"
#include "lib/rules/service_fault.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::services_test {
namespace {

using test::Outcome;

constexpr std::string_view kNoRules = "rules: []\n";

Outcome compile(std::string_view services, std::string_view rules = kNoRules,
                const ModeOverrides& modes = {}, const RssMapping* box = nullptr,
                Purpose purpose = Purpose::Enforce) {
    const std::string text = "version: 1\nservices:\n" + std::string{services} + std::string{rules};
    return test::compile({.file = "r", .text = text, .box = box}, purpose, modes);
}

std::string shown(const Outcome& outcome) {
    std::string all;
    for (const Problem& problem : outcome.problems) {
        all += std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column) + ": " +
               (problem.severity == Severity::Error ? "" : "warning: ") + problem.message + "\n";
    }
    return all;
}

TEST(Services, KeepWhatTheFileSays) {
    const Outcome outcome = compile(R"yaml(
  - id: web
    description: shop
    protocol: http
    when: ip.dst in {192.0.2.0/24} and l4.dport in {80 8080}
    mode: enforce
    on_unreadable: count
    midstream: reset
    checksums: verify
    upgrades: [websocket, connect]
    h2c: refuse
    path: inbound
    min_ttl: 64
    proxy_protocol: {from: [10.0.0.0/8, 10.0.0.1, "2001:db8::/32"]}
)yaml",
                                    kNoRules, {}, nullptr, Purpose::Check);
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    ASSERT_EQ(outcome.problems.size(), 1U) << shown(outcome);
    EXPECT_EQ(outcome.problems[0].message.substr(0, 22), "its server is not seen") << "one way";
    EXPECT_EQ(find_fault(outcome.rules->set), std::nullopt);
    ASSERT_EQ(outcome.rules->set.services.size(), 1U);
    const Service& web = outcome.rules->set.services.front();
    EXPECT_EQ(web.id, "web");
    EXPECT_EQ(web.protocol, ServiceProtocol::Http);
    EXPECT_EQ(web.mode, Mode::Enforce);
    EXPECT_EQ(web.on_unreadable, OnUnreadable::Count);
    EXPECT_EQ(web.midstream, Midstream::Reset);
    EXPECT_EQ(web.checksums, Checksums::Verify);
    EXPECT_TRUE(web.upgrades.websocket);
    EXPECT_TRUE(web.upgrades.connect);
    EXPECT_EQ(web.on_h2c, OnH2c::Refuse);
    EXPECT_EQ(web.path, ServicePath::Inbound);
    EXPECT_EQ(web.min_ttl, 64);
    ASSERT_EQ(web.proxies.size(), 2U);
    EXPECT_EQ(to_text(web.proxies[0]), "10.0.0.0/8");
    EXPECT_EQ(to_text(web.proxies[1]), "2001:db8::/32");
    const ServiceSummary& summary = outcome.rules->services.front();
    EXPECT_EQ(summary.description, "shop");
    EXPECT_EQ(summary.when, "ip.dst in {192.0.2.0/24} and l4.dport in {80 8080}");
    EXPECT_EQ(summary.line, 4U);
}

TEST(Services, OfHttpAloneTakeOutARequestForHttp2) {
    for (const auto& [protocol, on_h2c] :
         {std::pair{"http", OnH2c::Strip}, std::pair{"tls", OnH2c::Refuse}}) {
        const Outcome outcome =
            compile("  - {id: a, protocol: " + std::string{protocol} + ", when: l4.dport eq 80}\n");
        ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
        EXPECT_EQ(outcome.rules->set.services.front().on_h2c, on_h2c) << protocol;
    }
}

constexpr std::string_view kOfClients =
    "rules:\n  - {id: r, when: client.ip eq 192.0.2.1, on_match: drop}\n";

TEST(Services, WithProxiesMakeClientsWhatTheirHeadersName) {
    const Outcome outcome = compile(
        "  - {id: a, protocol: http, when: l4.dport eq 80, proxy_protocol: {from: 10.0.0.1}}\n",
        kOfClients);
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    EXPECT_TRUE(outcome.problems.empty()) << shown(outcome);
    EXPECT_TRUE(outcome.rules->client.proxied);
    EXPECT_TRUE(outcome.rules->set.rules.front().asks_clients);
    EXPECT_EQ(outcome.rules->set.clients, nullptr) << "nobody is believed in requests";
}

TEST(Services, WithoutProxiesLeaveClientsAsTheyCome) {
    for (const std::string_view service :
         {"  - {id: a, protocol: http, when: l4.dport eq 80}\n",
          "  - {id: a, protocol: http, when: l4.dport eq 80, mode: \"off\", proxy_protocol: {from: "
          "10.0.0.1}}\n"}) {
        const Outcome outcome = compile(service, kOfClients);
        ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
        EXPECT_FALSE(outcome.rules->client.proxied) << service;
        EXPECT_FALSE(outcome.rules->set.rules.front().asks_clients) << service;
    }
}

TEST(Services, OfDnsHaveProxiesOverTcpAlone) {
    const Outcome outcome = compile(
        "  - {id: a, protocol: dns, when: l4.dport eq 53, proxy_protocol: {from: 10.0.0.1}}\n");
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    EXPECT_EQ(shown(outcome),
              "3:66: warning: datagrams have no header of the PROXY protocol: client.ip of a query "
              "over UDP is not what a proxy names\n");
}

TEST(Services, TellAllThatIsWrongInThemAtOnceAndInTheOrderOfTheFile) {
    const Outcome outcome = compile(R"yaml(
  - id: web
    protocol: htp
    when: l4.dport eq "80"
    mode: enforced
    on_unreadable: drop
    midstream: rest
    checksums: yes
    path: inbond
    min_ttl: 300
    upgrades: websocket
    h2c: allow
)yaml");
    ASSERT_EQ(outcome.problems.size(), 10U) << shown(outcome);
    for (std::size_t i = 0; i < outcome.problems.size(); ++i) {
        EXPECT_EQ(outcome.problems[i].at.line, 5 + i) << outcome.problems[i].message;
    }
}

TEST(Services, AreWarnedOfWhereNoPairOfTheBoxIsTheirs) {
    const RssMapping box{
        .ports = {{.pair = "lab", .dir = Direction::In, .rss = Rss::Source},
                  {.pair = "lab", .dir = Direction::Out, .rss = Rss::Destination}}};
    const std::string rule =
        "rules:\n  - {id: r, when: 'port eq \"nosuch\"', on_match: drop, mode: "
        "enforce}\n";
    const Outcome outcome = compile(
        "  - {id: a, protocol: http, when: 'port eq \"nosuch\" and l4.dport eq 80'}\n"
        "  - {id: b, protocol: http, when: 'port eq \"lab\" and l4.dport eq 81'}\n"
        "  - {id: c, protocol: http, when: 'port eq \"x\" and l4.dport eq 82 or l4.dport eq 83'}\n",
        rule, {}, &box);
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    EXPECT_EQ(shown(outcome),
              "3:10: warning: `when` holds at no port of this box, whose pairs are `lab`\n"
              "7:10: warning: `when` holds at no port of this box, whose pairs are `lab`\n");
    EXPECT_EQ(shown(compile(
                  "  - {id: a, protocol: http, when: 'port eq \"nosuch\" and l4.dport eq 80'}\n")),
              "");
}

TEST(Services, HaveDefaultsByProtocol) {
    const Outcome outcome = compile(R"yaml(
  - {id: web, protocol: http, when: l4.dport eq 80}
  - {id: tls, protocol: tls, when: l4.dport eq 443}
  - {id: dns, protocol: dns, when: l4.dport eq 53}
  - {id: quic, protocol: quic, when: l4.dport eq 443}
)yaml",
                                    "defaults: {mode: enforce}\nrules: []\n");
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    EXPECT_TRUE(outcome.problems.empty()) << shown(outcome);
    const std::vector<Service>& services = outcome.rules->set.services;
    ASSERT_EQ(services.size(), 4U);
    for (const Service& service : services) {
        EXPECT_EQ(service.mode, Mode::Monitor) << service.id;
        EXPECT_EQ(service.on_unreadable, OnUnreadable::Refuse);
        EXPECT_EQ(service.checksums, Checksums::Auto);
        EXPECT_EQ(service.path, ServicePath::Both);
        EXPECT_EQ(service.min_ttl, kDefaultMinTtl);
        EXPECT_EQ(service.midstream, default_midstream(service.protocol));
    }
    EXPECT_EQ(services[0].midstream, Midstream::Inspect);
    EXPECT_EQ(services[1].midstream, Midstream::Pass);
    EXPECT_EQ(services[2].midstream, Midstream::Inspect);
    EXPECT_EQ(services[3].midstream, Midstream::Pass);
}

TEST(Services, ThatAreOffLeaveNothingButTheirSummary) {
    const Outcome outcome = compile(R"yaml(
  - {id: a, protocol: http, when: l4.dport eq 80, mode: off}
  - {id: b, protocol: http, when: l4.dport eq 81}
  - {id: c, protocol: http, when: l4.dport eq 82}
)yaml",
                                    kNoRules, {{"b", Mode::Enforce}, {"c", Mode::Off}});
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    ASSERT_EQ(outcome.rules->set.services.size(), 1U);
    EXPECT_EQ(outcome.rules->set.services[0].id, "b");
    EXPECT_EQ(outcome.rules->set.services[0].mode, Mode::Enforce);
    ASSERT_EQ(outcome.rules->services.size(), 3U);
    EXPECT_EQ(outcome.rules->services[2].mode, Mode::Off);
}

struct Wrong {
    std::string_view services;
    std::string_view problem;  // the first
};

class WrongServices : public testing::TestWithParam<Wrong> {};

TEST_P(WrongServices, AreReportedAtTheirPlace) {
    const Outcome outcome = compile(GetParam().services);
    EXPECT_FALSE(outcome.rules.has_value());
    ASSERT_FALSE(outcome.problems.empty());
    EXPECT_TRUE(shown(outcome).starts_with(GetParam().problem)) << shown(outcome);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongServices,
    testing::Values(
        Wrong{"  - web\n", "3:5: a service must be a map, found `web`"},
        Wrong{"  - {protocol: http, when: l4.dport eq 80}\n", "3:5: a service needs an `id`"},
        Wrong{"  - {id: A, protocol: http, when: l4.dport eq 80}\n", "3:10: an id has"},
        Wrong{"  - {id: a, when: l4.dport eq 80}\n", "3:5: a service needs a `protocol`"},
        Wrong{"  - {id: a, protocol: htp, when: l4.dport eq 80}\n",
              "3:23: `protocol` is one of http, tls, dns, quic; found `htp`; did you mean"},
        Wrong{"  - {id: a, protocol: https, when: l4.dport eq 443}\n",
              "3:23: `protocol` is one of http, tls, dns, quic; `https` is encrypted, and its "
              "hellos are those of TLS: write tls\n"},
        Wrong{"  - {id: a, protocol: http3, when: l4.dport eq 443}\n",
              "3:23: `protocol` is one of http, tls, dns, quic; `http3` is encrypted, and its "
              "hellos are those of QUIC: write quic\n"},
        Wrong{"  - {id: a, protocol: http}\n", "3:5: a service needs `when`"},
        Wrong{"  - {id: a, protocol: http, when: [80]}\n", "3:35: `when` must be a text"},
        Wrong{"  - {id: a, protocol: http, wen: l4.dport eq 80}\n",
              "3:5: a service needs `when`, which says what reaches it, such as ip.dst in $web and "
              "l4.dport in {80 8080}\n3:29: unknown key `wen` in a service; did you mean `when`?"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, limits: []}\n",
              "3:51: unknown key `limits` in a service"},
        Wrong{"  - {id: a, protocol: http, protocol: tls, when: l4.dport eq 80}\n", "3:29:"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80}\n"
              "  - {id: a, protocol: tls, when: l4.dport eq 443}\n",
              "4:10: two services are called `a`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, mode: on}\n",
              "3:57: `mode` is one of off, monitor, enforce; found `on`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, on_unreadable: drop}\n",
              "3:66: `on_unreadable` is one of refuse, count, pass; found `drop`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, min_ttl: 0}\n",
              "3:60: `min_ttl` is a number from 1 to 255, found 0"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, min_ttl: 256}\n",
              "3:60: `min_ttl`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, upgrades: websocket}\n",
              "3:61: `upgrades` is a list of words of websocket, connect, found `websocket`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, upgrades: [h2c]}\n",
              "3:62: `upgrades` lists words of websocket, connect; found `h2c`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, upgrades: [connect, connect]}\n",
              "3:71: `connect` stands here twice"},
        Wrong{"  - {id: a, protocol: tls, when: l4.dport eq 443, h2c: strip}\n",
              "3:51: a service of tls has no `h2c`"},
        Wrong{"  - {id: a, protocol: dns, when: l4.dport eq 53, upgrades: []}\n",
              "3:50: a service of dns has no `upgrades`"},
        Wrong{"  - {id: a, protocol: quic, when: l4.dport eq 443, midstream: reset}\n",
              "3:52: a service of quic has no `midstream`"},
        Wrong{"  - {id: a, protocol: quic, when: l4.dport eq 443, min_ttl: 9}\n",
              "3:52: a service of quic has no `min_ttl`"},
        Wrong{"  - {id: a, protocol: quic, when: l4.dport eq 443, proxy_protocol: {}}\n",
              "3:52: a service of quic has no `proxy_protocol`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, proxy_protocol: {}}\n",
              "3:67: `proxy_protocol` needs `from`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, proxy_protocol: {from: []}}\n",
              "3:74: `from` is a $list"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, proxy_protocol: {from: $x}}\n",
              "3:74: there is no list called `x`"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80, proxy_protocol: {from: "
              "[10.0.0.1/8]}}\n",
              "3:75:"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq}\n", "3:46: expected"},
        Wrong{"  - {id: a, protocol: http, when: l4.dport eq 80 and http.host eq \"a\"}\n",
              "3:54: `http.host` is not the same in all packets of a connection, or not known in "
              "time; the condition of a service tests dir, port, vlan.id, vlan.inner_id, "
              "ip.version, ip.src, ip.dst, ip.proto, l4.sport, l4.dport\n"},
        Wrong{"  - {id: a, protocol: http, when: tcp.flags.syn}\n", "3:35: `tcp.flags.syn` is"},
        Wrong{"  - {id: a, protocol: http, when: client.ip eq 10.0.0.1}\n", "3:35: `client.ip` is"},
        Wrong{"  - {id: a, protocol: http, when: 'l4.dport eq 80 and ip.proto eq \"udp\"'}\n",
              "3:35: `when` lets no TCP through, over which http is served\n"},
        Wrong{"  - {id: a, protocol: quic, when: 'ip.proto eq \"tcp\"'}\n",
              "3:35: `when` lets no UDP through, over which quic is served\n"},
        Wrong{"  - {id: a, protocol: dns, when: 'ip.proto eq \"udp\"'}\n",
              "3:34: `when` lets no TCP through, over which dns is served too"}));

TEST(Services, AreAList) {
    const Outcome outcome =
        test::compile({"r", "version: 1\nservices: {web: {}}\nrules: []\n"}, Purpose::Enforce);
    EXPECT_TRUE(shown(outcome).starts_with("2:11: `services` is a list of services"))
        << shown(outcome);
}

TEST(Services, ConditionsWithBracesInBracketsAreToldOfQuotes) {
    const std::string shown_problems = shown(
        compile("  - {id: web, protocol: http, when: l4.dport in {80 443}, mode: monitor}\n"));
    EXPECT_NE(shown_problems.find("stands in quotes, such as when: 'l4.dport in {80 443}'"),
              std::string::npos)
        << shown_problems;
}

TEST(Services, WarnOfWhatCanBeWalkedAround) {
    const Outcome outcome =
        compile("  - {id: a, protocol: http, when: l4.dport eq 80, on_unreadable: pass}\n");
    EXPECT_EQ(shown(outcome),
              "3:66: warning: what cannot be read passes: limits over this service can be walked "
              "around\n");
}

TEST(Services, WarnOfUnknownConnectionsThatPass) {
    EXPECT_EQ(
        shown(compile("  - {id: a, protocol: http, when: l4.dport eq 80, midstream: pass}\n")),
        "3:62: warning: on a connection that the box does not know, bytes that begin no "
        "request pass unread, whatever the server makes of them: limits over this service "
        "can be walked around there; say inspect or reset\n");
    EXPECT_NE(shown(compile("  - {id: a, protocol: dns, when: l4.dport eq 53, midstream: pass}\n"))
                  .find("bytes that begin no query pass unread"),
              std::string::npos);
    for (const std::string_view words : {"tls, when: l4.dport eq 443, midstream: pass",
                                         "http, when: l4.dport eq 80, midstream: reset",
                                         "http, when: l4.dport eq 80, midstream: inspect"}) {
        EXPECT_EQ(shown(compile("  - {id: a, protocol: " + std::string{words} + "}\n")), "")
            << words;
    }
}

TEST(Services, WarnOfPortsAtWhichClientsSpeakTls) {
    EXPECT_EQ(shown(compile("  - {id: a, protocol: http, when: 'l4.dport in {80 443}'}\n")),
              "3:35: warning: at port 443 clients speak TLS, which is no http: all of it is "
              "`unreadable` to this service, and refused once it enforces; a service of protocol "
              "tls reads its hellos\n");
    EXPECT_NE(shown(compile("  - {id: a, protocol: http, when: 'l4.dport in {400..500}'}\n"))
                  .find("at port 443 clients speak TLS"),
              std::string::npos);
    EXPECT_NE(shown(compile("  - {id: a, protocol: dns, when: l4.dport eq 853}\n"))
                  .find("at port 853 clients speak TLS, which is no dns"),
              std::string::npos);
    for (const std::string_view words :
         {"tls, when: l4.dport eq 443", "quic, when: l4.dport eq 443", "tls, when: l4.dport eq 853",
          "dns, when: l4.dport eq 53", "http, when: 'not l4.dport in {443 22}'"}) {
        EXPECT_EQ(shown(compile("  - {id: a, protocol: " + std::string{words} + "}\n")), "")
            << words;
    }
}

TEST(Services, WarnOfWhatCannotBeKnownOneWay) {
    EXPECT_EQ(shown(compile("  - {id: a, protocol: quic, when: l4.dport eq 443, path: both}\n")),
              "");
    EXPECT_EQ(
        shown(compile("  - {id: a, protocol: quic, when: l4.dport eq 443, path: inbound}\n")),
        "3:58: warning: the answers of its server are not seen: a QUIC hello that comes again "
        "within 10 seconds is not counted four times, though it may be a new connection\n");
    for (const std::string protocol : {"http", "tls", "dns"}) {
        EXPECT_EQ(shown(compile("  - {id: a, protocol: " + protocol +
                                ", when: l4.dport eq 80, path: inbound}\n")),
                  "3:" + std::to_string(53 + protocol.size()) +
                      ": warning: its server is not seen: its window, what it has acknowledged, "
                      "its answers and the handshake over TCP cannot be known, so that bytes that "
                      "it would not take are read and charged too, no upgrade passes unless its "
                      "answer comes by after all, and nothing longer than what came is sent\n")
            << protocol;
    }
}

TEST(Services, WarnOfWhatIsNeverReached) {
    const Outcome outcome = compile(R"yaml(
  - {id: a, protocol: http, when: "l4.dport in {80 8000..9000}"}
  - {id: b, protocol: http, when: l4.dport eq 8080}
  - {id: c, protocol: quic, when: l4.dport eq 8080}
  - {id: d, protocol: http, when: l4.dport eq 80 and l4.dport eq 81}
)yaml");
    EXPECT_EQ(shown(outcome),
              "5:10: warning: this service is never reached: all that would reach it reaches `a` "
              "or another before it\n"
              "7:35: warning: this service can never be reached\n");
}

TEST(Services, ThatOthersBeforeThemHaveTogetherAreNeverReached) {
    const Outcome outcome = compile(R"yaml(
  - {id: a, protocol: http, when: "l4.dport in {80..85}"}
  - {id: b, protocol: http, when: "l4.dport in {84..90} and ip.dst eq 192.0.2.1"}
  - {id: c, protocol: http, when: "l4.dport in {82..88} and ip.dst eq 192.0.2.1"}
  - {id: d, protocol: http, when: "l4.dport in {82..88}"}
)yaml");
    EXPECT_EQ(shown(outcome),
              "6:10: warning: this service is never reached: all that would reach it reaches `a` "
              "or another before it\n");
}

TEST(Services, WarnOfConditionsThatNameNoPort) {
    EXPECT_EQ(shown(compile("  - {id: a, protocol: http, when: ip.dst eq 192.0.2.1}\n")),
              "3:35: warning: this condition names no port: every TCP connection there is taken "
              "for http, and what cannot be read as that is `unreadable`; add l4.dport\n");
    const auto text_of = [](std::string_view protocol, std::string_view when) {
        return shown(compile("  - {id: a, protocol: " + std::string{protocol} + ", when: '" +
                             std::string{when} + "'}\n"));
    };
    EXPECT_NE(text_of("quic", "dir eq \"in\"").find("every UDP datagram there is taken for quic"),
              std::string::npos);
    EXPECT_NE(text_of("dns", "ip.version eq 4").find("every TCP connection and UDP datagram"),
              std::string::npos);
    EXPECT_NE(text_of("tls", "l4.dport eq 443 or ip.dst eq 192.0.2.1").find("names no port"),
              std::string::npos);
    EXPECT_EQ(text_of("tls", "l4.sport eq 443"), "");
    EXPECT_EQ(text_of("tls", "not l4.dport in {22 25}"), "");
}

TEST(Services, WarnOfTwoProtocolsForTheSameConnections) {
    EXPECT_EQ(shown(compile(R"yaml(
  - {id: web, protocol: http, when: "ip.dst eq 192.0.2.1 and l4.dport in {80 4443}"}
  - {id: sites, protocol: tls, when: l4.dport eq 4443}
  - {id: more, protocol: http, when: "l4.dport in {80 8080}"}
  - {id: h3, protocol: quic, when: l4.dport eq 4443}
  - {id: names, protocol: dns, when: "l4.dport in {53 8080}"}
)yaml")),
              "5:10: warning: where the conditions of `web` (http) and `sites` (tls) both hold, "
              "`web`, which stands first, has the connection, and it is read as http alone\n"
              "8:10: warning: where the conditions of `more` (http) and `names` (dns) both hold, "
              "`more`, which stands first, has the connection, and it is read as http alone\n");
}

constexpr std::string_view kWeb = R"yaml(
  - {id: web, protocol: http, when: "l4.dport in {80 8080}", mode: enforce}
  - {id: tls, protocol: tls, when: l4.dport eq 443, mode: enforce}
  - {id: dns, protocol: dns, when: l4.dport eq 53, mode: enforce}
)yaml";

struct Stanced {
    std::string_view rule;
    Stance::Kind kind;
    std::vector<std::string> services;
};

class Stances : public testing::TestWithParam<Stanced> {};

TEST_P(Stances, AreCertain) {
    const Outcome outcome =
        compile(kWeb, "rules:\n  - {id: r, mode: enforce, " + std::string{GetParam().rule} + "}\n");
    ASSERT_TRUE(outcome.rules.has_value()) << shown(outcome);
    const Stance& stance = outcome.rules->rules.front().stance;
    EXPECT_EQ(stance.kind, GetParam().kind) << kStanceNames[static_cast<std::size_t>(stance.kind)];
    EXPECT_EQ(stance.services, GetParam().services);
}

constexpr std::string_view kRequests =
    "key: [ip.src], per: request, limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]";
// The services are http's at 80 and 8080, of one address at 81 to 84, and of all others at 81 to 82
// and at 83.
constexpr std::string_view kParts = R"yaml(
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}
  - {id: alt, protocol: http, when: l4.dport eq 8080, mode: enforce}
  - {id: one, protocol: http, when: "l4.dport in {81..84} and ip.dst eq 192.0.2.1"}
  - {id: low, protocol: http, when: "l4.dport in {81 82} and not ip.dst eq 192.0.2.1"}
  - {id: mid, protocol: http, when: "l4.dport eq 83 and not ip.dst eq 192.0.2.1"}
  - {id: tls, protocol: tls, when: l4.dport eq 443}
  - {id: late, protocol: tls, when: l4.dport eq 444}
)yaml";

TEST(Services, TogetherHaveRulesThatNoneOfThemHasAlone) {
    const auto stance_of = [](std::string_view when) {
        const Outcome outcome =
            compile(kParts, "rules:\n  - {id: r, when: '" + std::string{when} +
                                "', key: [ip.src], per: request, limits: [{algorithm: "
                                "token_bucket, rate: 1/s, burst: 1}]}\n");
        return outcome.rules->rules.front().stance;
    };
    using Kind = Stance::Kind;
    const Stance both = stance_of("l4.dport in {80 8080}");
    EXPECT_EQ(both.kind, Kind::Service);
    EXPECT_EQ(both.services, (std::vector<std::string>{"web", "alt"}));
    EXPECT_EQ(stance_of("l4.dport in {80 8080} and http.host eq \"a\"").kind, Kind::Service);
    EXPECT_TRUE(both.beyond.empty());
    EXPECT_EQ(stance_of("l4.dport in {80 8080 8081}").kind, Kind::Partly);
    EXPECT_EQ(stance_of("l4.dport in {81 82 83}").kind, Kind::Service);
    EXPECT_EQ(stance_of("l4.dport in {81..84}").kind, Kind::Partly);
    EXPECT_EQ(stance_of("l4.dport in {81..84} and ip.dst eq 192.0.2.1").kind, Kind::Service);
    const Stance others = stance_of("l4.dport in {443 444}");
    EXPECT_EQ(others.kind, Kind::Nothing);
    EXPECT_EQ(others.services, (std::vector<std::string>{"tls", "late"}));
}

TEST(Services, SayByWhichFieldsARuleReachesBeyondThem) {
    const auto beyond_of = [](std::string_view when, std::string_view per = "request") {
        const Outcome outcome =
            compile(kParts, "rules:\n  - {id: r, mode: enforce, when: '" + std::string{when} +
                                "', key: [ip.src], per: " + std::string{per} +
                                ", limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n");
        return beyond_text(rules_anywhere(outcome.rules->rules));
    };
    EXPECT_EQ(beyond_of("l4.dport in {80 8080}"), "");
    EXPECT_EQ(beyond_of("l4.dport eq 9000"), "");
    EXPECT_EQ(beyond_of("l4.dport in {80 8081}"), "r (beyond service web by l4.dport)");
    EXPECT_EQ(beyond_of("l4.dport in {80 8080 8081}"), "r (beyond services web, alt by l4.dport)");
    // Of the clauses of services the nearest tells.
    EXPECT_EQ(beyond_of("l4.dport in {81..84}"), "r (beyond services one, low, mid by ip.dst)");
    EXPECT_EQ(beyond_of("l4.dport eq 84"), "r (beyond service one by ip.dst)");
    EXPECT_EQ(beyond_of("l4.dport in {84 85}"), "r (beyond service one by ip.dst and l4.dport)");
    // Hellos of QUIC are no TLS service's.
    EXPECT_EQ(beyond_of("l4.dport eq 443", "handshake"), "r (beyond service tls by ip.proto)");
}

constexpr std::string_view kHandshakes =
    "key: [ip.src], per: handshake, limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]";
constexpr std::string_view kPackets =
    "key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]";

std::string with(std::string_view when, std::string_view rest) {
    return "when: '" + std::string{when} + "', " + std::string{rest};
}

INSTANTIATE_TEST_SUITE_P(
    All, Stances, testing::ValuesIn([] {
        static const auto texts = std::to_array<std::string>(
            {std::string{kPackets}, with("l4.dport eq 80", kRequests), std::string{kRequests},
             with("l4.dport in {80 81}", kRequests), with("l4.dport eq 81", kRequests),
             with("l4.dport eq 443", kHandshakes),
             with("l4.dport eq 443 and ip.proto eq \"tcp\"", kHandshakes),
             with("l4.dport eq 443 and tls.sni eq \"a\"", kHandshakes),
             with("l4.dport eq 443", kRequests),
             with("l4.dport in {80 8080} and http.host eq \"a\" or l4.dport eq 443 and tls.sni "
                  "eq \"b\"",
                  kPackets),
             with("ip.dst eq 192.0.2.1 and l4.dport eq 53 and dns.qtype eq 1", "on_match: drop"),
             with("proto.l7 eq \"http\"", kPackets), with("payload contains \"x\"", kPackets)});
        using Kind = Stance::Kind;
        return std::vector<Stanced>{{texts[0], Kind::None, {}},
                                    {texts[1], Kind::Service, {"web"}},
                                    {texts[2], Kind::Partly, {"web"}},
                                    {texts[3], Kind::Partly, {"web"}},
                                    {texts[4], Kind::Anywhere, {}},
                                    {texts[5], Kind::Partly, {"tls"}},  // QUIC is nobody's
                                    {texts[6], Kind::Service, {"tls"}},
                                    {texts[7], Kind::Service, {"tls"}},
                                    {texts[8], Kind::Nothing, {"tls"}},
                                    {texts[9], Kind::Service, {"web", "tls"}},
                                    {texts[10], Kind::Service, {"dns"}},
                                    {texts[11], Kind::Partly, {"web"}},
                                    {texts[12], Kind::None, {}}};
    }()));

TEST(Services, InMonitorAreNamedWhereARuleEnforcesOverThem) {
    constexpr std::string_view kRule =
        "rules:\n  - {id: r, mode: enforce, when: l4.dport eq 80, key: [ip.src], per: request, "
        "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n";
    const Outcome outcome = compile("  - {id: web, protocol: http, when: l4.dport eq 80}\n", kRule);
    EXPECT_EQ(shown(outcome),
              "5:10: warning: this rule enforces over `web`, which is in monitor: what that "
              "service would refuse passes, and goes around the rule\n");
    EXPECT_TRUE(
        compile("  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}\n", kRule)
            .problems.empty());
}

// A box of two workers whose ports hash so.
RssMapping box_of(Rss outside, Rss inside) {
    return {.ports = {{.pair = "p", .dir = Direction::In, .rss = outside},
                      {.pair = "p", .dir = Direction::Out, .rss = inside}}};
}

TEST(Services, NeedBothDirectionsAtOneWorker) {
    constexpr std::string_view kBoth = "  - {id: web, protocol: http, when: l4.dport eq 80}\n";
    constexpr std::string_view kInbound =
        "  - {id: web, protocol: http, when: l4.dport eq 80, path: inbound}\n";
    const auto compiles = [](std::string_view services, RssMapping box) {
        return compile(services, kNoRules, {}, &box).rules.has_value();
    };
    EXPECT_TRUE(compiles(kBoth, box_of(Rss::Source, Rss::Destination)));
    EXPECT_TRUE(compiles(kBoth, box_of(Rss::Destination, Rss::Source)));
    EXPECT_TRUE(compiles(kBoth, box_of(Rss::Symmetric, Rss::Symmetric)));
    EXPECT_FALSE(compiles(kBoth, box_of(Rss::Source, Rss::Source)));
    EXPECT_FALSE(compiles(kBoth, box_of(Rss::FiveTuple, Rss::FiveTuple)));
    EXPECT_FALSE(compiles(kBoth, box_of(Rss::Source, Rss::Symmetric)));
    EXPECT_TRUE(compiles(kInbound, box_of(Rss::Source, Rss::Source)));
    RssMapping lone = box_of(Rss::Source, Rss::Source);
    lone.workers = 1;
    EXPECT_TRUE(compiles(kBoth, lone));
    RssMapping unknown = box_of(Rss::Source, Rss::Destination);
    unknown.ports[0].by = unknown.ports[1].by = PortRssMapping::By::Unknown;
    EXPECT_FALSE(compiles(kBoth, unknown));
    const RssMapping split = box_of(Rss::Source, Rss::Source);
    EXPECT_TRUE(shown(compile(kBoth, kNoRules, {}, &split))
                    .starts_with("3:10: this box cannot follow `web`: outside of pair `p` spreads "
                                 "by source, inside by source, "));
}

}  // namespace
}  // namespace sluice::services_test

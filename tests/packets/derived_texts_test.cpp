#include "lib/l7/stream/unit_parser.hpp"
#include "lib/policy/domains/suffix_list.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// path_prefix() and registrable_domain(), of requests, hellos and queries, from the wire to a
// verdict.
namespace sluice::derived_texts_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::HelloMaker;
using test::Octets;

Frame segment(const Octets& bytes, std::uint16_t sport, std::uint16_t dport) {
    return test::tcp().src("10.0.0.1").sport(sport).dport(dport).seq(1000).carries(bytes);
}
Frame asks(std::string_view path, std::uint16_t sport, std::string_view host = "a.example") {
    return segment(test::message_octets("GET " + std::string{path} +
                                        " HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n"),
                   sport, 80);
}
Frame greets(std::string_view name, std::uint16_t sport) {
    return segment(HelloMaker{}.sni(name).records(), sport, 443);
}
Frame greets_over_quic(std::string_view name, std::uint16_t sport) {
    return test::udp()
        .src("10.0.0.1")
        .sport(sport)
        .dport(443)
        .carries(test::quic_initial(name, sport).packet());
}
Frame queries(const std::string& message, std::uint16_t sport) {
    return test::udp()
        .src("10.0.0.1")
        .sport(sport)
        .dport(53)
        .carries(test::message_octets(message));
}
Frame queries_name(std::string_view name, std::uint16_t sport) {
    return queries(test::dns_query(name), sport);
}

#define HEAD "version: 1\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define ONE "limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")
#define BY(key, per) HEAD RULE("each", "key: ['" key "'], per: " per ", " ONE)

const Case kCases[] = {
    {"requests share a bucket by the first segments of their path",
     BY("path_prefix(http.request.uri.path, 2)", "request"),
     {{0ms, asks("/a/b", 1), "pass", "within_limits"},
      {0ms, asks("/a//b/c?d", 2), "drop", "over_limit", "each", 1000ms},
      {0ms, asks("/a/b/", 3), "drop", "over_limit", "each", 1000ms},
      {0ms, asks("/a/bc", 4), "pass", "within_limits"},
      {0ms, asks("/a", 5), "pass", "within_limits"},
      {0ms, asks("/a/", 6), "pass", "within_limits"},
      {0ms, asks("/A/b", 7), "pass", "within_limits"}}},

    {"whatever their case, where the rule says so",
     BY("lower(path_prefix(http.request.uri.path, 1))", "request"),
     {{0ms, asks("/Api/x", 1), "pass", "within_limits"},
      {0ms, asks("/api/y", 2), "drop", "over_limit", "each", 1000ms}}},

    {"a condition tests the first segments of a path",
     DENY("path_prefix(http.request.uri.path, 1) eq \"/admin\" or "
          "ends_with(path_prefix(http.request.uri.path, 2), \"/debug\")"),
     {{0ms, asks("/admin/x/y", 1), "drop", "deny_rule", "d"},
      {0ms, asks("/x/../admin", 2), "drop", "deny_rule", "d"},
      {0ms, asks("/administrator", 3), "pass", "unmatched"},
      {0ms, asks("/v1/debug/z", 4), "drop", "deny_rule", "d"},
      {0ms, asks("/v1/z/debug", 5), "pass", "unmatched"}}},

    {"requests share a bucket by the domain of their host, whatever its case",
     BY("registrable_domain(http.host)", "request"),
     {{0ms, asks("/", 1, "www.shop.co.uk"), "pass", "within_limits"},
      {0ms, asks("/", 2, "CDN.Shop.CO.UK.:80"), "drop", "over_limit", "each", 1000ms},
      {0ms, asks("/", 3, "other.co.uk"), "pass", "within_limits"},
      {0ms, asks("/", 4, "co.uk"), "pass", "within_limits"},
      {0ms, asks("/", 5, "192.0.2.1"), "pass", "within_limits"},
      {0ms, asks("/", 6, "8.0.2.1"), "pass", "within_limits"}}},

    {"hellos by the domain of their server's name",
     BY("registrable_domain(tls.sni)", "handshake"),
     {{0ms, greets("a.b.example.com", 1), "pass", "within_limits"},
      {0ms, greets("C.EXAMPLE.com", 2), "drop", "over_limit", "each", 1000ms},
      {0ms, greets("example.uk", 3), "pass", "within_limits"},
      {0ms, asks("/", 4, "x.example.com"), "pass", "unmatched"}}},

    {"hellos over QUIC likewise",
     BY("registrable_domain(quic.sni)", "handshake"),
     {{0ms, greets_over_quic("a.example.com", 1), "pass", "within_limits"},
      {0ms, greets_over_quic("b.example.com", 2), "drop", "over_limit", "each", 1000ms},
      {0ms, greets("b.example.com", 3), "pass", "unmatched"}}},

    {"queries by the domain of their name, in which a dot can be a part of a label",
     BY("registrable_domain(dns.qname)", "query"),
     {{0ms, queries_name("a.b.example.com", 1), "pass", "within_limits"},
      {0ms, queries_name("EXAMPLE.com", 2), "drop", "over_limit", "each", 1000ms},
      {0ms, queries_name("com", 3), "pass", "within_limits"},
      {0ms, queries_name("a.www.ck", 4), "pass", "within_limits"},
      {0ms, queries_name("www.ck", 5), "drop", "over_limit", "each", 1000ms},
      {0ms, queries_name("a.b.other.ck", 6), "pass", "within_limits"},
      {0ms, queries_name("b.other.ck", 7), "drop", "over_limit", "each", 1000ms}}},

    {"each question of a packet has its own",
     DENY("registrable_domain(dns.qname) in {\"example.com\" \"shop.co.uk\"}"),
     {{0ms,
       queries(
           test::DnsText{.questions = 2,
                         .body = test::dns_question("a.uk") + test::dns_question("www.Example.com")}
               .wire(),
           1),
       "drop", "deny_rule", "d"},
      {0ms, queries_name("example.com.uk", 2), "pass", "unmatched"},
      {0ms, queries_name("x.y.shop.co.uk", 3), "drop", "deny_rule", "d"}}},

    {"a text and what is made of it are two parts of one key",
     HEAD RULE("each",
               "key: [http.request.uri.path, 'path_prefix(http.request.uri.path, 1)', "
               "'path_prefix(http.request.uri.path, 2)'], per: request, " ONE),
     {{0ms, asks("/a/b/c", 1), "pass", "within_limits"},
      {0ms, asks("/a/b/c", 2), "drop", "over_limit", "each", 1000ms},
      {0ms, asks("/a/b/d", 3), "pass", "within_limits"}}},
};

const ListReader& suffix_files() {
    static const ListReader files =
        test::lists_of({{kSuffixListFile, "com\nuk\nco.uk\n*.ck\n!www.ck\n"}});
    return files;
}

class DerivedCase : public testing::TestWithParam<Case> {};

TEST_P(DerivedCase, EveryStep) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{GetParam().rules, {}, 4096, &suffix_files()};
    box.find_units_by(parser.finder());
    test::expect_opened_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, DerivedCase, testing::ValuesIn(kCases));

// A worker looks for the protocols of their sources, and for no other.
TEST(DerivedTexts, WantTheirSources) {
    const test::Box paths{DENY("path_prefix(http.request.uri.path, 1) eq \"/a\"")};
    EXPECT_EQ(paths.set().meter_plan.texts, TextFieldSet{TextField::HttpPath});
    EXPECT_EQ(paths.set().meter_plan.derived, TextFieldSet{named_text(0)});
    const test::Box names{BY("registrable_domain(dns.qname)", "query"), {}, 4096, &suffix_files()};
    EXPECT_EQ(names.set().meter_plan.texts, TextFieldSet{TextField::DnsQname});
    EXPECT_EQ(names.set().meter_plan.rules[0].key_texts, TextFieldSet{TextField::DnsQname});
}

// State hangs on what is derived, not on its number in the file.
TEST(DerivedTexts, AReloadKeepsTheirBuckets) {
    const std::string domains = BY("registrable_domain(http.host)", "request");
    const std::string paths =
        RULE("other", "key: ['path_prefix(http.request.uri.path, 3)'], per: request, limits: ["  //
             TOKENS("1/s", "100") "]");
    UnitParser parser{capture_unit_budget()};
    test::Box box{domains, {}, 4096, &suffix_files()};
    box.find_units_by(parser.finder());
    const auto passes = [&](std::uint16_t sport, std::string_view host) {
        box.open(asks("/", sport, host), test::kStart);
        return box.judge(asks("/", sport, host).bytes(), test::kStart).verdict == Verdict::Pass;
    };
    EXPECT_TRUE(passes(1, "a.example.com"));
    const std::string both = HEAD + paths + domains.substr(std::string_view{HEAD}.size());
    ASSERT_TRUE(box.reload(both, &suffix_files()));
    EXPECT_EQ(box.set().rules[1].keys[0][0].text, named_text(1));
    EXPECT_FALSE(passes(2, "b.example.com"));
    EXPECT_TRUE(passes(3, "b.example.uk"));
    ASSERT_TRUE(box.reload(domains, &suffix_files()));
    EXPECT_FALSE(passes(4, "c.example.com"));
    EXPECT_FALSE(passes(5, "c.example.uk"));
    // Of another text the key is another.
    ASSERT_TRUE(box.reload(BY("http.host", "request"), &suffix_files()));
    EXPECT_TRUE(passes(6, "example.com"));
}

// The list that decides is that of the rules in force.
TEST(DerivedTexts, FollowTheListOfTheirRules) {
    const std::string domains = BY("registrable_domain(http.host)", "request");
    const ListReader hosters = test::lists_of({{kSuffixListFile, "com\nhoster.com\n"}});
    UnitParser parser{capture_unit_budget()};
    test::Box box{domains, {}, 4096, &suffix_files()};
    box.find_units_by(parser.finder());
    const auto passes = [&](std::uint16_t sport, std::string_view host) {
        box.open(asks("/", sport, host), test::kStart);
        return box.judge(asks("/", sport, host).bytes(), test::kStart).verdict == Verdict::Pass;
    };
    EXPECT_TRUE(passes(1, "a.hoster.com"));
    EXPECT_FALSE(passes(2, "b.hoster.com"));
    ASSERT_TRUE(box.reload(domains, &hosters));
    EXPECT_TRUE(passes(3, "a.hoster.com"));
    EXPECT_TRUE(passes(4, "b.hoster.com"));
    EXPECT_FALSE(passes(5, "c.b.hoster.com"));
}

}  // namespace
}  // namespace sluice::derived_texts_test

#undef HEAD
#undef TOKENS
#undef RULE
#undef ONE
#undef DENY
#undef BY

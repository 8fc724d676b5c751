#include "lib/l7/stream/unit_parser.hpp"
#include "lib/rules/group.hpp"
#include "lib/watch/top/key_sampler.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// DNS over UDP from the wire to a verdict: which datagrams are queries, what conditions and keys
// read of them, and that nobody looks for them where it changes nothing.
namespace sluice::dns_cases_test {
namespace {

std::string dns_questions(std::string_view name, std::size_t count) {
    std::string questions;
    for (std::size_t i = 0; i < count; ++i) {
        questions += test::dns_question(name);
    }
    return questions;
}

using namespace std::chrono_literals;
using test::Case;
using test::dns_query;
using test::dns_question;
using test::dns_response;
using test::DnsText;
using test::Frame;
using test::kStart;
using test::udp;

Frame to_53(const std::string& message) {
    return udp().src("10.0.0.1").dport(53).carries(test::message_octets(message));
}
Frame from_53(const std::string& message) {
    return udp().src("10.0.0.9").sport(53).dport(40'000).carries(test::message_octets(message));
}
Frame asks(std::string_view name, std::uint16_t type = 1) {
    return to_53(dns_query(name, type));
}

#define HEAD "version: 1\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define ONE_QUERY "per: query, limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")

const Case kCases[] = {
    {"queries are limited by name, whatever its case",
     HEAD RULE("names", "key: [dns.qname], " ONE_QUERY),
     {{0ms, asks("example.com"), "pass", "within_limits"},
      {0ms, asks("eXaMpLe.CoM"), "drop", "over_limit", "names", 1000ms},
      {0ms, asks("example.com", 28), "drop", "over_limit", "names", 1000ms},
      {0ms, asks("example.org"), "pass", "within_limits"},
      {0ms, asks("com"), "pass", "within_limits"},
      {1000ms, asks("EXAMPLE.com"), "pass", "within_limits"}}},

    {"lower() of a name is the name",
     HEAD RULE("names", "key: ['lower(dns.qname)', dns.qtype], " ONE_QUERY),
     {{0ms, asks("A.b"), "pass", "within_limits"},
      {0ms, asks("a.B"), "drop", "over_limit", "names", 1000ms},
      {0ms, asks("a.B", 28), "pass", "within_limits"}}},

    {"a response is no query: it has the fields, and no limit over queries counts it",
     HEAD RULE("queries", "key: [], " ONE_QUERY)
         RULE("answers", "when: 'dns.qr eq 1', key: [dns.qname], limits: [" TOKENS("1/s", "1") "]"),
     {{0ms, from_53(dns_response("a")), "pass", "within_limits"},
      {0ms, from_53(dns_response("a")), "drop", "over_limit", "answers", 1000ms},
      {0ms, from_53(dns_response("b")), "pass", "within_limits"},
      {0ms, asks("a"), "pass", "within_limits"},
      {0ms, asks("a"), "drop", "over_limit", "queries", 1000ms}}},

    {"what is no DNS carries no query and has no fields",
     HEAD RULE("queries", "key: [], " ONE_QUERY)
         RULE("named", "key: [dns.qname], limits: [" TOKENS("1/s", "1") "]"),
     {{0ms, to_53("no DNS message at all"), "pass", "unmatched"},
      {0ms, to_53(""), "pass", "unmatched"},
      {0ms, test::tcp().dport(53).carries(test::message_octets(dns_query("a"))), "pass",
       "unmatched"},
      {0ms, to_53(dns_query("a").substr(0, 18)), "pass", "unmatched"},
      {0ms, asks("a"), "pass", "within_limits"}}},

    {"a question in a first fragment counts, a later fragment has none",
     HEAD RULE("queries", "key: [], " ONE_QUERY),
     {{0ms, asks("a").frag(0, true), "pass", "within_limits"},
      {0ms, asks("a").frag(0, true), "drop", "over_limit", "queries", 1000ms},
      {0ms, asks("a").frag(8, false), "pass", "unmatched"}}},

    {"on other ports all of a message has to fit, and protocols of its format are none",
     DENY("proto.l7 eq \"dns\""),
     {{0ms, udp().dport(5300).carries(test::message_octets(dns_query("a"))), "drop", "deny_rule",
       "d"},
      {0ms, udp().dport(5300).carries(test::message_octets(dns_query("a") + "x")), "pass",
       "unmatched"},
      {0ms, asks("a").dport(53).sport(9), "drop", "deny_rule", "d"},
      {0ms, to_53(dns_query("a") + "x"), "drop", "deny_rule", "d"},
      {0ms, udp().dport(5353).carries(test::message_octets(dns_query("a"))), "pass", "unmatched"},
      {0ms, udp().sport(137).carries(test::message_octets(dns_response("a"))), "pass", "unmatched"},
      {0ms, udp().sport(5353).dport(5300).carries(test::message_octets(dns_query("a"))), "drop",
       "deny_rule", "d"}}},

    {"each question is a unit of its own, as far as they are sound",
     HEAD RULE("bad", "when: 'dns.qname eq \"bad\"', on_match: drop")
         RULE("queries", "key: [], per: query, limits: [" TOKENS("1/s", "2") "]"),
     {{0ms, to_53(DnsText{.questions = 2, .body = dns_question("a") + dns_question("bad")}.wire()),
       "drop", "deny_rule", "bad"},
      {0ms, to_53(DnsText{.questions = 2, .body = dns_question("a") + dns_question("b")}.wire()),
       "pass", "within_limits"},
      {0ms, asks("c"), "drop", "over_limit", "queries", 1000ms},
      {1000ms, to_53(DnsText{.questions = 9, .body = dns_question("a") + "\xFF"}.wire()), "pass",
       "within_limits"},
      {1000ms,
       to_53(DnsText{.flags = 0x8180, .questions = 2, .body = dns_question("a") + dns_question("b")}
                 .wire()),
       "pass", "unmatched"}}},

    {"what has more questions than a packet has room for passes where no service is declared",
     HEAD RULE("queries", "key: [], per: query, limits: [" TOKENS("1/s", "100") "]"),
     {{0ms,
       to_53(DnsText{.questions = kMaxUnits + 1, .body = dns_questions("a", kMaxUnits + 1)}.wire()),
       "pass", "unmatched"}}},

    {"of a query each question is counted",
     HEAD RULE("queries", "key: [], per: query, limits: [" TOKENS("1/s", "80") "]"),
     {{0ms, to_53(DnsText{.questions = 78, .body = dns_questions("a", 78)}.wire()), "pass",
       "within_limits"},
      {0ms, to_53(DnsText{.questions = 3, .body = dns_questions("a", 3)}.wire()), "drop",
       "over_limit", "queries", 1s},
      {0ms, to_53(DnsText{.questions = 2, .body = dns_questions("a", 2)}.wire()), "pass",
       "within_limits"}}},

    {"names are compared without their case, in each kind of test",
     DENY("dns.qname eq \"A.Example\" or ends_with(dns.qname, \".Evil\") or "
          "starts_with(dns.qname, \"XX\") or dns.qname contains \"TrAcK\" or "
          "dns.qname matches \"^[A-F]{8}[.]\""),
     {{0ms, asks("a.EXAMPLE"), "drop", "deny_rule", "d"},
      {0ms, asks("b.a.example"), "pass", "unmatched"},
      {0ms, asks("very.eviL"), "drop", "deny_rule", "d"},
      {0ms, asks("evil"), "pass", "unmatched"},
      {0ms, asks("xX.y"), "drop", "deny_rule", "d"},
      {0ms, asks("a.ttrackk.b"), "drop", "deny_rule", "d"},
      {0ms, asks("abcdefab.net"), "drop", "deny_rule", "d"},
      {0ms, asks("abcdefag.net"), "pass", "unmatched"}}},

    {"the root is a dot",
     DENY("dns.qname eq \".\""),
     {{0ms, asks(""), "drop", "deny_rule", "d"}, {0ms, asks("a"), "pass", "unmatched"}}},

    {"types are numbers",
     DENY("dns.qtype in {28 65} or dns.qtype ge 250"),
     {{0ms, asks("a"), "pass", "unmatched"},
      {0ms, asks("a", 28), "drop", "deny_rule", "d"},
      {0ms, asks("a", 65), "drop", "deny_rule", "d"},
      {0ms, asks("a", 64), "pass", "unmatched"},
      {0ms, asks("a", 249), "pass", "unmatched"},
      {0ms, asks("a", 250), "drop", "deny_rule", "d"},
      {0ms, asks("a", 65535), "drop", "deny_rule", "d"}}},

    {"a comparison with a type that is not there is false, ne too",
     DENY("dns.qtype ne 1"),
     {{0ms, asks("a"), "pass", "unmatched"},
      {0ms, asks("a", 2), "drop", "deny_rule", "d"},
      {0ms, udp().dport(53), "pass", "unmatched"}}},

    {"and not inverts",
     DENY("not dns.qtype le 16"),
     {{0ms, asks("a"), "pass", "unmatched"},
      {0ms, asks("a", 17), "drop", "deny_rule", "d"},
      {0ms, udp().dport(53), "drop", "deny_rule", "d"}}},

    {"a number alone is a condition",
     DENY("dns.qr"),
     {{0ms, asks("a"), "pass", "unmatched"},
      {0ms, from_53(dns_response("a")), "drop", "deny_rule", "d"}}},

    {"numbers at the ends of their range",
     DENY("dns.qtype lt 1 and not dns.qtype le 0 or dns.qtype gt 65534"),
     {{0ms, asks("a", 0), "pass", "unmatched"}, {0ms, asks("a", 65535), "drop", "deny_rule", "d"}}},

    {"fields of headers and of DNS stand side by side",
     HEAD RULE("any",
               "when: 'l4.dport eq 53 and dns.qtype eq 255', key: [ip.src, dns.qname], " ONE_QUERY),
     {{0ms, asks("a", 255), "pass", "within_limits"},
      {0ms, asks("a", 255).src("10.0.0.2"), "pass", "within_limits"},
      {0ms, asks("a", 255), "drop", "over_limit", "any", 1000ms},
      {0ms, asks("a", 1), "pass", "unmatched"}}},

    {"a budget of bypass over a name",
     "version: 1\nlimits: {l: " TOKENS(
         "1/s", "1") "}\n"
                     "bypass: [{when: 'dns.qname eq \"own\"', key: [], limit: l}]\nrules:\n" RULE(
                         "none", "when: 'l4.dport eq 53', on_match: drop"),
     {{0ms, asks("own"), "pass", "bypass", "bypass.1"},
      {0ms, asks("own"), "drop", "deny_rule", "none"},
      {0ms, asks("other"), "drop", "deny_rule", "none"}}},
};

class DnsCase : public testing::TestWithParam<Case> {};

TEST_P(DnsCase, Holds) {
    test::Box box{GetParam().rules};
    box.find_units_by(lone_unit_finder());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, DnsCase, testing::ValuesIn(kCases));

// The parser of layer 7, and how often it is called.
class CountedFinder {
public:
    [[nodiscard]] UnitFinder finder() {
        return {.possible = inner_.possible, .find = &find, .parser = this, .texts = inner_.texts};
    }
    [[nodiscard]] std::size_t calls() const { return calls_; }

private:
    static void find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
        auto* const self = static_cast<CountedFinder*>(parser);
        ++self->calls_;
        self->inner_.find(self->inner_.parser, packet, units);
    }

    UnitFinder inner_ = lone_unit_finder();
    std::size_t calls_ = 0;
};

std::size_t calls_under(std::string_view rules, const std::vector<Frame>& frames) {
    CountedFinder finder;
    test::Box box{rules};
    box.find_units_by(finder.finder());
    for (const Frame& frame : frames) {
        (void)box.judge(frame.bytes(), kStart);
    }
    return finder.calls();
}

TEST(Dns, IsLookedForOnlyWhereItCanChangeSomething) {
    const std::vector<Frame> two{asks("a"), asks("a").src("10.0.0.2")};
    // Rules that read nothing of it.
    EXPECT_EQ(calls_under(HEAD RULE("r", "key: [ip.src], limits: [" TOKENS("1/s", "1") "]"), two),
              0U);
    EXPECT_EQ(calls_under(DENY("payload contains \"x\""), two), 0U);
    // Rules that read it, in a condition, in a key, as what is counted.
    EXPECT_EQ(calls_under(DENY("dns.qname eq \"x\""), two), 2U);
    EXPECT_EQ(
        calls_under(HEAD RULE("r", "key: [dns.qname], limits: [" TOKENS("1/s", "1") "]"), two), 2U);
    EXPECT_EQ(calls_under(HEAD RULE("r", "key: [], " ONE_QUERY), two), 2U);
    // Of packets that match no such rule by their headers.
    EXPECT_EQ(calls_under(DENY("ip.src eq 10.0.0.2 and dns.qname eq \"x\""), two), 1U);
    EXPECT_EQ(calls_under(HEAD RULE("r", "when: ip.src eq 10.0.0.2, key: [], " ONE_QUERY), two),
              1U);
    // Of packets that are UDP, and for rules whose condition is not decided yet.
    EXPECT_EQ(calls_under(DENY("dns.qname eq \"x\""),
                          {test::tcp().dport(53).carries(test::message_octets(dns_query("a")))}),
              0U);
    EXPECT_EQ(calls_under(HEAD RULE("r",
                                    "when: 'ip.src eq 10.0.0.1 or dns.qname eq \"x\"', key: "
                                    "[ip.src], limits: [" TOKENS("1/s", "1") "]"),
                          two),
              1U);
    // Of packets that a rule before decides by headers, and for rules with limits one behind too.
    const char* const kDecided = RULE("x", "when: ip.src eq 10.0.0.2, on_match: drop");
    EXPECT_EQ(calls_under(std::string{HEAD} + kDecided +
                              RULE("r", "when: 'dns.qname eq \"x\"', on_match: allow"),
                          two),
              1U);
    EXPECT_EQ(
        calls_under(std::string{HEAD} + RULE("r", "key: [dns.qname], " ONE_QUERY) + kDecided, two),
        1U);
    EXPECT_EQ(calls_under(std::string{HEAD} +
                              RULE("r", "when: 'dns.qname eq \"x\"', on_match: allow") + kDecided,
                          two),
              2U);
}

// What is found is counted, and what is wrong with a message of port 53 by its reason.
TEST(Dns, IsCountedByWhatBecomesOfIt) {
    struct Row {
        UnitEvent event;
        Frame frame;
    };
    const std::string label63 = "\x3F" + std::string(63, 'a');
    const std::string ends{"\0\0\1\0\1", 5};
    const Row rows[] = {
        {UnitEvent::DnsQuery, asks("a")},
        {UnitEvent::DnsQuery, asks("a").dport(5300)},
        {UnitEvent::DnsResponse, from_53(dns_response("a"))},
        {UnitEvent::DnsShortHeader, to_53("")},
        {UnitEvent::DnsShortHeader, to_53(dns_query("a").substr(0, 11))},
        {UnitEvent::DnsBadOpcode, to_53(DnsText{.flags = 0x1800, .body = ends}.wire())},
        {UnitEvent::DnsNoQuestion, to_53(DnsText{.questions = 0, .body = ends}.wire())},
        {UnitEvent::DnsTruncated, to_53(dns_query("a").substr(0, 18))},
        {UnitEvent::DnsBadLabel, to_53(DnsText{.body = "\x40" + ends}.wire())},
        {UnitEvent::DnsBadPointer, to_53(DnsText{.body = "\xC0\x0C" + ends}.wire())},
        {UnitEvent::DnsNameTooLong,
         to_53(DnsText{.body = label63 + label63 + label63 + label63 + ends}.wire())},
    };
    for (const Row& row : rows) {
        test::Box box{HEAD RULE("r", "key: [], " ONE_QUERY)};
        box.find_units_by(lone_unit_finder());
        (void)box.judge(row.frame.bytes(), kStart);
        for (const auto& event : kUnitEvents) {
            EXPECT_EQ(box.counters().by_unit_event[static_cast<std::size_t>(event.event)].read(),
                      event.event == row.event ? 1U : 0U)
                << event.name;
        }
    }
    // What is no message on other ports is nobody's fault.
    test::Box box{HEAD RULE("r", "key: [], " ONE_QUERY)};
    box.find_units_by(lone_unit_finder());
    (void)box.judge(udp().dport(5300).carries(test::message_octets("x")).bytes(), kStart);
    for (const Counter& counter : box.counters().by_unit_event) {
        EXPECT_EQ(counter.read(), 0U);
    }
}

// Names in the texts of keys, as `top` shows and `key show` reads them.
TEST(Dns, NamesAreReadInKeys) {
    test::Box box{HEAD RULE("names", "key: [dns.qname, dns.qtype], " ONE_QUERY)};
    box.find_units_by(lone_unit_finder());
    KeySampler sampler{7};
    box.watch(sampler);
    (void)box.judge(asks("WWW.example.COM", 28).bytes(), kStart);
    std::vector<std::string> sampled;
    sampler.ring().drain([&](const KeySample& sample) {
        sampled.push_back(text_of_key(ByteView{sample.key}.first(sample.size),
                                      [](std::uint64_t) { return std::string{}; }));
    });
    EXPECT_EQ(sampled, std::vector<std::string>{"www.example.com|28"});
    const Result<ReadKey> read = box.read_key("Www.Example.com|0x1C");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->text, "www.example.com|28");
    EXPECT_EQ(box.ask({.load = box.set().load, .bytes = read->bytes}, kStart).buckets[0].remaining,
              Units{0});
    EXPECT_FALSE(box.read_key("a|65536"));
    EXPECT_FALSE(box.read_key("a|A"));
    EXPECT_FALSE(box.read_key("a"));
}

}  // namespace
}  // namespace sluice::dns_cases_test

#undef HEAD
#undef TOKENS
#undef RULE
#undef ONE_QUERY
#undef DENY

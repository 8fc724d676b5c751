#include "tests/packets/list_files.hpp"
#include "tests/packets/unit_texts.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// client.ip where proxies name clients: of whom, in conditions and in keys.
namespace sluice::proxied_client_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::units;

struct ProxiedBox : test::Box {
    explicit ProxiedBox(std::string_view rules) : Box{rules} {
        find_units_by(test::texts_finder());
    }
};

#define CLIENT_IP(more)                                                                    \
    "version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8, \"fd00::/8\"], from: {header: " \
    "x-forwarded-for" more "}}\n"
#define FROM(more) CLIENT_IP(more) "rules:\n"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define ONE "limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]"

Frame from(std::string_view source, std::string_view text) {
    return units(text).src(source);
}

// One that names a client, and more behind it than a packet has room for.
const std::string kCrowd = [] {
    std::string crowd = "client=192.0.2.1";
    for (std::size_t unit = 0; unit < kMaxUnits; ++unit) {
        crowd += "\na=";
    }
    return crowd;
}();

const Case kCases[] = {
    {"of a trusted proxy the header counts, of others the source",
     FROM("") RULE("bad", "when: 'client.ip in {192.0.2.0/24}', on_match: drop"),
     {{0ms, from("10.0.0.1", "client=192.0.2.1"), "drop", "deny_rule", "bad"},
      {0ms, from("10.0.0.1", "client=192.0.3.1"), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client=192.0.2.1,192.0.3.1"), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client=192.0.3.1,[::1]:9,192.0.2.7:80"), "drop", "deny_rule", "bad"},
      {0ms, from("192.0.2.9", "client=192.0.3.1"), "drop", "deny_rule", "bad"},
      {0ms, from("192.0.3.9", "client=192.0.2.1"), "pass", "unmatched"},
      {0ms, from("192.0.2.9", "http.host=a"), "drop", "deny_rule", "bad"},
      {0ms, test::udp().src("192.0.2.9").dport(53), "drop", "deny_rule", "bad"}}},

    {"what a proxy sends without a client has none",
     FROM("") RULE("any", "when: 'client.ip in {0.0.0.0/0 ::/0}', on_match: drop"),
     {{0ms, from("10.0.0.1", "client=unknown"), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client="), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "http.host=a"), "pass", "unmatched"},
      {0ms, test::udp().src("10.0.0.1").dport(53), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client=2001:db8::1"), "drop", "deny_rule", "any"},
      {0ms, from("11.0.0.1", "client=unknown"), "drop", "deny_rule", "any"}}},

    {"nor is it another one than asked",
     FROM("") RULE("other", "when: 'client.ip ne 192.0.2.1', on_match: drop"),
     {{0ms, from("10.0.0.1", "client=192.0.2.1"), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client=192.0.2.2"), "drop", "deny_rule", "other"},
      {0ms, from("10.0.0.1", "client=nobody"), "pass", "unmatched"},
      {0ms, test::udp().src("10.0.0.1").dport(53), "pass", "unmatched"}}},

    {"two proxies in a row",
     FROM(", hops_from_right: 2") RULE("bad", "when: 'client.ip eq 192.0.2.1', on_match: drop"),
     {{0ms, from("10.0.0.1", "client=192.0.2.1,10.0.0.9"), "drop", "deny_rule", "bad"},
      {0ms, from("10.0.0.1", "client=192.0.2.1"), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client=192.0.2.1,192.0.2.2,10.0.0.9"), "pass", "unmatched"}}},

    {"a key is the client's, through whichever proxy it comes",
     FROM("") RULE("each", "key: [client.ip], " ONE),
     {{0ms, from("10.0.0.1", "client=192.0.2.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.2", "client=192.0.2.1"), "drop", "over_limit", "each", 1h},
      {0ms, from("192.0.2.1", "client=192.0.2.7"), "drop", "over_limit", "each", 1h},
      {0ms, from("10.0.0.1", "client=192.0.2.2"), "pass", "within_limits"},
      // No client, no key: the rule does not apply.
      {0ms, from("10.0.0.1", "client=unknown"), "pass", "unmatched"},
      {0ms, from("10.0.0.1", "client=unknown"), "pass", "unmatched"}}},

    {"packets without a client share a bucket where they are to",
     FROM("") RULE("each", "key: [client.ip], missing_key: share, " ONE),
     {{0ms, from("10.0.0.1", "client=unknown"), "pass", "within_limits"},
      {0ms, from("10.0.0.2", "http.host=a"), "drop", "over_limit", "each", 1h},
      {0ms, test::udp().src("10.0.0.3").dport(53), "drop", "over_limit", "each", 1h},
      {0ms, from("10.0.0.1", "client=192.0.2.1"), "pass", "within_limits"}}},

    {"each request of a packet has its own client",
     FROM("") RULE("bad", "when: 'client.ip eq 192.0.2.1', on_match: drop")
         RULE("each", "key: [client.ip, http.host], " ONE),
     {{0ms, from("10.0.0.1", "client=192.0.2.3 http.host=a\nclient=192.0.2.1 http.host=a"), "drop",
       "deny_rule", "bad"},
      {0ms, from("10.0.0.1", "client=192.0.2.3 http.host=a\nclient=192.0.2.4 http.host=a"), "pass",
       "within_limits"},
      {0ms, from("10.0.0.1", "client=192.0.2.3 http.host=a\nclient=192.0.2.4 http.host=b"), "drop",
       "over_limit", "each", 1h}}},

    {"what client_ip makes of addresses it makes of those in headers",
     "version: 1\nclient_ip: {trusted_proxies: [10.0.0.0/8], from: {header: x-real-ip}, "
     "ipv4_prefix: 24, unwrap: [v4mapped]}\nrules:\n" RULE(
         "bad", "when: 'client.ip eq 192.0.2.0', on_match: drop")
         RULE("each", "key: [client.ip], " ONE),
     {{0ms, from("10.0.0.1", "client=192.0.2.77"), "drop", "deny_rule", "bad"},
      {0ms, from("10.0.0.1", "client=::ffff:192.0.2.77"), "drop", "deny_rule", "bad"},
      {0ms, from("10.0.0.1", "client=192.0.3.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1", "client=[::ffff:192.0.3.2]:1"), "drop", "over_limit", "each", 1h},
      {0ms, from("192.0.3.3", ""), "drop", "over_limit", "each", 1h}}},

    {"a crowd of no service passes as one packet without units",
     FROM("") RULE("bad", "when: 'client.ip eq 192.0.2.1', on_match: drop"),
     {{0ms, from("10.0.0.1", kCrowd), "pass", "unmatched"},
      {0ms, from("192.0.2.2", kCrowd), "pass", "unmatched"}}},

    {"a rule that monitors drops no crowd",
     FROM("") "  - {id: watch, mode: monitor, when: 'client.ip eq 192.0.2.1', on_match: drop}\n",
     {{0ms, from("10.0.0.1", kCrowd), "pass", "unmatched"}}},
};

class ProxiedClientCases : public testing::TestWithParam<Case> {};

TEST_P(ProxiedClientCases, Table) {
    ProxiedBox box{GetParam().rules};
    expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, ProxiedClientCases, testing::ValuesIn(kCases));

std::uint64_t unnamed(const test::Box& box) {
    return box.counters()
        .by_unit_event[static_cast<std::size_t>(UnitEvent::NoProxiedClient)]
        .read();
}

TEST(ProxiedClient, IsCountedWhereAProxyNamesNone) {
    ProxiedBox box{FROM("") RULE("each", "key: [client.ip], " ONE)};
    (void)box.judge(from("10.0.0.1", "client=192.0.2.1").bytes(), test::kStart);
    (void)box.judge(from("192.0.2.1", "client=unknown").bytes(), test::kStart);
    EXPECT_EQ(unnamed(box), 0U);
    (void)box.judge(from("10.0.0.1", "client=unknown").bytes(), test::kStart);
    (void)box.judge(from("10.0.0.1", "http.host=a\nclient=1.2.3.4").bytes(), test::kStart);
    EXPECT_EQ(unnamed(box), 2U);
    EXPECT_EQ(box.counters(0).skipped.read(), 2U);
}

// Of what no rule asks, nothing is looked up.
TEST(ProxiedClient, IsAskedOfOnlyWhereARuleUsesIt) {
    const ProxiedBox without{FROM("") RULE("a", "when: 'ip.src eq 10.0.0.1', on_match: drop")};
    EXPECT_EQ(without.set().proxied_clients, nullptr);
    EXPECT_TRUE(without.set().meter_plan.texts.empty());
    const ProxiedBox with{FROM("") RULE("a", "when: 'client.ip eq 192.0.2.1', on_match: drop")};
    ASSERT_NE(with.set().proxied_clients, nullptr);
    EXPECT_EQ(with.set().proxied_clients->header(), "x-forwarded-for");
    EXPECT_TRUE(with.set().meter_plan.texts.has(kClientHeader));
}

TEST(ProxiedClient, OfProxiesInAList) {
    const ListReader reader =
        test::lists_of({{"proxies.txt", "172.16.0.0/12\n192.0.2.9\n192.0.2.10\n"}});
    test::Box box{
        "version: 1\ndata: {lists: {proxies: {type: cidr, file: proxies.txt}}}\n"
        "client_ip: {trusted_proxies: [\"$proxies\", 10.0.0.2, 10.0.0.1], from: {header: "
        "x-real-ip}}\n"
        "rules:\n" RULE("bad", "when: 'client.ip eq 203.0.113.1', on_match: drop"),
        {},
        4096,
        &reader};
    box.find_units_by(test::texts_finder());
    for (const std::string_view proxy :
         {"172.16.0.0", "172.31.255.255", "192.0.2.9", "192.0.2.10", "10.0.0.1", "10.0.0.2"}) {
        EXPECT_EQ(box.judge(from(proxy, "client=203.0.113.1").bytes(), test::kStart).verdict,
                  Verdict::Drop)
            << proxy;
    }
    for (const std::string_view other : {"172.32.0.0", "192.0.2.8", "192.0.2.11", "10.0.0.3"}) {
        EXPECT_EQ(box.judge(from(other, "client=203.0.113.1").bytes(), test::kStart).verdict,
                  Verdict::Pass)
            << other;
    }
}

// One key for the packet path and for operators.
TEST(ProxiedClient, OfAnOperatorIsTheSameKey) {
    ProxiedBox box{FROM("") RULE("each", "key: [client.ip], " ONE)};
    (void)box.judge(from("10.0.0.1", "client=192.0.2.1").bytes(), test::kStart);
    const Result<ReadKey> key = box.read_key("192.0.2.1");
    ASSERT_TRUE(key);
    EXPECT_EQ(key->text, "192.0.2.1");
    const KeyAnswer answer =
        box.ask({.action = KeyAction::Show, .load = box.set().load, .rule = 0, .bytes = key->bytes},
                test::kStart);
    EXPECT_TRUE(answer.buckets[0].own);
    EXPECT_EQ(answer.buckets[0].remaining, Units{0});
}

#undef CLIENT_IP
#undef FROM
#undef ONE
#undef RULE

}  // namespace
}  // namespace sluice::proxied_client_test

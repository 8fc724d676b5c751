#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

// A declared service under the rules around it: none, rules that monitor, and sets that follow each
// other while no packet comes.
namespace sluice::service_sets_test {
namespace {

using namespace std::chrono_literals;
using test::client;
using test::kLogin;
using test::server;

const std::string kService =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust}\n";
const std::string kLimit =
    "when: 'http.host eq \"a\" or http.request.uri.path eq \"/login\"', key: [ip.src], per: "
    "request, limits: [{algorithm: fixed_window, count: 2, window: 1h}]}\n";
const std::string kMonitored = kService + "rules:\n  - {id: all, mode: monitor, " + kLimit;
const std::string kEnforced = kService + "rules:\n  - {id: all, mode: enforce, " + kLimit;
const std::string kWithoutRules = kService + "rules: []\n";
const std::string kOfPackets =
    kService +
    "rules:\n  - {id: p, mode: enforce, when: 'ip.proto eq 6', key: [ip.src], limits: "
    "[{algorithm: token_bucket, rate: 1000/s, burst: 1000}]}\n";
const std::string kWithoutServices = "version: 1\nrules: []\n";

class ServiceSets : public testing::Test {
protected:
    void begin(const std::string& rules) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = OnAmbiguous::Refuse;
        parser.emplace(budget);
        box.emplace(rules);
        box->find_units_by(parser->finder());
    }
    std::string take(const test::Frame& frame) {
        now += 10ms;
        return std::string{row_of(box->judge(frame, now).reason).name};
    }
    // A turn of a worker that nothing comes to.
    void idle() {
        Burst empty;
        empty.find_units_by(parser->finder());
        box->run(empty, now);
    }
    bool is_dropped(const test::Frame& frame) {
        now += 10ms;
        return !forwards(box->judge(frame, now).verdict);
    }
    void open(std::uint16_t port) {
        (void)take(test::syn().sport(port));
        (void)take(test::syn_ack().dport(port));
        (void)take(client("").sport(port));
    }

    std::optional<UnitParser> parser;
    std::optional<test::Box> box;
    Instant now = test::kStart;
};

TEST_F(ServiceSets, ARefusalHoldsForItsRepetitionsWhateverRulesThereAre) {
    const std::string all[] = {
        "GET /login HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /login HTTP/1.1\r\nbad header\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x16\x03\x01 not a request\n",
    };
    for (const std::string& rules : {kWithoutRules, kMonitored, kOfPackets, kEnforced}) {
        begin(rules);
        std::uint16_t port = 1;
        int refused = 0;
        for (const std::string& text : all) {
            open(++port);
            const test::Frame sent = client(text).sport(port);
            const bool is_refused = is_dropped(sent);
            refused += is_refused ? 1 : 0;
            EXPECT_EQ(is_dropped(sent), is_refused) << rules << text;
            EXPECT_EQ(is_dropped(sent), is_refused) << rules << text;
        }
        EXPECT_GE(refused, rules == kMonitored || rules == kEnforced ? 4 : 1) << rules;
    }
}

// A worker that has nothing to do is shown the last of several sets alone.
TEST_F(ServiceSets, SetsThatFollowEachOtherWhileNothingComesMakeNoConnectionUnknown) {
    begin(kEnforced);
    open(1);
    EXPECT_EQ(take(client(kLogin).sport(1)), "within_limits");
    ASSERT_TRUE(box->reload(kMonitored).has_value());
    ASSERT_TRUE(box->reload(kWithoutServices).has_value());
    ASSERT_TRUE(box->reload(kEnforced).has_value());
    EXPECT_EQ(take(client(kLogin, test::kLoginSize).sport(1)), "within_limits");
    EXPECT_EQ(take(client(kLogin, 2 * test::kLoginSize).sport(1)), "over_limit");
    EXPECT_EQ(parser->tracked().of(TrackEvent::Unseen), 0U);
    EXPECT_EQ(parser->tracked().of(TrackEvent::Midstream), 0U);
}

// The grace of strangers begins with the set that first reads their service, or with the end of a
// gap, at workers too that nothing comes to.
TEST_F(ServiceSets, TheGraceOfAWorkerBeginsBeforeItsFirstPacket) {
    const test::Frame stranger = client("\x01 no request", 100, 50);
    begin(kEnforced);
    idle();
    now += 61s;
    EXPECT_EQ(take(stranger), "midstream");

    begin(kWithoutServices);
    idle();
    now += 61s;
    ASSERT_TRUE(box->reload(kEnforced).has_value());
    idle();
    now += 50s;
    EXPECT_EQ(take(test::Frame{stranger}.sport(1)), "unmatched");
    now += 10s;
    EXPECT_EQ(take(test::Frame{stranger}.sport(2)), "midstream");

    box->forward_unread();
    idle();
    now += 50s;
    EXPECT_EQ(take(test::Frame{stranger}.sport(3)), "unmatched");
    now += 10s;
    EXPECT_EQ(take(test::Frame{stranger}.sport(4)), "midstream");
}

// Segments that a set without services let pass are a gap, also behind a service of the same name.
TEST_F(ServiceSets, PacketsUnderASetWithoutServicesAreAGap) {
    begin(kEnforced);
    open(1);
    EXPECT_EQ(take(client(kLogin).sport(1)), "within_limits");
    ASSERT_TRUE(box->reload(kWithoutServices).has_value());
    EXPECT_EQ(take(client(kLogin, test::kLoginSize).sport(1)), "unmatched");
    ASSERT_TRUE(box->reload(kEnforced).has_value());
    const test::Frame third = client(kLogin, 2 * test::kLoginSize).sport(1);
    EXPECT_EQ(take(third), "unmatched") << "a probe";
    EXPECT_EQ(take(server("", 0, 2 * test::kLoginSize).dport(1)), "unmatched");
    EXPECT_EQ(take(third), "within_limits");
    EXPECT_EQ(parser->tracked().of(TrackEvent::Unseen), 1U);
}

// A service that is taken away and declared again, while another one stays: its connections are
// known all the while, and what passed meanwhile was read by nobody.
TEST_F(ServiceSets, AServiceThatIsDeclaredAgainReadsOnWhereItsServerIs) {
    const std::string other =
        "  - {id: other, protocol: http, when: l4.dport eq 81, mode: enforce, checksums: trust}\n";
    const std::string both = kService + other + "rules:\n  - {id: all, mode: enforce, " + kLimit;
    const std::string alone = "version: 1\nservices:\n" + other + "rules: []\n";
    begin(both);
    open(1);
    EXPECT_EQ(take(client(kLogin).sport(1)), "within_limits");
    EXPECT_EQ(take(server("", 0, test::kLoginSize).dport(1)), "unmatched");
    ASSERT_TRUE(box->reload(alone).has_value());
    EXPECT_EQ(take(client(kLogin, test::kLoginSize).sport(1)), "unmatched");
    EXPECT_EQ(take(server("", 0, 2 * test::kLoginSize).dport(1)), "unmatched");
    ASSERT_TRUE(box->reload(both).has_value());
    EXPECT_EQ(take(client(kLogin, 2 * test::kLoginSize).sport(1)), "within_limits");
    EXPECT_EQ(take(server("", 0, 3 * test::kLoginSize).dport(1)), "unmatched");
    EXPECT_EQ(take(client(kLogin, 3 * test::kLoginSize).sport(1)), "over_limit");
}

// In monitor a client decides which bytes its server gets, by a TTL for one: the body that a decoy
// has announced is none once the service enforces.
TEST_F(ServiceSets, WhatWasReadInMonitorIsNotBelievedOnceAServiceEnforces) {
    const std::string decoy = "POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 1000000000\r\n\r\n";
    std::string enforced = kEnforced;
    std::string monitored = kEnforced;
    monitored.replace(monitored.find("mode: enforce, checksums"), 13, "mode: monitor");
    for (const bool is_known : {true, false}) {
        begin(monitored);
        if (is_known) {
            open(1);
        }
        EXPECT_EQ(take(client(decoy).ttl(2).sport(1)), "unmatched");
        (void)take(server("", 0, 0).dport(1));
        ASSERT_TRUE(box->reload(enforced).has_value());
        std::uint32_t at = 0;
        for (const char* const reason : {"within_limits", "within_limits", "over_limit"}) {
            // The first one finds a connection that nobody knows, whose server says where it is.
            std::string is = take(client(kLogin, at).sport(1));
            for (int again = 0; is == "unmatched" && again < 3; ++again) {
                (void)take(server("", 0, at).dport(1));
                is = take(client(kLogin, at).sport(1));
            }
            EXPECT_EQ(is, reason) << is_known << " " << at;
            at += test::kLoginSize;
            (void)take(server("", 0, at).dport(1));
        }
        EXPECT_GE(parser->tracked().of(TrackEvent::Midstream), 1U);
    }
}

// The other way, and with the same mode, all goes on.
TEST_F(ServiceSets, AConnectionOutlivesASetThatEnforcesAsBefore) {
    begin(kEnforced);
    open(1);
    EXPECT_EQ(take(client(kLogin).sport(1)), "within_limits");
    ASSERT_TRUE(box->reload(kMonitored).has_value());
    ASSERT_TRUE(box->reload(kEnforced).has_value());
    EXPECT_EQ(take(client(kLogin, test::kLoginSize).sport(1)), "within_limits");
    EXPECT_EQ(parser->tracked().of(TrackEvent::Midstream), 0U);
}

}  // namespace
}  // namespace sluice::service_sets_test

#include "tests/packets/asking_workers.hpp"
#include "tests/packets/service_dialogue.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Packets of services that are decided later than they came, or by another worker: they are changed
// as their tracker has found, and judged as packets of their service.
namespace sluice::held_services_test {
namespace {

using namespace std::chrono_literals;
using test::AskingWorkers;
using test::client;
using test::kAck;
using test::kUrg;
using test::syn;
using test::syn_ack;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;

std::string service(std::string_view id, std::string_view mode = "enforce") {
    return "version: 1\ndefaults: {mode: enforce}\nservices:\n  - {id: " + std::string{id} +
           ", protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport eq 80', mode: " +
           std::string{mode} + ", checksums: trust, h2c: strip}\n";
}
constexpr std::string_view kHosts =
    "  - {id: hosts, key: [http.host], per: request, limits: [{algorithm: token_bucket, rate: 1/s, "
    "burst: 1}]}\n";
std::string rules(std::string_view header, const std::string& services = service("web")) {
    return services + "rules:\n  - {id: d, when: 'http.request.headers[\"" + std::string{header} +
           "\"] eq \"1\"', on_match: drop}\n" + std::string{kHosts};
}

std::string get(std::string_view headers = "") {
    return "GET /chat HTTP/1.1\r\nHost: a\r\n" + std::string{headers} + "\r\n";
}
const std::string kAsksForHttp2 =
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";

class HeldOfService : public testing::Test {
protected:
    void open(std::uint16_t sport) {
        EXPECT_EQ(workers.judge(0, syn().sport(sport).bytes(), now).reason, Reason::Unmatched);
        EXPECT_EQ(workers.judge(0, syn_ack().dport(sport).bytes(), now, Direction::Out).reason,
                  Reason::Unmatched);
        EXPECT_EQ(workers.judge(0, client("").sport(sport).bytes(), now).reason, Reason::Unmatched);
    }
    // One that waits until its owner has answered, and `meanwhile` is done.
    template <typename Meanwhile>
    const AskingWorkers::Sent& wait(const test::Frame& frame, Meanwhile&& meanwhile) {
        const std::size_t number = workers.send(0, {frame.bytes()}, now);
        EXPECT_FALSE(workers.sent()[number].decided) << "it waits";
        meanwhile();
        workers.settle(now);
        EXPECT_TRUE(workers.sent()[number].decided);
        return workers.sent()[number];
    }

    AskingWorkers workers{rules("x"), kWorkers};
    Instant now = kStart;
};

TEST_F(HeldOfService, IsNormalisedAllTheSame) {
    open(1);
    const auto& sent = wait(client(get(kAsksForHttp2)).sport(1).flags(kAck | kUrg).ttl(3), [] {});
    EXPECT_EQ(sent.decision.reason, Reason::WithinLimits);
    EXPECT_TRUE(sent.changes.clears_urgent);
    EXPECT_EQ(sent.changes.raises_to, 32);
    EXPECT_EQ(sent.changes.voided().size(), 2U);
}

// Packets behind it in its burst, and in bursts between, keep their own changes.
TEST_F(HeldOfService, ChangesAreItsOwn) {
    open(1);
    open(2);
    const auto& sent = wait(client(get()).sport(1).ttl(3), [&] {
        const std::size_t other = workers.send(0, {client("").sport(2).bytes()}, now);
        EXPECT_FALSE(workers.sent()[other].changes.any());
    });
    EXPECT_EQ(sent.changes.raises_to, 32);
    const std::size_t syn_of_nobody =
        workers.send(0, {client("").sport(7).dport(81).flags(0x02).bytes()}, now);
    EXPECT_FALSE(workers.sent()[syn_of_nobody].changes.any());
}

// The first header that each of the sets names has the same number in both. Its connection is the
// service's under either set: read again, the request is judged by what the new set reads.
TEST_F(HeldOfService, IsReadAgainAsOfItsService) {
    struct Row {
        const char* what;
        std::string services;
        const char* headers;
        Reason reason;
        Reason again;
    };
    const std::string other =
        "  - {id: before, protocol: http, when: 'ip.dst eq 192.0.2.9', mode: enforce}\n";
    const Row rows[] = {
        {"denied by what it says", service("web"), "X: 2\r\nY: 1\r\n", Reason::DenyRule,
         Reason::Retransmission},
        {"not by what another header says", service("web"), "X: 1\r\nY: 2\r\n",
         Reason::WithinLimits, Reason::Unmatched},
        {"its service has another place",
         service("web").insert(service("web").find("  - {"), other), "X: 2\r\nY: 1\r\n",
         Reason::DenyRule, Reason::Retransmission},
        {"its service monitors by now", service("web", "monitor"), "X: 2\r\nY: 1\r\n",
         Reason::DenyRule, Reason::Retransmission},
        {"its service is gone: it is judged without what sets name", service("other"),
         "X: 2\r\nY: 1\r\n", Reason::WithinLimits, Reason::Unmatched},
    };
    std::uint16_t sport = 1;
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        workers.apply(rules("z"));
        open(++sport);
        const auto& sent = wait(client(get(row.headers)).sport(sport).ttl(3),
                                [&] { workers.apply(rules("y", row.services)); });
        EXPECT_EQ(sent.decision.reason, row.reason);
        EXPECT_EQ(sent.changes.raises_to, 32) << "as the set that followed it has found";
        now += 5s;
        const Decision again = workers.judge(0, client(get(row.headers)).sport(sport).bytes(), now);
        if (row.again == Reason::Retransmission) {
            EXPECT_EQ(again.reason, row.again);
        } else {
            EXPECT_TRUE(forwards(again.verdict));
        }
        EXPECT_EQ(workers.waiting(), 0U);
    }
}

// Voided lines of a request that is read again are voided once.
TEST_F(HeldOfService, LinesAreVoidedOnceUnderWhateverSet) {
    open(1);
    const auto& sent = wait(client(get(kAsksForHttp2)).sport(1), [&] {
        workers.apply(rules("y"));
        workers.apply(rules("z"));
    });
    EXPECT_EQ(sent.decision.reason, Reason::WithinLimits);
    EXPECT_EQ(sent.changes.voided().size(), 2U);
}

// All rules and services are gone while it waits: it goes on as it was found.
TEST_F(HeldOfService, GoesOnWithoutRules) {
    open(1);
    const auto& sent = wait(client(get()).sport(1).ttl(3), [&] {
        workers.apply("version: 1\nrules:\n  - {id: u, when: 'l4.dport eq 9', on_match: drop}\n");
    });
    EXPECT_EQ(sent.decision.reason, Reason::Unmatched);
    EXPECT_EQ(sent.changes.raises_to, 32);
}

// Packets that the owner of their key judges, whichever worker they come to.
TEST(HandedOver, IsNormalisedByWhoeverForwardsIt) {
    UnitParser parser{capture_unit_budget()};
    const std::string text = service("web") +
                             "rules:\n  - {id: log, key: [l4.sport], limits: [{algorithm: "
                             "sliding_log, count: 3, window: 1h}]}\n";
    Workers workers{text, kWorkers, {.finder = parser.finder()}};
    std::size_t changed = 0;
    for (std::uint16_t sport = 1; sport <= 8; ++sport) {
        EXPECT_EQ(workers.judge(0, syn().sport(sport).bytes(), kStart).reason,
                  Reason::WithinLimits);
        (void)workers.judge(0, syn_ack().dport(sport).bytes(), kStart, Direction::Out);
        (void)workers.judge(0, client("").sport(sport).bytes(), kStart);
        EXPECT_FALSE(workers.changes().any());
        const Decision decision = workers.judge(
            0, client(get(kAsksForHttp2)).sport(sport).flags(kAck | kUrg).ttl(3).bytes(), kStart);
        EXPECT_EQ(decision.reason, Reason::WithinLimits);
        const Normalization& changes = workers.changes();
        changed += changes.clears_urgent && changes.raises_to == 32 && changes.voided().size() == 2
                       ? 1
                       : 0;
        EXPECT_EQ(workers.judge(0, client("").sport(sport).bytes(), kStart).reason,
                  Reason::OverLimit);
    }
    EXPECT_EQ(changed, 8U);
    EXPECT_GT(workers.handed(), 8U);
}

}  // namespace
}  // namespace sluice::held_services_test

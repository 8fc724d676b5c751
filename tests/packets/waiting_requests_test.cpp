#include "tests/packets/asking_workers.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

// Requests that wait for what owners of keys say: their verdict sticks as any other's, and rules
// that are loaded meanwhile judge them by what they say under these.
namespace sluice::waiting_requests_test {
namespace {

using namespace std::chrono_literals;
using test::AskingWorkers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;

constexpr std::string_view kLimit =
    "  - {id: hosts, key: [http.host], per: request, limits: [{algorithm: token_bucket, rate: 1/s, "
    "burst: 1}]}\n";

std::string rules(std::string_view list) {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n" + std::string{list} +
           std::string{kLimit};
}
std::string deny(std::string_view header) {
    return "  - {id: d, when: 'http.request.headers[\"" + std::string{header} +
           "\"] eq \"1\"', on_match: drop}\n";
}

std::vector<std::byte> sends(std::string_view text, std::uint16_t sport, std::uint32_t seq = 1000) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return test::tcp()
        .src("10.0.0.1")
        .sport(sport)
        .dport(80)
        .seq(seq)
        .carries({bytes.begin(), bytes.end()})
        .bytes();
}
constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

class WaitingRequests : public testing::Test {
protected:
    [[nodiscard]] std::size_t send(const std::vector<std::byte>& frame) {
        const std::size_t number = workers.send(0, {frame}, now);
        EXPECT_FALSE(workers.sent()[number].decided) << "it waits";
        return number;
    }
    // Requests pass alone.
    void open(std::uint16_t sport) {
        const auto syn = test::tcp().src("10.0.0.1").sport(sport).dport(80).seq(999).flags(0x02);
        EXPECT_EQ(workers.judge(0, syn.bytes(), now).reason, Reason::Unmatched);
    }
    [[nodiscard]] Reason reason(std::size_t number) const {
        EXPECT_TRUE(workers.sent()[number].decided);
        return workers.sent()[number].decision.reason;
    }

    AskingWorkers workers{rules(deny("x")), kWorkers};
    Instant now = kStart;
};

TEST_F(WaitingRequests, WhatWasRefusedStaysRefused) {
    for (const std::uint16_t sport : std::initializer_list<std::uint16_t>{1, 2, 3}) {
        open(sport);
    }
    EXPECT_EQ(workers.judge(0, sends(kRequest, 1), now).reason, Reason::WithinLimits);
    EXPECT_EQ(workers.judge(0, sends(kRequest, 2), now).reason, Reason::OverLimit);
    now += 5s;
    EXPECT_EQ(workers.judge(0, sends(kRequest, 2), now).reason, Reason::Retransmission);
    EXPECT_EQ(workers.judge(0, sends(kRequest.substr(0, 9), 2), now).reason,
              Reason::Retransmission);
    EXPECT_EQ(workers.judge(0, sends(kRequest, 3), now).reason, Reason::WithinLimits)
        << "and was charged nothing";
}

TEST_F(WaitingRequests, ACopyOfWhatWaitsGoesWhereThatGoes) {
    open(1);
    open(2);
    EXPECT_EQ(workers.judge(0, sends(kRequest, 1), now).reason, Reason::WithinLimits);
    const std::size_t first = send(sends(kRequest, 2));
    const std::size_t copy = workers.send(0, {sends(kRequest, 2)}, now);
    workers.settle(now);
    EXPECT_EQ(reason(first), Reason::OverLimit);
    EXPECT_EQ(reason(copy), Reason::Retransmission);
    EXPECT_EQ(workers.waiting(), 0U);
}

// A packet that is dropped needs no order; an answer stands behind the requests before it.
TEST_F(WaitingRequests, WhatIsAnsweredOnSightGoesBehindWhatWaits) {
    const std::string_view refused = "GET / HTTP/1.1\r\nHost: b\r\nX: 1\r\n\r\n";
    const auto behind = static_cast<std::uint32_t>(1000 + kRequest.size());
    open(1);
    const std::size_t waits = send(sends(kRequest, 1));
    EXPECT_EQ(workers.judge(0, sends(refused, 1, behind), now).reason, Reason::DenyRule);
    workers.settle(now);
    EXPECT_EQ(reason(waits), Reason::WithinLimits);
    workers.apply(rules(
        "  - {id: d, when: 'http.request.headers[\"x\"] eq \"1\"', on_match: {action: reply}}\n"));
    now += 5s;
    open(2);
    const std::size_t first = send(sends(kRequest, 2));
    const std::size_t second = send(sends(refused, 2, behind));
    workers.settle(now);
    EXPECT_EQ(reason(first), Reason::WithinLimits);
    EXPECT_EQ(reason(second), Reason::DenyRule);
}

// The first header that each of the sets names has the same number in both.
TEST_F(WaitingRequests, OtherRulesReadWhatTheyName) {
    struct Row {
        const char* headers;
        Reason reason;
    };
    for (const Row& row : {Row{"X: 2\r\nY: 1\r\n", Reason::DenyRule},
                           Row{"X: 1\r\nY: 2\r\n", Reason::WithinLimits}}) {
        SCOPED_TRACE(row.headers);
        workers.apply(rules(deny("z")));
        const std::string text =
            "GET / HTTP/1.1\r\nHost: a\r\n" + std::string{row.headers} + "\r\n";
        const auto sport = static_cast<std::uint16_t>(row.reason);
        open(sport);
        const std::size_t number = send(sends(text, sport));
        workers.apply(rules(deny("y")));
        workers.settle(now);
        EXPECT_EQ(reason(number), row.reason);
        now += 5s;
        EXPECT_EQ(workers.judge(0, sends(text, sport), now).reason,
                  row.reason == Reason::DenyRule ? Reason::Retransmission : Reason::Unmatched);
    }
}

// Of a head whose beginning is another packet's, nothing but the texts of any set is known.
TEST_F(WaitingRequests, OtherRulesReadOfAPartOfAHeadWhatAllSetsDo) {
    workers.apply(rules(deny("z")));
    open(5);
    (void)workers.judge(0, sends("GET / HTTP/1.1\r\n", 5), now);
    const std::size_t number = send(sends("Host: a\r\nZ: 2\r\nY: 1\r\n\r\n", 5, 1016));
    workers.apply(rules(deny("y")));
    workers.settle(now);
    EXPECT_EQ(reason(number), Reason::WithinLimits);
}

// A query whose last fragment waits is judged by its ports and its name when it is its turn.
TEST(WaitingQueries, InFragmentsWaitAsAnyOther) {
    AskingWorkers workers{
        "version: 1\nservices:\n  - {id: dns, protocol: dns, when: l4.dport eq 53, mode: enforce}\n"
        "rules:\n  - {id: names, mode: enforce, when: l4.dport eq 53, key: [dns.qname], per: "
        "query, "
        "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n",
        kWorkers};
    const std::vector<std::byte> query = test::message_octets(test::dns_query("a.example"));
    const auto part = [&](std::uint16_t number, bool is_first) {
        const auto cut = query.begin() + 16;
        return test::udp()
            .src("10.0.0.1")
            .dport(53)
            .udp_len(static_cast<std::uint16_t>(8 + query.size()))
            .identification(number)
            .carries(is_first ? std::vector<std::byte>{query.begin(), cut}
                              : std::vector<std::byte>{cut, query.end()})
            .frag(is_first ? 0 : 3, is_first)
            .bytes();
    };
    EXPECT_EQ(workers.judge(0, part(1, true), kStart).reason, Reason::Unmatched);
    EXPECT_EQ(workers.judge(0, part(1, false), kStart).reason, Reason::WithinLimits);
    EXPECT_EQ(workers.judge(0, part(2, true), kStart).reason, Reason::Unmatched);
    const std::size_t last = workers.send(0, {part(2, false)}, kStart);
    EXPECT_FALSE(workers.sent()[last].decided) << "it waits";
    workers.settle(kStart);
    EXPECT_EQ(workers.sent()[last].decision.reason, Reason::OverLimit);
    EXPECT_EQ(workers.judge(0, part(2, false), kStart).reason, Reason::FragmentOfRefused);
    EXPECT_EQ(workers.judge(0, part(1, false), kStart).reason, Reason::Unmatched);
}

}  // namespace
}  // namespace sluice::waiting_requests_test

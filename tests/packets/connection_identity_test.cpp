#include "tests/packets/answering_box.hpp"
#include "tests/packets/asking_workers.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <string_view>

// All that remember connections tell them apart by tags and pair as well: equal addresses, ports
// and numbers may be another connection.
namespace sluice::connection_identity_test {
namespace {

using namespace std::chrono_literals;
using test::Frame;

constexpr Instant kStart{1h};
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kAck = 0x10;

// Puts a packet under its tags, on its pair.
using Place = std::function<Frame(Frame)>;
struct TwoPlaces {
    const char* name;
    Place here;
    Place there;
};
void PrintTo(const TwoPlaces& places, std::ostream* out) {
    *out << places.name;
}

const Place kUntagged = [](Frame frame) { return frame; };
Place tagged(std::uint16_t id) {
    return [id](Frame frame) { return frame.vlan(id); };
}
Place tagged(std::uint16_t outer, std::uint16_t inner) {
    return [=](Frame frame) { return frame.vlan(outer, 0x88A8).vlan(inner); };
}
Place on(std::string_view pair) {
    return [pair](Frame frame) { return frame.on(pair); };
}

const TwoPlaces kPlaces[] = {
    {"TwoVlans", tagged(5), tagged(6)},
    {"TwoInnerVlans", tagged(5, 6), tagged(5, 7)},
    {"TwoOuterVlans", tagged(5, 7), tagged(6, 7)},
    {"VlanAndInnerVlan", tagged(5), tagged(5, 6)},
    {"OuterAndInnerVlanBesideVlan0", tagged(5, 0), tagged(0, 6)},
    {"TwoPairs", kUntagged, on("other")},
};

class ConnectionIdentity : public testing::TestWithParam<TwoPlaces> {
protected:
    Frame here(Frame frame) const { return GetParam().here(std::move(frame)); }
    Frame there(Frame frame) const { return GetParam().there(std::move(frame)); }
};
INSTANTIATE_TEST_SUITE_P(Places, ConnectionIdentity, testing::ValuesIn(kPlaces),
                         [](const auto& row) { return std::string{row.param.name}; });

Frame client(std::uint16_t flags, std::uint32_t seq, std::string_view text = {}) {
    return test::tcp()
        .src("10.0.0.1")
        .dst("10.0.0.2")
        .sport(40'000)
        .dport(80)
        .flags(flags)
        .seq(seq)
        .ack((flags & kAck) != 0 ? 7 : 0)
        .carries(test::message_octets(text));
}
Frame server(std::uint16_t flags, std::uint32_t seq, std::uint32_t ack) {
    return test::tcp()
        .src("10.0.0.2")
        .dst("10.0.0.1")
        .sport(80)
        .dport(40'000)
        .flags(flags)
        .seq(seq)
        .ack(ack)
        .from_inside();
}

#define RULES "version: 1\ndefaults: {mode: enforce}\nrules:\n"

TEST_P(ConnectionIdentity, RequestsAreNotPutTogether) {
    constexpr std::string_view kFirst = "GET /denied HTTP/1.1\r\nHo";
    constexpr std::string_view kSecond = "st: a\r\n\r\n";
    const auto second = client(kAck, 101 + kFirst.size(), kSecond);
    for (const bool same : {true, false}) {
        test::Box box{
            RULES "  - {id: d, when: 'http.request.uri.path eq \"/denied\"', on_match: drop}\n"};
        UnitParser parser{capture_unit_budget()};
        box.find_units_by(parser.finder());
        for (const bool is_here : {true, false}) {
            (void)box.judge(is_here ? here(client(kSyn, 100)) : there(client(kSyn, 100)), kStart);
        }
        (void)box.judge(here(client(kAck, 101, kFirst)), kStart);
        EXPECT_EQ(box.judge(same ? here(second) : there(second), kStart).reason,
                  same ? Reason::DenyRule : Reason::Unmatched);
    }
}

TEST_P(ConnectionIdentity, HellosAreNotRepeatedElsewhere) {
    const Frame hello = test::udp()
                            .src("10.0.0.1")
                            .dst("10.0.0.2")
                            .sport(40'000)
                            .dport(443)
                            .carries(test::quic_initial("a.example").packet());
    for (const bool same : {true, false}) {
        test::Box box{RULES
                      "  - {id: n, key: [quic.sni], per: handshake,\n"
                      "     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}\n"};
        UnitParser parser{capture_unit_budget()};
        box.find_units_by(parser.finder());
        EXPECT_EQ(box.judge(here(hello), kStart).reason, Reason::WithinLimits);
        EXPECT_EQ(box.judge(same ? here(hello) : there(hello), kStart).reason,
                  same ? Reason::Unmatched : Reason::OverLimit);
    }
}

TEST_P(ConnectionIdentity, AnAnswerEndsItsOwnConnectionAlone) {
    // Every request is refused: the only one that a day has room for is gone.
    test::AnsweringBox box{RULES
                           "  - {id: d, key: [], per: request, on_exceed: {action: reset},\n"
                           "     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}\n"};
    constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    (void)box.take(client(kSyn, 100).sport(1));
    (void)box.take(client(kAck, 101, kRequest).sport(1));
    for (const bool is_here : {true, false}) {
        (void)box.take(is_here ? here(client(kSyn, 100)) : there(client(kSyn, 100)));
        const Frame accepts = server(kSyn | kAck, 6, 101);
        (void)box.take(is_here ? here(accepts) : there(accepts), Direction::Out);
        const Frame completes = client(kAck, 101);
        (void)box.take(is_here ? here(completes) : there(completes));
    }
    EXPECT_EQ(box.take(here(client(kAck, 101, kRequest))).back(), "reset over_limit");
    const Frame next = client(kAck, 101 + kRequest.size(), "more");
    const Frame back = server(kAck, 7, 101);
    EXPECT_EQ(box.take(there(next)).back(), "pass unmatched");
    EXPECT_EQ(box.take(there(back), Direction::Out).back(), "pass unmatched");
    EXPECT_EQ(box.take(here(next)).back(), "drop answered");
    EXPECT_EQ(box.take(here(back), Direction::Out).back(), "drop answered");
}

TEST_P(ConnectionIdentity, NobodyWaitsBehindAnotherConnection) {
    constexpr std::string_view kText = RULES
        "  - {id: names, when: dns.qname eq \"a.example\", key: [dns.qname], per: query,\n"
        "     limits: [{algorithm: sliding_log, count: 4, window: 300ms}]}\n";
    test::AskingWorkers workers{kText, 2};
    const auto query = [](std::string_view name) {
        return test::udp()
            .src("10.0.0.1")
            .dst("10.0.0.2")
            .sport(40'000)
            .dport(53)
            .carries(test::message_octets(test::dns_query(name)));
    };
    // The one of both that does not own the key.
    test::AskingWorkers others{kText, 2};
    const Frame first = here(query("a.example"));
    (void)others.send(0, {first.bytes()}, kStart, first.pair());
    others.poll(0, kStart);
    const std::size_t asker = others.sent()[0].decided ? 1 : 0;
    const auto send = [&](const Frame& frame) {
        return workers.send(asker, {frame.bytes()}, kStart, frame.pair());
    };
    (void)send(first);
    const std::size_t behind = send(here(query("b.example")));
    const std::size_t beside = send(there(query("b.example")));
    EXPECT_FALSE(workers.sent()[behind].decided);
    EXPECT_TRUE(workers.sent()[beside].decided);
    workers.settle(kStart);
    EXPECT_TRUE(workers.sent()[behind].decided);
}

TEST_P(ConnectionIdentity, OpenConnectionsAreCountedApart) {
    test::Box box{RULES
                  "  - {id: o, when: l4.dport eq 80, key: [ip.src],\n"
                  "     limits: [{algorithm: concurrency, count: 1, idle: 1m}]}\n"};
    const auto opens_there = [&] {
        return box.judge(there(client(kSyn, 100)), kStart).reason == Reason::WithinLimits;
    };
    EXPECT_EQ(box.judge(here(client(kSyn, 100)), kStart).reason, Reason::WithinLimits);
    EXPECT_EQ(box.judge(here(client(kSyn, 100)), kStart).reason, Reason::WithinLimits) << "again";
    EXPECT_FALSE(opens_there());
    (void)box.judge(there(server(kRst | kAck, 0, 101)), kStart);
    EXPECT_FALSE(opens_there()) << "that RST is of another connection";
    (void)box.judge(here(server(kRst | kAck, 0, 101)), kStart);
    EXPECT_TRUE(opens_there());
}

// A tag of VID 0 is no VLAN: whatever way its packets come, the connection is one.
TEST(ConnectionTags, OfVid0AreNone) {
    const Place ways[][3] = {
        {kUntagged, tagged(0), tagged(0, 0)},
        {tagged(5), tagged(5, 0), tagged(0, 5)},
    };
    for (const auto& way : ways) {
        test::Box box{
            RULES "  - {id: d, when: 'http.request.uri.path eq \"/denied\"', on_match: drop}\n"};
        UnitParser parser{capture_unit_budget()};
        box.find_units_by(parser.finder());
        constexpr std::string_view kFirst = "GET /denied HTTP/1.1\r\nHo";
        (void)box.judge(way[0](client(kSyn, 100)), kStart);
        (void)box.judge(way[1](client(kAck, 101, kFirst)), kStart);
        const Frame second = client(kAck, 101 + kFirst.size(), "st: a\r\n\r\n");
        EXPECT_EQ(box.judge(way[2](second), kStart).reason, Reason::DenyRule);
    }
}

// A packet in the name of the server that comes in on the client's side is none of the server's.
TEST(ConnectionSides, WhoeverIsOnTheOtherSideIsAnotherEnd) {
    test::Box box{RULES
                  "  - {id: o, when: l4.dport eq 80, key: [ip.src],\n"
                  "     limits: [{algorithm: concurrency, count: 1, idle: 1m}]}\n"};
    const auto opens = [&] {
        return box.judge(client(kSyn, 9).sport(1), kStart).reason == Reason::WithinLimits;
    };
    (void)box.judge(client(kSyn, 100), kStart);
    const test::Octets forged = server(kRst | kAck, 0, 101).bytes();
    (void)box.judge(forged, kStart, Direction::In);
    EXPECT_FALSE(opens());
    (void)box.judge(forged, kStart, Direction::Out);
    EXPECT_TRUE(opens());
}

}  // namespace
}  // namespace sluice::connection_identity_test

#undef RULES

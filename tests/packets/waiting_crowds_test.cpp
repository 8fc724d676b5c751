#include "tests/packets/asking_workers.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Packets of many requests each that wait for the owner of their keys: together they have more than
// one burst has room for, or more than rules that are loaded meanwhile leave a packet.
namespace sluice::waiting_crowds_test {
namespace {

using namespace std::chrono_literals;
using test::AskingWorkers;
using test::client;

constexpr Instant kStart{1h};
constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost:a\r\n\r\n";

std::string rules(std::size_t others = 0) {
    std::string text =
        "version: 1\ndefaults: {mode: enforce}\nservices:\n  - {id: web, protocol: http, when: "
        "'ip.dst eq 192.0.2.1 and l4.dport eq 80', mode: enforce, checksums: trust}\nrules:\n"
        "  - {id: hosts, key: [http.host], per: request, limits: [{algorithm: token_bucket, "
        "rate: 100000/s, burst: 100000}]}\n";
    for (std::size_t i = 0; i < others; ++i) {
        text += "  - {id: r" + std::to_string(i) + ", when: 'l4.dport eq 9', on_match: drop}\n";
    }
    return text;
}
std::string requests(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += kRequest;
    }
    return text;
}

class WaitingCrowds : public testing::Test {
protected:
    void open(std::uint16_t port) {
        (void)workers.judge(0, test::syn().sport(port).bytes(), kStart);
        (void)workers.judge(0, test::syn_ack().dport(port).bytes(), kStart, Direction::Out);
        (void)workers.judge(0, client("").sport(port).bytes(), kStart);
    }
    std::size_t send(std::uint16_t port, std::string_view text, std::uint32_t seq) {
        const std::size_t number = workers.send(0, {client(text, seq).sport(port).bytes()}, kStart);
        EXPECT_FALSE(workers.sent()[number].decided) << "it waits";
        return number;
    }

    AskingWorkers workers{
        rules(),
        4,
        {.pending = {.packets = 256, .questions = 4096, .longest = 250ms}, .ring = 4096}};
};

struct Crowd {
    std::uint16_t packets;
    std::size_t requests;
};
class InACrowd : public WaitingCrowds, public testing::WithParamInterface<Crowd> {};

// Each of them came in a burst of its own, which had room for it.
TEST_P(InACrowd, AllAreDecidedWithTheirUnits) {
    const auto [packets, size] = GetParam();
    for (std::uint16_t port = 1; port <= packets; ++port) {
        open(port);
    }
    const std::size_t first = workers.sent().size();
    for (std::uint16_t port = 1; port <= packets; ++port) {
        (void)send(port, requests(size), 0);
    }
    workers.settle(kStart);
    for (std::size_t number = first; number < workers.sent().size(); ++number) {
        ASSERT_TRUE(workers.sent()[number].decided) << number - first;
        EXPECT_EQ(workers.sent()[number].decision.reason, Reason::WithinLimits) << number - first;
    }
    EXPECT_EQ(workers.counted(std::size_t{0})[0], packets * size);
    EXPECT_EQ(workers.counted(UnitEvent::TooManyUnits), 0U);
    EXPECT_EQ(workers.waiting(), 0U);
    EXPECT_EQ(workers.reserved(), 0U);
}
INSTANTIATE_TEST_SUITE_P(All, InACrowd,
                         testing::Values(Crowd{10, 54}, Crowd{9, 54}, Crowd{3, 255}, Crowd{40, 16},
                                         Crowd{70, 9}, Crowd{64, 1}));

// The first request began in a packet before, so that it cannot be read again.
TEST_F(WaitingCrowds, OtherRulesMayHaveNoRoomForThem) {
    open(1);
    EXPECT_TRUE(
        forwards(workers.judge(0, client(kRequest.substr(0, 6)).sport(1).bytes(), kStart).verdict));
    const std::size_t number = send(1, requests(255).substr(6), 6);
    workers.apply(rules(4000));
    workers.settle(kStart);
    ASSERT_TRUE(workers.sent()[number].decided);
    EXPECT_EQ(workers.sent()[number].decision.reason, Reason::TooManyUnits);
    EXPECT_EQ(workers.counted(UnitEvent::TooManyUnits), 1U);
    EXPECT_EQ(workers.waiting(), 0U);
    EXPECT_EQ(workers.reserved(), 0U);
}

}  // namespace
}  // namespace sluice::waiting_crowds_test

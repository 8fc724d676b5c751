#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/answering_box.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

// Limits of open connections to an enforced service: a RST frees a place where its tracker says
// that the server takes it.
namespace sluice::service_concurrency_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::client;
using test::Frame;
using test::kAck;
using test::kRst;
using test::server;
using test::syn;
using test::syn_ack;

constexpr std::string_view kOne =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: open, mode: enforce, when: 'ip.dst "
    "eq 192.0.2.1 and l4.dport eq 80', key: [ip.src], limits: [{algorithm: concurrency, count: 1, "
    "idle: 15m}]}\n";

Frame reset(std::uint32_t at) {
    return client("", at).flags(kRst | kAck);
}
Frame other_syn() {
    return syn().sport(40'001);
}

std::vector<test::Step> opened(std::vector<test::Step> steps) {
    steps.insert(steps.begin(), {{0ms, syn(), "pass", "within_limits"},
                                 {0ms, syn_ack(), "pass", "unmatched"},
                                 {0ms, client(""), "pass", "unmatched"}});
    return steps;
}

const Case kCases[] = {
    {"a RST before a byte that is on its way", kOne,
     opened({{0ms, client("G"), "pass", "unmatched"},
             {0ms, reset(0), "pass", "unmatched"},
             {0ms, reset(1), "pass", "unmatched"},
             {0ms, other_syn(), "drop", "over_limit", "open", 15min},
             {0ms, server("", 0, 1), "pass", "unmatched"},
             {0ms, other_syn(), "drop", "over_limit", "open", 15min},
             {0ms, reset(1), "pass", "unmatched"},
             {0ms, other_syn(), "pass", "within_limits"}})},

    {"the byte arrives whatever its TTL was", kOne,
     opened({{0ms, client("G").ttl(3), "pass", "unmatched"},
             {0ms, reset(0), "pass", "unmatched"},
             {0ms, other_syn(), "drop", "over_limit", "open", 15min},
             {0ms, server("", 0, 1), "pass", "unmatched"},
             {0ms, reset(1), "pass", "unmatched"},
             {0ms, other_syn(), "pass", "within_limits"}})},

    {"bytes whose TTL was raised complete the handshake",
     kOne,
     {{0ms, syn(), "pass", "within_limits"},
      {0ms, syn_ack(), "pass", "unmatched"},
      {0ms, client("G").ttl(31), "pass", "unmatched"},
      {65s, other_syn(), "drop", "over_limit", "open", 15min - 65s}}},

    {"a server that goes on behind a RST that freed the place is reset with its client", kOne,
     opened({{0ms, client("G"), "pass", "unmatched"},
             {3s, reset(0), "pass", "unmatched"},
             {3s, other_syn(), "pass", "within_limits"},
             {3s, server("", 0, 1), "reset", "behind_end"},
             {3s, client("ET", 1), "drop", "behind_end"},
             {3s, server("HTTP/1.1 200 OK", 0, 1), "drop", "behind_end"}})},
};

class ServiceConcurrency : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Table, ServiceConcurrency, testing::ValuesIn(kCases),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST_P(ServiceConcurrency, Decides) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}

// Each end gets its RST at the very number that it expects: 1001 + 1, and 5001.
TEST(ServiceConcurrencyAnswers, AServerThatGoesOnIsResetAtItsOwnNumber) {
    test::AnsweringBox box{kOne};
    const auto take = [&](const Frame& frame, Nanoseconds at) {
        return box.take(frame, frame.dir(), test::kStart + at);
    };
    for (const Frame& frame : {syn(), syn_ack(), client(""), client("G")}) {
        (void)take(frame, 0s);
    }
    EXPECT_EQ(take(reset(0), 3s), std::vector<std::string>{"pass unmatched"});
    EXPECT_EQ(take(server("", 0, 1), 3s),
              (std::vector<std::string>{"< RA 1002:5001", "> RA 5001:1002", "reset behind_end"}));
    EXPECT_EQ(take(server("", 0, 1), 3s), std::vector<std::string>{"drop behind_end"});
}

}  // namespace
}  // namespace sluice::service_concurrency_test

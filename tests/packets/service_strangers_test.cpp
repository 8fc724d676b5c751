#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

// Senders who know the addresses and ports of a connection to a service, and none of its numbers,
// against a rule that bans.
namespace sluice::service_strangers_test {
namespace {

using namespace std::chrono_literals;
using test::client;
using test::Frame;
using test::kAck;
using test::kFin;
using test::kLogin;
using test::kLoginSize;
using test::kRst;
using test::kSyn;
using test::server;
using test::syn;
using test::syn_ack;

// One login an hour: who asks for another is banned.
constexpr std::string_view kBans =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: logins, mode: enforce, when: "
    "'http.request.uri.path eq \"/login\"', key: [ip.src], per: request, limits: [{algorithm: "
    "fixed_window, count: 1, window: 1h}], ban: {after: 1, within: 1h, for: 1h}}\n";

class Strangers : public testing::Test {
protected:
    Strangers() { box.find_units_by(parser.finder()); }
    std::string reason(const Frame& frame) {
        return std::string{row_of(box.judge(frame, now).reason).name};
    }
    void open() {
        for (const Frame& frame : {syn(), syn_ack(), client("")}) {
            EXPECT_EQ(reason(frame), "unmatched");
        }
    }
    // Logins, and what would make the box forget a connection, at numbers that are none of it:
    // further from its own than a window reaches.
    void forge(int count) {
        for (int i = 0; i < count; ++i) {
            const std::uint32_t at = far();
            const std::uint32_t acked = far();
            (void)reason(client(kLogin, at, acked));
            (void)reason(client(kLogin, 0, acked));
            (void)reason(client("", at, acked).flags(kRst | kAck));
            (void)reason(client("", at, acked).flags(kFin | kAck));
            (void)reason(client("", at, 0).flags(kSyn));
        }
    }
    [[nodiscard]] std::uint32_t far() { return anywhere(random); }
    [[nodiscard]] std::uint64_t bans() { return box.counters().bans[0].bans.read(); }

    UnitParser parser{capture_unit_budget()};
    test::Box box{kBans};
    Instant now = test::kStart;
    std::mt19937 random{36};
    std::uniform_int_distribution<std::uint32_t> anywhere{200'000, 4'000'000'000U};
};

TEST_F(Strangers, BanNobodyWhoseConnectionIsKnown) {
    open();
    EXPECT_EQ(reason(client(kLogin)), "within_limits");
    EXPECT_EQ(reason(server("", 0, kLoginSize)), "unmatched");
    forge(2000);
    EXPECT_EQ(bans(), 0U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 0U);
    const std::string other = "GET /other HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(reason(client(other, kLoginSize)), "unmatched") << "it goes on";
    // The client itself has a ban for a second login.
    const auto behind = kLoginSize + static_cast<std::uint32_t>(other.size());
    EXPECT_EQ(reason(client(kLogin, behind)), "over_limit");
    EXPECT_EQ(bans(), 1U);
}

TEST_F(Strangers, BanNobodyWhoseConnectionIsFromBefore) {
    forge(1000);
    EXPECT_EQ(reason(server("", 50, 100)), "unmatched");
    forge(1000);
    EXPECT_EQ(bans(), 0U);
    EXPECT_EQ(box.counters(0).admitted.read(), 0U) << "nor charge anybody";
    EXPECT_EQ(reason(client(kLogin, 100, 50)), "within_limits");
}

TEST_F(Strangers, BanNobodyWhoHasNoConnection) {
    forge(2000);
    EXPECT_EQ(bans(), 0U);
    now += 5min;
    open();
    EXPECT_EQ(reason(client(kLogin)), "within_limits");
}

}  // namespace
}  // namespace sluice::service_strangers_test

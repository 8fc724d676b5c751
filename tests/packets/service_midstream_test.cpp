#include "lib/units/unit_parser.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Connections to an enforced service whose beginning nobody saw, and bytes that were forwarded and
// forgotten: what is read is in the order in which the server takes it.
namespace sluice::service_midstream_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::client;
using test::Frame;
using test::kAck;
using test::kClientIss;
using test::kLogin;
using test::kLoginSize;
using test::opened;
using test::server;
using test::syn;
using test::syn_ack;

constexpr std::string_view kEnforced =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: logins, mode: enforce, when: "
    "'http.request.uri.path eq \"/login\"', key: [ip.src], per: request, limits: [{algorithm: "
    "fixed_window, count: 1, window: 1h}]}\n";
constexpr Nanoseconds kHour{1h};
constexpr std::uint32_t kAt = 100;  // the server has acknowledged so many bytes
const std::string kFirst = kLogin.substr(0, 11);
const std::string kSecond = kLogin.substr(11);

// A segment of the client makes its server speak, and that says where it is.
std::vector<test::Step> found(std::vector<test::Step> steps) {
    steps.insert(steps.begin(), {{0ms, client(kLogin, kAt, 50), "pass", "unmatched"},
                                 {0ms, server("", 50, kAt), "pass", "unmatched"}});
    return steps;
}

const Case kCases[] = {
    {"a request is judged where its server is", kEnforced,
     found({{0ms, client(kLogin, kAt, 50), "pass", "within_limits"},
            {0ms, client(kLogin, kAt, 50), "pass", "unmatched"},
            {0ms, client(kLogin, kAt + kLoginSize, 50), "drop", "over_limit", "logins", kHour}})},

    {"halves backwards: the second comes again behind the first, and half a request ends it",
     kEnforced,
     found({{0ms, client(kSecond, kAt + 11, 50), "drop", "midstream"},
            {0ms, client(kFirst, kAt, 50), "reset", "midstream"}})},

    {"so does half a request behind others", kEnforced,
     found({{0ms, client(kLogin, kAt, 50), "pass", "within_limits"},
            {0ms, client(kFirst, kAt + kLoginSize, 50), "drop", "midstream"},
            {0ms, server("", 50, kAt + kLoginSize), "pass", "unmatched"},
            {0ms, client(kFirst, kAt + kLoginSize, 50), "reset", "midstream"}})},

    {"what lies ahead of it waits, and is charged in its place", kEnforced,
     found(
         {{0ms, client(kLogin, kAt + 3, 50), "drop", "midstream"},
          {0ms, client("abc" + kLogin, kAt, 50), "pass", "within_limits"},
          {0ms, client(kLogin, kAt + 3 + kLoginSize, 50), "drop", "over_limit", "logins", kHour}})},

    {"a body that was under way goes on, in order", kEnforced,
     found({{0ms, client("\x01 abc", kAt, 50), "pass", "unmatched"},
            {0ms, client("\x01 ghi", kAt + 10, 50), "drop", "midstream"},
            {0ms, client("\x01 def", kAt + 5, 50), "pass", "unmatched"},
            {0ms, client("\x01 ghi", kAt + 10, 50), "pass", "unmatched"},
            {0ms, client(kSecond, kAt + 26, 50), "drop", "midstream"},
            {0ms, client(kFirst, kAt + 15, 50), "drop", "midstream"},
            {0ms, client(kLogin, kAt + 15, 50), "pass", "within_limits"},
            {0ms, client(kSecond, kAt + 26 + kLoginSize, 50), "pass", "unmatched"}})},

    {"who knows no numbers is charged to nobody",
     kEnforced,
     {{0ms, client(kLogin, 700'000, 900'000), "pass", "unmatched"},
      {0ms, client(kLogin, 7'000'000, 9'000'000), "pass", "unmatched"},
      {0ms, server("", 50, kAt), "pass", "unmatched"},
      {0ms, client(kLogin, 700'000, 900'000), "drop", "midstream"},
      {0ms, client(kLogin, kAt, 50), "pass", "within_limits"}}},

    {"a lost segment comes again before those behind it are read", kEnforced,
     opened({{0ms, client(kSecond, 11), "pass", "unmatched"},
             {0ms, client(kFirst), "pass", "within_limits"}})},
};

class ServiceMidstream : public testing::TestWithParam<Case> {};

TEST_P(ServiceMidstream, Holds) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, ServiceMidstream, testing::ValuesIn(kCases));

TEST(ServiceMidstreamFrames, GoOnAsOldOnesUntilTheServerHasSpoken) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    Burst burst;
    burst.find_units_by(parser.finder());
    const test::Octets bytes = client(kLogin, kAt, 50).bytes();
    (void)burst.add({bytes, static_cast<std::uint32_t>(bytes.size())}, Direction::In,
                    port_name("lab"));
    box.run(burst, test::kStart);
    EXPECT_EQ(row_of(burst.packets()[0].decision.reason).name, "unmatched");
    ASSERT_TRUE(burst.normalizes());
    EXPECT_TRUE(burst.normalization(0).is_probe);
    EXPECT_EQ(parser.tracked().of(TrackEvent::Probed), 1U);
}

// A table whose connections and whose refusals others have crowded out.
class Forgotten : public testing::Test {
protected:
    static UnitBudget small() {
        UnitBudget budget = capture_unit_budget();
        budget.connections.connections = 2;
        return budget;
    }
    Forgotten() { box.find_units_by(parser.finder()); }
    std::string take(const Frame& frame, std::uint16_t port = 40'000) {
        Frame made = frame;
        made.dir() == Direction::In ? made.sport(port) : made.dport(port);
        return std::string{row_of(box.judge(made, now).reason).name};
    }
    void open(std::uint16_t port) {
        EXPECT_EQ(take(syn(), port), "unmatched");
        EXPECT_EQ(take(syn_ack(), port), "unmatched");
        EXPECT_EQ(take(client(""), port), "unmatched");
    }
    UnitParser parser{small()};
    test::Box box{kEnforced};
    Instant now = test::kStart;
};

// The line of a connection goes by its time, the tracker's stays.
TEST_F(Forgotten, BytesAheadThatWentOnAreNotForgottenWithTheirLine) {
    open(40'000);
    EXPECT_EQ(take(client(kSecond, 11)), "unmatched");
    for (int minute = 0; minute < 40; ++minute) {
        now += 1min;
        EXPECT_EQ(take(server("", 0, 0)), "unmatched") << "its server keeps it";
        EXPECT_EQ(take(client("", 0)), "unmatched");
    }
    EXPECT_EQ(take(client(kFirst)), "lost_head");
    EXPECT_EQ(take(client(kLogin)), "within_limits") << "all of it";
    EXPECT_GE(parser.service_connections().of(ConnectionEvent::AheadForgotten), 1U);
}

TEST_F(Forgotten, AQuietConnectionBeginsWhereItsServerIs) {
    open(40'000);
    EXPECT_EQ(take(client("GET /x HTTP/1.1\r\n\r\n")), "unmatched");
    EXPECT_EQ(take(server("", 0, 19)), "unmatched");
    for (int minute = 0; minute < 40; ++minute) {
        now += 1min;
        EXPECT_EQ(take(server("", 0, 19)), "unmatched");
    }
    EXPECT_EQ(take(client(kSecond, 19 + 11)), "unmatched") << "held: it is ahead";
    EXPECT_EQ(take(client(kFirst, 19)), "within_limits");
    EXPECT_EQ(take(client(kLogin, 19 + kLoginSize)), "over_limit");
}

}  // namespace
}  // namespace sluice::service_midstream_test

#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/answering_box.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Declared services: what their servers would not take is refused before any rule, and what they
// would serve is counted, whichever way it comes.
namespace sluice::service_streams_test {
namespace {

using namespace std::chrono_literals;
using test::bytes_of_text;
using test::Case;
using test::client;
using test::Frame;
using test::kAck;
using test::kClientIss;
using test::kFin;
using test::kLogin;
using test::kLoginSize;
using test::kRst;
using test::kServerIss;
using test::kSyn;
using test::kUrg;
using test::opened;
using test::server;
using test::Step;
using test::syn;
using test::syn_ack;

#define SERVICE(mode)                                                        \
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq " \
    "192.0.2.1 and l4.dport eq 80', mode: " mode                             \
    ", checksums: trust}\nrules:\n"                                          \
    "  - {id: logins, mode: enforce, when: 'http.request.uri.path eq "       \
    "\"/login\"', key: [ip.src], per: request, limits: [{algorithm: "        \
    "fixed_window, count: 1, window: 1h}]}\n"
constexpr std::string_view kEnforced = SERVICE("enforce");
constexpr std::string_view kMonitored = SERVICE("monitor");

constexpr std::uint32_t kHalf = 1U << 31;

const test::Octets kRecordRoute{std::byte{7}, std::byte{3}, std::byte{4}, std::byte{0}};
const test::Octets kLabel{std::byte{134}, std::byte{4}, std::byte{0}, std::byte{0}};
const test::Octets kRouterAlert{std::byte{148}, std::byte{4}, std::byte{0}, std::byte{0}};

const Case kCases[] = {
    {"a request is counted once, and its repetition passes", kEnforced,
     opened({{0ms, client(kLogin), "pass", "within_limits"},
             {0ms, client(kLogin), "pass", "unmatched"},
             {0ms, server("", 0, kLoginSize), "pass", "unmatched"},
             {0ms, client(kLogin, kLoginSize), "drop", "over_limit", "logins", Nanoseconds{1h}},
             {0ms, client(kLogin, kLoginSize), "drop", "retransmission"}})},

    {"the same ports and first number again are another connection, whose request counts",
     kEnforced,
     opened({{0ms, client(kLogin), "pass", "within_limits"},
             {0ms, server("", 0, kLoginSize), "pass", "unmatched"},
             {0ms, client("", kLoginSize).flags(kFin | kAck), "pass", "unmatched"},
             {0ms, server("", 0, kLoginSize + 1).flags(kFin | kAck), "pass", "unmatched"},
             {0ms, client("", kLoginSize + 1, 1), "pass", "unmatched"},
             {0ms, syn(), "pass", "unmatched"},
             {0ms, syn_ack(kServerIss + 90'000), "pass", "unmatched"},
             {0ms, client("", 0, 90'000), "pass", "unmatched"},
             {0ms, client(kLogin, 0, 90'000), "drop", "over_limit", "logins", Nanoseconds{1h}}})},

    {"a SYN, RST or FIN of another number does not make the box forget half a head", kEnforced,
     opened({{0ms, client("GET /login HTTP/1.1\r\n"), "pass", "unmatched"},
             {0ms, server("", 0, 21), "pass", "unmatched"},
             {0ms, syn(kClientIss + 77'000), "pass", "unmatched"},
             {0ms, client("", 900'000).flags(kRst), "drop", "rst_out_of_window"},
             {0ms, client("", 900'000).flags(kFin | kAck), "drop", "out_of_window"},
             {0ms, client("Host: a\r\n\r\n", 21), "pass", "within_limits"}})},

    {"a handshake is known for as long as its server repeats its answer, 63 s with Linux",
     kEnforced,
     {{0s, syn(), "pass", "unmatched"},
      {0s, syn_ack(), "pass", "unmatched"},
      {1s, syn_ack(), "pass", "unmatched"},
      {3s, syn_ack(), "pass", "unmatched"},
      {7s, syn_ack(), "pass", "unmatched"},
      {15s, syn_ack(), "pass", "unmatched"},
      {31s, syn_ack(), "pass", "unmatched"},
      {80s, client(""), "pass", "unmatched"},
      {80s, client(kLogin), "pass", "within_limits"},
      {80s, server("", 0, kLoginSize), "pass", "unmatched"},
      {80s, client(kLogin, kLoginSize), "drop", "over_limit", "logins", 3520s}}},

    {"a RST in the window that is not exact goes to the server, and ends nothing", kEnforced,
     opened({{0ms, client("", 10).flags(kRst), "pass", "unmatched"},
             {0ms, client(kLogin), "pass", "within_limits"}})},

    {"behind an exact RST nothing passes", kEnforced,
     opened({{0ms, client("").flags(kRst), "pass", "unmatched"},
             {0ms, client(kLogin), "drop", "behind_end"}})},

    {"behind a FIN is less than half of all numbers ahead of it, beyond that is out of the window",
     kEnforced,
     opened({{0ms, client(kLogin), "pass", "within_limits"},
             {0ms, client("", kLoginSize).flags(kFin | kAck), "pass", "unmatched"},
             {0ms, client("", kLoginSize + kHalf), "drop", "behind_end"},
             {0ms, client("", kLoginSize + kHalf + 1), "drop", "out_of_window"},
             {0ms, client("x", kLoginSize + kHalf - 2), "drop", "behind_end"},
             {0ms, client(kLogin, kLoginSize + kHalf - 10), "drop", "out_of_window"}})},

    {"a RST that its server may drop for its options ends nothing", kEnforced,
     opened({{0ms,
              client("").flags(kRst).options(
                  test::Octets{std::byte{7}, std::byte{32}, std::byte{4}, std::byte{0}}),
              "drop", "rst_out_of_window"},
             {0ms, client(kLogin), "pass", "within_limits"}})},

    {"a SYN with data is dropped, and opens nothing; without them it does",
     kEnforced,
     {{0ms, syn().carries(bytes_of_text(kLogin)), "drop", "bad_handshake"},
      {0ms, syn_ack(), "pass", "unmatched"},
      {1s, syn(), "pass", "unmatched"},
      {1s, syn_ack(), "pass", "unmatched"},
      {1s, client(kLogin), "pass", "within_limits"}}},

    {"a client's segments behind headers of IP for which hosts drop a packet are dropped",
     kEnforced,
     opened({{0ms, client(kLogin).options(kRecordRoute), "drop", "doubtful_options"},
             {0ms, client("").options(kRecordRoute), "drop", "doubtful_options"},
             {0ms, syn(9).options(kLabel), "drop", "doubtful_options"},
             {0ms, client(kLogin).options(kRouterAlert), "pass", "within_limits"},
             {0ms, server("", 0, kLoginSize).options(kRecordRoute), "pass", "unmatched"}})},

    {"bytes beyond the server's window are dropped, where it stands they count", kEnforced,
     opened({{0ms, client(kLogin, 65'535), "drop", "out_of_window"},
             {0ms, client(kLogin, 65'520), "drop", "out_of_window"},
             {0ms, client(kLogin), "pass", "within_limits"}})},

    {"data without ACK, or that acknowledges what was never sent, is dropped", kEnforced,
     opened({{0ms, client(kLogin).flags(0x08), "drop", "bad_ack"},
             {0ms, client(kLogin, 0, 1), "drop", "bad_ack"},
             {0ms, client(kLogin), "pass", "within_limits"}})},

    {"a fragment of TCP is refused", kEnforced,
     opened({{0ms, client(kLogin).frag(0, true), "drop", "tcp_fragment"}})},

    {"a SYN-ACK that nobody asked for",
     kEnforced,
     {{0ms, syn(), "pass", "unmatched"},
      {0ms, syn_ack(kServerIss, kClientIss + 5), "drop", "bad_handshake"}}},

    {"a request ahead of its handshake goes on as an old segment, which no server takes",
     kEnforced,
     {{0ms, syn(), "pass", "unmatched"},
      {0ms, client(kLogin), "pass", "unmatched"},
      {0ms, server("", 0, 0), "pass", "unmatched"},
      {0ms, client(kLogin), "pass", "within_limits"}}},

    {"a piece of an upload that is further ahead than what is held is sent again, and all goes on",
     kEnforced,
     opened({{0ms, client("POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
              "pass", "unmatched"},
             {0ms, client("1388\r\n", 58), "pass", "unmatched"},
             {0ms, client(std::string(40, 'x'), 58 + 20'000), "drop", "lost_head"},
             {0ms, client(std::string(5000, 'x') + "\r\n0\r\n\r\n", 64), "pass", "unmatched"},
             {0ms, client(kLogin, 64 + 5007), "pass", "within_limits"}})},

    {"an upload goes on after minutes of silence, and the request behind it counts", kEnforced,
     opened({{0ms, client("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"), "pass",
              "unmatched"},
             {5min, client(std::string(500, 'x'), 52), "pass", "unmatched"},
             {12min, client(std::string(500, 'x'), 552), "pass", "unmatched"},
             {12min, client(kLogin, 1052), "pass", "within_limits"}})},

    {"the rest of a head that its client has let wait is refused, and all that follows", kEnforced,
     opened({{0ms, client("GET /login HTTP/1.1\r\n"), "pass", "unmatched"},
             {5min, client("Host: a\r\n\r\n", 21), "drop", "lost_head"},
             {6min, client("Host: a\r\n\r\n", 21), "drop", "lost_head"}})},

    {"another head in the place of one that its client has let wait is refused too", kEnforced,
     opened({{0ms, client("GET /login HTTP/1.1\r\n"), "pass", "unmatched"},
             {61s, client("GET /other HTTP/1.1\r\nHost: a\r\n\r\n"), "drop", "lost_head"},
             {61s, client("GET /login HTTP/1.1\r\nHost: a\r\n\r\n"), "drop", "lost_head"}})},

    {"what is no HTTP is refused, and all that follows", kEnforced,
     opened({{0ms, client("\x16\x03\x01hello, I am no request\r\n\r\n"), "drop", "unreadable"},
             {0ms, client(kLogin, 30), "drop", "unreadable"}})},

    {"a service that monitors refuses nothing", kMonitored,
     opened({{0ms, client("\x16\x03\x01hello, I am no request\r\n\r\n"), "pass", "unmatched"},
             {0ms, client(kLogin).frag(0, true), "pass", "unmatched"},
             {0ms, client("", 900'000).flags(kRst), "pass", "unmatched"}})},
};

const std::string kIndex = "GET /index HTTP/1.1\r\nHost: a\r\n\r\n";

// A head of segments of so many bytes, each held until the last; `first`: those before them.
std::vector<Step> in_pieces(std::vector<Step> first, const std::string& head, std::size_t from,
                            std::span<const std::size_t> sizes) {
    std::size_t at = from;
    for (std::size_t i = 0; at < head.size(); ++i) {
        const std::string piece = head.substr(at, sizes[i % sizes.size()]);
        first.push_back({0ms, client(piece, static_cast<std::uint32_t>(at)), "pass", "unmatched"});
        at += piece.size();
    }
    return opened(first);
}

const std::string kManyLines = [] {
    std::string head = "GET /index HTTP/1.1\r\n";
    for (std::size_t i = 0; i < 15; ++i) {
        head += "X-Line-" + std::to_string(i) + ": " + std::string(i, 'x') + "\r\n";
    }
    return head + "\r\n";
}();

std::vector<Step> with(std::vector<Step> steps, const Step& last) {
    steps.push_back(last);
    return steps;
}

// A server may drop any segment that the box forwards: what it has of the others must not become
// another head by what comes as a repetition.
const Case kRepeats[] = {
    {"what a later segment left of a piece of a head is repeated by no other bytes", kEnforced,
     opened({{0ms, client(kIndex.substr(0, 26)), "pass", "unmatched"},
             {0ms, client(kLogin.substr(15), 15), "pass", "unmatched"},
             {0ms, client(kLogin.substr(0, 15)), "drop", "overlap"}})},

    {"nor what lies in a segment that came again together with the next", kEnforced,
     opened({{0ms, client(kLogin.substr(12, 8), 12), "pass", "unmatched"},
             {0ms, client(kIndex.substr(0, 12)), "pass", "unmatched"},
             {0ms, client(kIndex.substr(0, 20)), "pass", "unmatched"},
             {0ms, client(kLogin.substr(20), 20), "pass", "unmatched"},
             {0ms, client(kLogin.substr(0, 12)), "drop", "overlap"},
             {0ms, client(kIndex.substr(0, 12)), "pass", "unmatched"}})},

    {"nor the oldest segment in the middle of a head of many", kEnforced,
     with(in_pieces({{0ms, client(kIndex.substr(5, 5), 5), "pass", "unmatched"},
                     {0ms, client(kIndex.substr(0, 5)), "pass", "unmatched"}},
                    kManyLines, 10, std::vector<std::size_t>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
          {0ms, client("GET /login"), "drop", "overlap"})},

    {"nor the first of many segments of one size", kEnforced,
     with(in_pieces({}, kManyLines, 0, std::vector<std::size_t>{11}),
          {0ms, client("GET /login "), "drop", "overlap"})},

    {"a part of a segment is no other request, whole by itself", kEnforced,
     opened({{0ms, client(kManyLines), "pass", "unmatched"},
             {0ms, client(kLogin), "drop", "overlap"},
             {0ms, client(kLogin.substr(0, 20)), "drop", "overlap"},
             {0ms, client(kManyLines.substr(0, 30)), "pass", "unmatched"},
             {0ms, client(kManyLines.substr(17, 20), 17), "pass", "unmatched"},
             {0ms, client(kLogin, 17), "drop", "overlap"},
             {0ms, client(kManyLines.substr(30), 30), "pass", "unmatched"}})},

    {"the last byte of a head is no keep-alive until its server has acknowledged it", kEnforced,
     opened({{0ms, client(kIndex.substr(0, 31)), "pass", "unmatched"},
             {0ms, client("\n", 31), "pass", "unmatched"},
             {0ms, client("X", 31), "drop", "overlap"},
             {0ms, client("\n", 31), "pass", "unmatched"},
             {0ms, server("", 0, 32), "pass", "unmatched"},
             {0ms, client("X", 31), "pass", "unmatched"},
             {0ms, client(kLogin, 32), "pass", "within_limits"}})},

    {"nor is the byte with which a closed window was probed",
     kEnforced,
     {{0ms, syn(), "pass", "unmatched"},
      {0ms, syn_ack().window(31), "pass", "unmatched"},
      {0ms, client(""), "pass", "unmatched"},
      {0ms, client(kIndex.substr(0, 31)), "pass", "unmatched"},
      {0ms, server("", 0, 31).window(0), "pass", "unmatched"},
      {0ms, client("\n", 31), "pass", "unmatched"},
      {0ms, client("X", 31), "drop", "overlap"},
      {0ms, server("", 0, 31).window(100), "pass", "unmatched"},
      {0ms, client("X", 31), "drop", "overlap"},
      {0ms, client("\n", 31), "pass", "unmatched"}}},

    {"a head sent line by line, of which any is repeated as it was", kEnforced,
     [] {
         std::vector<Step> steps;
         for (int round = 0; round < 2; ++round) {
             for (std::size_t at = 0; at < kManyLines.size();) {
                 const std::size_t end = kManyLines.find('\n', at) + 1;
                 steps.push_back(
                     {0ms, client(kManyLines.substr(at, end - at), static_cast<std::uint32_t>(at)),
                      "pass", "unmatched"});
                 at = end;
             }
         }
         return opened(steps);
     }()},
};

class ServiceCase : public testing::TestWithParam<Case> {};

TEST_P(ServiceCase, Holds) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ServiceCase, testing::ValuesIn(kCases));
INSTANTIATE_TEST_SUITE_P(Repeats, ServiceCase, testing::ValuesIn(kRepeats));

// A query of DNS with this checksum, or with what makes it right.
test::Octets query(int off_by) {
    test::Octets message =
        bytes_of_text(std::string_view{"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01"
                                       "a\x00\x00\x01\x00\x01",
                                       19});
    test::Octets frame =
        test::udp().src("10.0.0.1").dst("192.0.2.1").sport(5000).dport(53).carries(message).bytes();
    constexpr std::size_t kUdpAt = 34;
    test::Octets covered{frame.begin() + 26, frame.begin() + kUdpAt};
    test::put16(covered, 17);
    test::put16(covered, static_cast<unsigned>(frame.size() - kUdpAt));
    covered.insert(covered.end(), frame.begin() + kUdpAt, frame.end());
    const int sum = test::checksum_of(covered, 0, covered.size()) + off_by;
    frame[kUdpAt + 6] = static_cast<std::byte>(sum >> 8 & 0xFF);
    frame[kUdpAt + 7] = static_cast<std::byte>(sum & 0xFF);
    return frame;
}

TEST(ServiceDatagram, WithAWrongChecksumIsNotReadAndNotCharged) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{
        "version: 1\nservices:\n  - {id: dns, protocol: dns, when: l4.dport eq 53, mode: enforce, "
        "checksums: verify}\nrules:\n  - {id: queries, mode: enforce, when: l4.dport eq 53, key: "
        "[ip.src], per: query, limits: [{algorithm: fixed_window, count: 1, window: 1h}]}\n"};
    box.find_units_by(parser.finder());
    const auto reason = [&](const test::Octets& frame) {
        return std::string{row_of(box.judge(frame, test::kStart).reason).name};
    };
    EXPECT_EQ(reason(query(1)), "wrong_checksum");
    EXPECT_EQ(reason(query(0)), "within_limits");
    EXPECT_EQ(reason(query(0)), "over_limit");
}

// The table has room for those that live.
TEST(ServiceReset, ByTheBoxEndsItsConnection) {
    UnitParser parser{capture_unit_budget()};
    AnswerBoards boards{256, 4096};
    AnsweredTraffic answered{64, boards};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    box.know_answered(answered);
    for (const Frame& frame : {syn(), syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    EXPECT_EQ(parser.tracked().established.read(), 1U);
    PacketHeaders headers;
    headers.port = port_name("lab");
    const test::Octets bytes = client("").bytes();
    parse_frame({bytes, static_cast<std::uint32_t>(bytes.size())}, {}, headers);
    const ConnectionEnds ends = connection_ends(headers, KeyHasher{test::kBoxSecret});
    answered.note_reset({.ends = ends, .seq = kClientIss + 500});
    box.idle(test::kStart);
    EXPECT_EQ(parser.tracked().established.read(), 1U) << "that is not the next number";
    answered.note_reset({.ends = ends, .seq = kClientIss + 1});
    box.idle(test::kStart);
    EXPECT_EQ(parser.tracked().established.read(), 0U);
    EXPECT_EQ(parser.tracked().of(TrackEvent::TtlRaised), 0U) << "no segment of a client's";
}

// A data sequence mapping of Multipath TCP (RFC 8684, 3.3) gives bytes another place.
const test::Octets kMpDss = [] {
    test::Octets option;
    for (const unsigned octet : {30U, 4U, 0x20U, 1U}) {
        test::put8(option, octet);
    }
    return option;
}();

// Normalised frames.
TEST(ServiceFrames, UrgentDataAndSmallTtlAreNormalised) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    for (const Frame& frame : {syn(), syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    Burst burst;
    burst.find_units_by(parser.finder());
    const test::Octets bytes = client(kLogin).flags(kAck | kUrg).tcp_options(kMpDss).ttl(3).bytes();
    (void)burst.add({bytes, static_cast<std::uint32_t>(bytes.size())}, Direction::In,
                    port_name("lab"));
    box.run(burst, test::kStart);
    EXPECT_EQ(row_of(burst.packets()[0].decision.reason).name, "within_limits");
    ASSERT_TRUE(burst.normalizes());
    EXPECT_TRUE(burst.normalization(0).clears_urgent);
    EXPECT_TRUE(burst.normalization(0).clears_options);
    EXPECT_EQ(burst.normalization(0).raises_to, 32);
    for (const TrackEvent event :
         {TrackEvent::UrgentCleared, TrackEvent::OptionsCleared, TrackEvent::TtlRaised}) {
        EXPECT_EQ(parser.tracked().of(event), 1U)
            << kTrackEvents[static_cast<std::size_t>(event)].name;
    }
}

// The TTL that a client's segment with this one leaves with, 0: as it came.
unsigned raised(std::uint8_t ttl, std::string_view min_ttl, std::uint64_t& counted) {
    std::string rules{kEnforced};
    rules.insert(rules.find("checksums"), "min_ttl: " + std::string{min_ttl} + ", ");
    UnitParser parser{capture_unit_budget()};
    test::Box box{rules};
    box.find_units_by(parser.finder());
    for (const Frame& frame : {syn(), syn_ack(), client("")}) {
        (void)box.judge(frame, test::kStart);
    }
    const std::uint64_t before = parser.tracked().of(TrackEvent::TtlRaised);
    Burst burst;
    burst.find_units_by(parser.finder());
    const test::Octets bytes = client(kLogin).ttl(ttl).bytes();
    (void)burst.add({bytes, static_cast<std::uint32_t>(bytes.size())}, Direction::In,
                    port_name("lab"));
    box.run(burst, test::kStart);
    counted = parser.tracked().of(TrackEvent::TtlRaised) - before;
    return burst.normalizes() ? burst.normalization(0).raises_to : 0;
}

TEST(ServiceFrames, TtlIsRaisedToWhatTheServiceSays) {
    struct Row {
        std::uint8_t ttl;
        std::string_view min_ttl;
        unsigned leaves;
    };
    for (const Row& row : {Row{1, "64", 64}, Row{63, "64", 64}, Row{64, "64", 0}, Row{63, "63", 0},
                           Row{1, "1", 0}, Row{1, "2", 2}, Row{254, "255", 255}}) {
        std::uint64_t counted = 0;
        EXPECT_EQ(raised(row.ttl, row.min_ttl, counted), row.leaves)
            << int{row.ttl} << " of " << row.min_ttl;
        EXPECT_EQ(counted, row.leaves == 0 ? 0U : 1U) << int{row.ttl} << " of " << row.min_ttl;
    }
}

// More extension headers than are followed may hide a segment to a service.
TEST(ServiceDepth, WhatIsNestedTooDeepIsRefusedWhereAServiceEnforces) {
    test::Octets many;
    for (int i = 0; i < 17; ++i) {
        for (const unsigned value : {60U, 0U, 1U, 4U, 0U, 0U, 0U, 0U}) {
            many.push_back(static_cast<std::byte>(value));
        }
    }
    const Frame deep = client(kLogin).src("2001:db8::1").dst("2001:db8::80").extensions(60, many);
    const auto file = [](std::string_view services) {
        return "version: 1\n" + std::string{services} + "rules: []\n";
    };
    const auto service = [&](std::string_view mode) {
        return file("services:\n  - {id: web, protocol: http, when: l4.dport eq 80, mode: " +
                    std::string{mode} + "}\n");
    };
    const PacketPolicy passes{.malformed = MalformedPolicy::Pass};
    const auto judged = [&](test::Box& box) {
        const Decision decision = box.judge(deep, test::kStart);
        return std::string{name_of(decision.verdict)} + " " +
               std::string{row_of(decision.reason).name};
    };
    const auto would_refuse = [](test::Box& box) {
        return box.counters().would_refuse[static_cast<std::size_t>(Reason::TooDeep)].read();
    };
    test::Box without{file(""), passes};
    EXPECT_EQ(judged(without), "pass too_deep");
    test::Box enforced{service("enforce"), passes};
    EXPECT_EQ(judged(enforced), "drop too_deep");
    EXPECT_EQ(would_refuse(enforced), 0U);
    test::Box monitored{service("monitor"), passes};
    EXPECT_EQ(judged(monitored), "pass too_deep");
    EXPECT_EQ(would_refuse(monitored), 1U);
    test::Box strict{service("monitor")};
    EXPECT_EQ(judged(strict), "drop too_deep");
    EXPECT_EQ(would_refuse(strict), 0U);
    // What contradicts itself no server takes.
    test::Octets cut = client(kLogin).bytes();
    cut.resize(20);
    EXPECT_EQ(row_of(enforced.judge(cut, test::kStart).reason).name, "truncated_l3");
    EXPECT_EQ(enforced.judge(cut, test::kStart).verdict, Verdict::Pass);
}

// A box whose service says `checksums: auto`.
class Checksums : public testing::Test {
protected:
    Checksums() {
        box.find_units_by(parser.finder());
        box.know_answered(answered);
    }
    std::string reason(const Frame& frame) {
        return std::string{row_of(box.judge(frame, now).reason).name};
    }
    // The first segments of 64 connections from other ports, whose sums are right.
    void learn() { learn_from("10.0.0.1"); }
    void learn_from(std::string_view source) {
        for (std::uint16_t port = 100; port < 164; ++port) {
            (void)reason(syn().src(source).sport(port).summed());
            (void)reason(syn_ack().dst(source).dport(port).summed());
            (void)reason(client("").src(source).sport(port).summed());
        }
    }
    // A connection of an adapter's client, of which the server acknowledges a byte.
    void take_unfinished(std::string_view source) {
        const auto here = [&](Frame frame) { return frame.src(source).sport(9).unfinished(); };
        const auto back = [&](Frame frame) { return frame.dst(source).dport(9).summed(); };
        EXPECT_EQ(reason(here(syn())), "unmatched");
        EXPECT_EQ(reason(back(syn_ack())), "unmatched");
        EXPECT_EQ(reason(here(client(""))), "unmatched");
        EXPECT_EQ(reason(here(client("G"))), "unmatched");
        EXPECT_EQ(reason(back(server("", 0, 1))), "unmatched");
    }
    void open() {
        EXPECT_EQ(reason(syn().summed()), "unmatched");
        EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
        EXPECT_EQ(reason(client("").summed()), "unmatched");
    }
    using State = ChecksumTrust;
    // The states as told of a service that is as it says.
    [[nodiscard]] ServiceChecksums told(sluice::Checksums policy = sluice::Checksums::Auto,
                                        Mode mode = Mode::Enforce) const {
        Service web;
        web.id = "web";
        web.mode = mode;
        web.checksums = policy;
        return parser.checksums_of(web);
    }
    [[nodiscard]] State of_clients() const { return told().clients; }
    [[nodiscard]] State of_servers() const { return told().servers; }

    UnitParser parser{capture_unit_budget()};
    AnswerBoards boards{256, 4096};
    AnsweredTraffic answered{64, boards};
    static std::string rules_in(std::string_view mode) {
        return "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 "
               "and l4.dport eq 80', mode: " +
               std::string{mode} +
               "}\nrules:\n  - {id: logins, mode: enforce, when: 'http.request.uri.path eq "
               "\"/login\"', key: [ip.src], per: request, "
               "limits: [{algorithm: fixed_window, count: 1, window: 1h}]}\n";
    }
    test::Box box{rules_in("enforce")};
    Instant now = test::kStart;
};

TEST_F(Checksums, AreVerifiedOnceEnoughCameRight) {
    EXPECT_EQ(reason(syn()), "unmatched") << "a wrong one, while nothing is known";
    EXPECT_EQ(of_clients(), State::Learning);
    learn();
    EXPECT_EQ(of_clients(), State::Verifying);
    EXPECT_EQ(of_servers(), State::Verifying);
    open();
    EXPECT_EQ(reason(client(kLogin).summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(client(kLogin).unfinished()), "wrong_checksum");
    EXPECT_EQ(reason(client(kLogin).summed()), "within_limits");
}

// Under a rule set that no packet has come under yet as well as behind its first.
TEST_F(Checksums, AreToldAsTheRuleSetInForceHasThem) {
    using Sums = sluice::Checksums;
    EXPECT_EQ(told(Sums::Auto).clients, State::Learning);
    EXPECT_EQ(told(Sums::Trust).clients, State::Off);
    EXPECT_EQ(told(Sums::Verify).servers, State::Verifying);
    learn();
    EXPECT_EQ(told(Sums::Auto).clients, State::Verifying);
    EXPECT_EQ(told(Sums::Trust).clients, State::Off);
    EXPECT_EQ(told(Sums::Trust).servers, State::Off);
    const auto load = [&](std::string_view policy) {
        std::string rules = rules_in("enforce");
        rules.insert(rules.find("}\nrules"), ", checksums: " + std::string{policy});
        ASSERT_TRUE(box.reload(rules));
    };
    load("trust");
    EXPECT_EQ(told(Sums::Trust).clients, State::Off);
    (void)reason(client("").sport(9).summed());
    EXPECT_EQ(told(Sums::Trust).clients, State::Off);
    EXPECT_EQ(told(Sums::Auto).clients, State::Learning) << "as it will begin anew";
    load("auto");
    EXPECT_EQ(told(Sums::Auto).clients, State::Learning);
    (void)reason(client("").sport(9).summed());
    EXPECT_EQ(told(Sums::Auto).clients, State::Learning);
    EXPECT_EQ(told(Sums::Verify).clients, State::Verifying);
}

// An acknowledgement without bytes that its server would not take completes no handshake, puts no
// connection in another one's place, and says nothing of what has arrived.
TEST_F(Checksums, OfAcknowledgementsAreVerifiedToo) {
    learn();
    EXPECT_EQ(reason(syn().summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").summed(1)), "wrong_checksum");
    const std::uint64_t began = parser.tracked().of(TrackEvent::Began);
    EXPECT_EQ(reason(client("").summed()), "unmatched");
    EXPECT_EQ(parser.tracked().of(TrackEvent::Began), began + 1);
    EXPECT_EQ(reason(client("").summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(server("answer").summed()), "unmatched");
    EXPECT_EQ(reason(client("", 0, 6).summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(client("", 0, 6).summed()), "unmatched");
    // Another connection of the same ports waits for its client.
    EXPECT_EQ(reason(syn(kClientIss + 70'000).summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack(kServerIss + 9000, kClientIss + 70'000).summed()), "unmatched");
    EXPECT_EQ(reason(client("", 70'000, 9000).summed(1)), "wrong_checksum");
    EXPECT_EQ(parser.tracked().of(TrackEvent::Replaced), 0U);
    EXPECT_EQ(reason(client("", 70'000, 9000).summed()), "unmatched");
    EXPECT_EQ(parser.tracked().of(TrackEvent::Replaced), 1U);
}

// Whatever an attacker sends: where sums are verified they stay so, and so it is from the start.
TEST_F(Checksums, WhoSendsUnfinishedSumsSwitchesNothingOff) {
    for (int i = 0; i < 5000; ++i) {
        (void)reason(client(kLogin).src("10.0.0.66").unfinished());
        (void)reason(syn().src("10.0.0.66").sport(static_cast<std::uint16_t>(i)).unfinished());
    }
    EXPECT_EQ(of_clients(), State::Learning);
    now += 120s;
    learn();
    EXPECT_EQ(of_clients(), State::Verifying);
    open();
    for (int i = 0; i < 5000; ++i) {
        EXPECT_EQ(reason(client(kLogin).unfinished()), "wrong_checksum");
        EXPECT_EQ(reason(syn(kClientIss + 7000).unfinished()), "unmatched");
    }
    EXPECT_EQ(of_clients(), State::Verifying);
    // A SYN of his that came right is answered: that proves nothing of its unfinished copy.
    EXPECT_EQ(reason(syn().sport(70).summed()), "unmatched");
    EXPECT_EQ(reason(syn().sport(70).unfinished()), "unmatched");
    EXPECT_EQ(reason(syn_ack().dport(70).summed()), "unmatched");
    EXPECT_EQ(of_clients(), State::Verifying);
    EXPECT_EQ(reason(client(kLogin).summed()), "within_limits");
    EXPECT_EQ(parser.tracked().of(TrackEvent::ChecksumsTrusted), 0U);
}

// An adapter behind the box finishes the sums of a client beside it: its server answers such a SYN,
// and takes what follows. Others' are verified all the same.
TEST_F(Checksums, OfAConnectionAreBelievedWhoseUnfinishedSynIsAnswered) {
    learn();
    EXPECT_EQ(reason(client("").unfinished()), "wrong_checksum");
    EXPECT_EQ(reason(syn().unfinished()), "unmatched");
    EXPECT_EQ(reason(client("").unfinished()), "wrong_checksum") << "nobody has answered it";
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").summed(1)), "wrong_checksum") << "unfinished is not wrong";
    EXPECT_EQ(reason(client("").unfinished()), "unmatched");
    EXPECT_EQ(reason(client(kLogin).unfinished()), "within_limits");
    EXPECT_EQ(reason(server("", 0, kLoginSize).summed()), "unmatched");
    EXPECT_EQ(reason(client("", kLoginSize).unfinished()), "unmatched");
    EXPECT_EQ(of_clients(), State::Verifying);
    EXPECT_EQ(parser.tracked().of(TrackEvent::ChecksumsTrusted), 0U);
    EXPECT_EQ(reason(syn().src("10.0.0.2").summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().dst("10.0.0.2").summed()), "unmatched");
    EXPECT_EQ(reason(client("").src("10.0.0.2").unfinished()), "wrong_checksum");
}

// What a server has taken of a source it takes of its other connections too, whatever is known of
// their SYNs.
TEST_F(Checksums, OfASourceAreBelievedOnceItsUnfinishedBytesAreTaken) {
    learn();
    EXPECT_EQ(reason(syn().summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").unfinished()), "wrong_checksum");
    take_unfinished("10.0.0.1");
    EXPECT_EQ(reason(client("").unfinished()), "unmatched");
    EXPECT_EQ(reason(client("").src("10.0.0.9").unfinished()), "wrong_checksum");
}

TEST_F(Checksums, AreTrustedOnceUnfinishedBytesOfEightSourcesAreTaken) {
    learn();
    for (const char* const source : {"10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4", "10.1.0.5",
                                     "10.1.0.6", "10.1.0.7", "10.1.0.7"}) {
        take_unfinished(source);
    }
    EXPECT_EQ(of_clients(), State::Verifying);
    take_unfinished("10.1.0.8");
    EXPECT_EQ(of_clients(), State::Trusting);
    EXPECT_EQ(of_servers(), State::Verifying);
    EXPECT_EQ(parser.tracked().of(TrackEvent::ChecksumsTrusted), 1U);
    open();
    EXPECT_EQ(reason(client(kLogin).unfinished()), "within_limits");
    learn();
    EXPECT_EQ(of_clients(), State::Trusting);
}

// The server may have taken the copy that came right.
TEST_F(Checksums, OfBytesThatCameRightTooProveNothing) {
    learn();
    const auto opens = [this] {
        EXPECT_EQ(reason(syn().unfinished()), "unmatched");
        EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
        EXPECT_EQ(reason(client("").unfinished()), "unmatched");
    };
    opens();
    EXPECT_EQ(reason(client("GET").unfinished()), "unmatched");
    EXPECT_EQ(reason(client("GET").summed()), "unmatched");
    EXPECT_EQ(reason(server("", 0, 3).summed()), "unmatched");
    EXPECT_EQ(reason(syn().sport(7).summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().dport(7).summed()), "unmatched");
    EXPECT_EQ(reason(client("").sport(7).unfinished()), "wrong_checksum");
}

// A tag of VID 0 is no other connection: the copy under it that comes right is the one answered.
TEST_F(Checksums, OfCopiesUnderAPriorityTagProveNothing) {
    learn();
    EXPECT_EQ(reason(syn().summed().vlan(0)), "unmatched");
    EXPECT_EQ(reason(syn().unfinished()), "unmatched");
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").unfinished()), "wrong_checksum");
    EXPECT_EQ(reason(client("").summed()), "unmatched");
    EXPECT_EQ(reason(client(kLogin).unfinished().vlan(0)), "wrong_checksum");
    EXPECT_EQ(reason(client(kLogin).summed()), "within_limits");
    EXPECT_EQ(of_clients(), State::Verifying);
}

// While nothing is verified nothing is dropped, and what is believed then goes on.
TEST_F(Checksums, OfAConnectionFromBeforeTheyAreVerifiedAreBelieved) {
    EXPECT_EQ(reason(syn().unfinished()), "unmatched");
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").unfinished()), "unmatched");
    learn_from("10.0.0.2");
    EXPECT_EQ(of_clients(), State::Verifying);
    EXPECT_EQ(reason(client(kLogin).unfinished()), "within_limits");
}

// What a monitored service has come to verify it verifies from the first frame that it enforces.
TEST_F(Checksums, ThatAreVerifiedInMonitorStaySoWhenTheServiceEnforces) {
    ASSERT_TRUE(box.reload(rules_in("monitor")));
    learn();
    EXPECT_EQ(of_clients(), State::Verifying);
    ASSERT_TRUE(box.reload(rules_in("enforce")));
    open();
    EXPECT_EQ(of_clients(), State::Verifying);
    EXPECT_EQ(of_servers(), State::Verifying);
    EXPECT_EQ(reason(client(kLogin).summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(client(kLogin).summed()), "within_limits");
}

TEST_F(Checksums, OfASourceThatWasBelievedInMonitorAreVerifiedWhenTheServiceEnforces) {
    ASSERT_TRUE(box.reload(rules_in("monitor")));
    learn();
    take_unfinished("10.0.0.1");
    EXPECT_EQ(of_clients(), State::Verifying);
    ASSERT_TRUE(box.reload(rules_in("enforce")));
    EXPECT_EQ(reason(syn().summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").unfinished()), "wrong_checksum");
}

// Anybody can make the proof of offloads where nothing is refused: it counts for nothing then.
TEST_F(Checksums, ThatAreTrustedInMonitorAreLearntAnewWhenTheServiceEnforces) {
    ASSERT_TRUE(box.reload(rules_in("monitor")));
    learn();
    for (int source = 1; source <= 8; ++source) {
        take_unfinished("10.1.0." + std::to_string(source));
    }
    EXPECT_EQ(told(sluice::Checksums::Auto, Mode::Monitor).clients, State::Trusting);
    ASSERT_TRUE(box.reload(rules_in("enforce")));
    EXPECT_EQ(of_clients(), State::Learning);
    EXPECT_EQ(of_servers(), State::Verifying);
    (void)reason(syn().sport(9).summed());
    EXPECT_EQ(of_clients(), State::Learning);
    EXPECT_EQ(of_servers(), State::Verifying);
    learn();
    EXPECT_EQ(of_clients(), State::Verifying);
}

TEST_F(Checksums, OfServersCountWhereStateFollowsFromThem) {
    learn();
    EXPECT_EQ(reason(syn().summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(syn_ack().summed()), "unmatched");
    EXPECT_EQ(reason(client("").summed()), "unmatched");
    EXPECT_EQ(reason(server("").flags(kRst).summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(server("").flags(kFin | kAck).summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(client(kLogin).summed()), "within_limits");
    EXPECT_EQ(reason(server("", 0, kLoginSize).summed(1)), "wrong_checksum");
    EXPECT_EQ(reason(server("", 0, kLoginSize).unfinished()), "wrong_checksum");
    EXPECT_EQ(reason(server("", 0, kLoginSize).summed()), "unmatched");
    EXPECT_EQ(reason(server("HTTP/1.1 200 OK\r\n\r\n", 0, kLoginSize).summed(1)), "unmatched")
        << "a server's bytes are not looked at";
}

TEST_F(Checksums, OfServersAreTrustedOnceAClientAnswersAnUnfinishedSynAck) {
    learn();
    EXPECT_EQ(reason(syn().summed()), "unmatched");
    EXPECT_EQ(reason(syn_ack().unfinished()), "unmatched");
    EXPECT_EQ(of_servers(), State::Verifying);
    EXPECT_EQ(reason(client("").summed()), "unmatched");
    EXPECT_EQ(of_servers(), State::Trusting);
    EXPECT_EQ(of_clients(), State::Verifying);
    EXPECT_EQ(reason(server("", 0, 0).unfinished()), "unmatched");
}

// Connections that nobody knows, behind the grace.
class MidstreamOf : public testing::Test {
protected:
    static std::string rules(std::string_view midstream) {
        return "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 "
               "and l4.dport eq 80', mode: enforce, checksums: trust, midstream: " +
               std::string{midstream} + "}\nrules: []\n";
    }
    using Lines = std::vector<std::string>;
    Lines take(const Frame& frame, Nanoseconds at = 61s) {
        return box.take(frame, frame.dir(), test::kStart + at);
    }
    test::AnsweringBox box{rules("reset")};
};

TEST_F(MidstreamOf, AResettingServiceIsResetAtTheNumberThatItsServerAcknowledges) {
    const Lines kDropped{"drop midstream"};
    EXPECT_EQ(take(client(kLogin, 100, 50), 0s), kDropped) << "there is no grace";
    EXPECT_EQ(take(client(kLogin, 100, 50)), kDropped);
    EXPECT_EQ(take(client("", 100, 50)), Lines{"pass unmatched"});
    EXPECT_EQ(take(server("", 50, 100)), Lines{"pass unmatched"});
    EXPECT_EQ(take(client(kLogin, 101, 50)), kDropped);
    EXPECT_EQ(take(client(kLogin, 99, 50)), kDropped);
    EXPECT_EQ(take(client(kLogin, 100, 900'000)), kDropped) << "its server has sent no such byte";
    // Each end gets its RST at the very number that it expects: 5001 + 50, and 1001 + 100.
    EXPECT_EQ(take(client(kLogin, 100, 50)),
              (Lines{"< RA 5051:1133", "> RA 1101:5051", "reset midstream"}));
    EXPECT_EQ(box.count(AnswerEvent::Reset), 1U);
}

TEST_F(MidstreamOf, ABlindSendersSegmentsResetNothing) {
    EXPECT_EQ(take(client(kLogin, 100, 50)), Lines{"drop midstream"});
    EXPECT_EQ(take(server("", 50, 100)), Lines{"pass unmatched"});
    std::uint32_t number = 1;
    for (int i = 0; i < 5000; ++i) {
        number = number * 1'664'525U + 1'013'904'223U;
        EXPECT_EQ(take(client(kLogin, number, number ^ 0x5A5A'5A5AU)), Lines{"drop midstream"});
    }
    EXPECT_EQ(box.count(AnswerEvent::Reset), 0U);
}

TEST_F(MidstreamOf, AnInspectingServiceIsReset) {
    test::AnsweringBox inspecting{rules("inspect")};
    const auto take_there = [&](const Frame& frame, Nanoseconds at) {
        return inspecting.take(frame, frame.dir(), test::kStart + at);
    };
    EXPECT_EQ(take_there(syn().sport(7), 0s), Lines{"pass unmatched"}) << "the grace begins";
    EXPECT_EQ(take_there(client("\x01 no request", 200, 50), 62s), Lines{"drop midstream"});
    EXPECT_EQ(take_there(server("", 50, 200), 62s), Lines{"pass unmatched"});
    EXPECT_EQ(take_there(client("\x01 no request", 200, 50), 62s),
              (Lines{"< RA 5051:1213", "> RA 1201:5051", "reset midstream"}));
}

}  // namespace
}  // namespace sluice::service_streams_test
#undef SERVICE

#include "lib/l7/stream/unit_parser.hpp"
#include "tests/guarded_memory.hpp"
#include "tests/packets/service_dialogue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

// An upload in chunks to an enforced service whose box is killed and started again: whatever order
// its segments come in, and whatever was lost, what the server lacks reaches it, and the request
// behind the body is counted.
namespace sluice::restart_cases_test {
namespace {

using namespace std::chrono_literals;
using test::client;
using test::Frame;
using test::GuardedMemory;
using test::kLogin;
using test::kLoginSize;
using test::server;

constexpr std::string_view kBoth =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: logins, mode: enforce, when: "
    "'http.request.uri.path eq \"/login\"', key: [ip.src], per: request, limits: [{algorithm: "
    "fixed_window, count: 1, window: 1h}]}\n";
constexpr std::string_view kOneWay =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust, path: inbound}\nrules:\n  - {id: logins, mode: "
    "enforce, when: 'http.request.uri.path eq \"/login\"', key: [ip.src], per: request, limits: "
    "[{algorithm: fixed_window, count: 1, window: 1h}]}\n";

// The head, then pieces of 107 bytes each, then the end of the body.
const std::string kHead = "POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kPiece = "64\r\n" + std::string(100, 'a') + "\r\n";
const std::string kEnd = "0\r\n\r\n";

std::uint32_t place(std::uint32_t number) {
    return static_cast<std::uint32_t>(kHead.size() + number * kPiece.size());
}
Frame piece(std::uint32_t number) {
    return client(kPiece, place(number));
}
// The server has so many pieces.
Frame has(std::uint32_t pieces) {
    return server("", 0, place(pieces));
}

struct Step {
    Nanoseconds at;
    Frame in;
    std::string_view verdict;
    std::string_view reason;
    bool is_probe = false;
};
constexpr Nanoseconds kBefore{100ms};  // the kill
constexpr std::string_view kPass = "pass";
constexpr std::string_view kDrop = "drop";
constexpr std::string_view kUnmatched = "unmatched";
constexpr bool kProbe = true;

// Then the end of the body behind so many pieces, and two logins of which one is allowed.
std::vector<Step> to_the_end(std::vector<Step> steps, std::uint32_t next, Nanoseconds at) {
    const std::uint32_t end = place(next) + static_cast<std::uint32_t>(kEnd.size());
    steps.push_back({at, client(kEnd, place(next)), kPass, kUnmatched});
    steps.push_back({at, client(kLogin, end), kPass, "within_limits"});
    steps.push_back({at, client(kLogin, end + kLoginSize), kDrop, "over_limit"});
    return steps;
}

struct Row {
    std::string_view name;
    std::string_view rules;
    std::vector<Step> after;
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
}

// The server has piece 0 when the box is killed, which has read piece 1 too.
const Row kRows[] = {
    {"several segments ahead first, the oldest last", kBoth,
     to_the_end({{0ms, piece(4), kPass, kUnmatched, kProbe},
                 {0ms, piece(3), kPass, kUnmatched, kProbe},
                 {5ms, piece(2), kPass, kUnmatched},
                 {5ms, piece(1), kPass, kUnmatched},
                 {6ms, piece(3), kPass, kUnmatched},
                 {6ms, piece(4), kPass, kUnmatched}},
                5, 7ms)},

    {"the same long behind the start, and the server says what it lacks", kBoth,
     to_the_end({{5s, piece(4), kPass, kUnmatched, kProbe},
                 {5s, has(1), kPass, kUnmatched},
                 {5s, piece(3), kPass, kUnmatched},
                 {5s, piece(4), kPass, kUnmatched},
                 {6s, piece(1), kPass, kUnmatched},
                 {6s, piece(2), kPass, kUnmatched}},
                5, 7s)},

    {"the oldest is one that was read, and the next one is lost before the box", kBoth,
     to_the_end({{2s, piece(1), kPass, kUnmatched},
                 {2s, has(2), kPass, kUnmatched},
                 {3s, piece(3), kPass, kUnmatched},
                 {3s, has(2), kPass, kUnmatched},
                 {3s, piece(2), kPass, kUnmatched},
                 {3s, has(4), kPass, kUnmatched}},
                4, 4s)},

    {"the oldest is lost behind the box", kBoth,
     to_the_end({{2s, piece(1), kPass, kUnmatched},
                 {2s, piece(2), kPass, kUnmatched},
                 {2s, has(1), kPass, kUnmatched},
                 {3s, piece(3), kPass, kUnmatched},
                 {3s, piece(1), kPass, kUnmatched},
                 {3s, piece(2), kPass, kUnmatched},
                 {3s, has(4), kPass, kUnmatched}},
                4, 4s)},

    {"the server's acknowledgement first", kBoth,
     to_the_end({{2s, has(1), kPass, kUnmatched},
                 {2s, piece(3), kPass, kUnmatched},
                 {2s, piece(2), kPass, kUnmatched},
                 {2s, piece(1), kPass, kUnmatched}},
                4, 3s)},

    {"bytes passed where no box was: the server says so, and a request there is judged",
     kBoth,
     {{2s, has(4), kPass, kUnmatched},
      {2s, client(kLogin, place(5)), kDrop, "midstream"},
      {2s, client(kLogin, place(4)), kPass, "within_limits"},
      {2s, client(kLogin, place(4) + kLoginSize), kDrop, "over_limit"}}},

    {"the same, and the client speaks first",
     kBoth,
     {{2s, client(kLogin, place(4)), kPass, kUnmatched, kProbe},
      {2s, has(4), kPass, kUnmatched},
      {2s, client(kLogin, place(4)), kPass, "within_limits"},
      {2s, client(kLogin, place(4) + kLoginSize), kDrop, "over_limit"}}},

    {"the same, and the server is never heard of: what is sent again is the oldest",
     kBoth,
     {{2s, client(kLogin, place(5)), kPass, kUnmatched, kProbe},
      {2s, client(kLogin, place(4)), kPass, kUnmatched, kProbe},
      {2400ms, client(kLogin, place(4)), kPass, kUnmatched, kProbe},
      {3200ms, client(kLogin, place(5)), kPass, kUnmatched, kProbe},
      {3300ms, client(kLogin, place(4)), kPass, "within_limits"},
      {3300ms, client(kLogin, place(4) + kLoginSize), kDrop, "over_limit"},
      {3300ms, piece(3), kDrop, "midstream"}}},

    {"one way nobody is asked: the oldest last", kOneWay,
     to_the_end({{2s, piece(4), kDrop, "lost_head"},
                 {3s, piece(3), kDrop, "lost_head"},
                 {3500ms, piece(4), kDrop, "lost_head"},
                 {4s, piece(2), kPass, kUnmatched},
                 {4s, piece(4), kPass, kUnmatched},
                 {4s, piece(3), kPass, kUnmatched}},
                5, 5s)},

    {"one way, and bytes passed where no box was",
     kOneWay,
     {{2s, client(kLogin, place(4)), kDrop, "lost_head"},
      {2500ms, client(kLogin, place(4)), kDrop, "lost_head"},
      {3500ms, client(kLogin, place(4)), kPass, "within_limits"},
      {3500ms, client(kLogin, place(4) + kLoginSize), kDrop, "over_limit"}}},
};

class OverAKill : public testing::TestWithParam<Row> {
protected:
    OverAKill() { start(test::kStart - kBefore); }
    // The next process, over what the last one has left.
    void start(Instant now) {
        burst_.find_units_by(UnitFinder{});
        parser_ = std::make_unique<UnitParser>(capture_unit_budget(),
                                               KeptMemory{memory_.base(), kept_, 4096});
        parser_->take_over(now);
        burst_.find_units_by(parser_->finder());
    }
    void expect(const Step& step) {
        burst_.clear();
        const test::Octets bytes = step.in.bytes();
        (void)burst_.add({bytes, static_cast<std::uint32_t>(bytes.size())}, step.in.dir(),
                         port_name("lab"));
        box_.run(burst_, test::kStart + step.at);
        const Decision got = burst_.packets()[0].decision;
        EXPECT_EQ(name_of(got.verdict), step.verdict);
        EXPECT_EQ(row_of(got.reason).name, step.reason);
        EXPECT_EQ(burst_.normalizes() && burst_.normalization(0).is_probe, step.is_probe);
    }
    std::uint64_t kept_ = UnitParser::kept_of(capture_unit_budget());
    GuardedMemory memory_{kept_};
    test::Box box_{GetParam().rules};
    Burst burst_;
    std::unique_ptr<UnitParser> parser_;
};

TEST_P(OverAKill, TheUploadEndsAndWhatFollowsIsCounted) {
    for (const Frame& frame :
         {test::syn(), test::syn_ack(), client(""), client(kHead), piece(0), has(1), piece(1)}) {
        expect({-kBefore, frame, kPass, kUnmatched});
    }
    start(test::kStart);
    int number = 0;
    for (const Step& step : GetParam().after) {
        SCOPED_TRACE("step " + std::to_string(number++));
        expect(step);
    }
}
INSTANTIATE_TEST_SUITE_P(All, OverAKill, testing::ValuesIn(kRows));

}  // namespace
}  // namespace sluice::restart_cases_test

#include "lib/engine/stage/trace_burst.hpp"

#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::trace_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::tcp;
using test::udp;

constexpr Instant kStart{1h};
constexpr const char* kRules = R"(version: 1
rules:
  - id: names
    mode: enforce
    when: l4.dport eq 53
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]
  - {id: watched, mode: monitor, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
)";

LoadedRules condition(const std::string& when) {
    CompiledRules rules = test::enforced(
        {.file = "c",
         .text = "version: 1\nrules:\n  - {id: trace, on_match: allow, when: '" + when + "'}\n"});
    Result<LoadedRules> made =
        LoadedRules::make(std::move(rules.set), {.origins = OriginTable::LeftOut});
    SLUICE_CHECK(made);
    return *std::move(made);
}

// What a trace has of a burst: "SPORT VERDICT RULE matched COUNT".
class Traced {
public:
    Traced(Box& box, TraceTerms terms, const std::string& when = "")
        : box_{box},
          trace_{std::move(terms), when.empty() ? std::nullopt : std::optional{condition(when)},
                 1} {}

    void run(Burst& burst, Instant at = kStart) {
        box_.run(burst, at);
        note(burst, at);
    }
    void note(Burst& burst, Instant at, bool judged = true) {
        trace_burst(trace_, 0,
                    {.burst = burst,
                     .set = box_.set(),
                     .rule = rule_called(trace_.terms().rule, box_.set()),
                     .evaluated = judged,
                     .now = {at, {}}});
    }
    std::vector<TraceRecord> records() {
        std::vector<TraceRecord> all;
        trace_.tap(0).ring().drain([&](const TraceRecord& record) { all.push_back(record); });
        return all;
    }
    std::vector<std::string> lines() {
        std::vector<std::string> all;
        for (const TraceRecord& record : records()) {
            const std::uint32_t rule = record.decision.rule;
            all.push_back(std::to_string(record.headers.sport) + " " +
                          std::string{name_of(record.decision.verdict)} + " " +
                          (rule == kNoRule ? "-" : box_.set().rules[rule].id) + " matched " +
                          std::to_string(record.matched_count));
        }
        return all;
    }
    // Whether waits would be worked out for the burst, whose rules have matched.
    [[nodiscard]] bool may_note(Burst& burst, Instant at = kStart) {
        return may_trace(trace_, 0, burst, rule_called(trace_.terms().rule, box_.set()), at);
    }
    [[nodiscard]] std::uint64_t left_out() const { return trace_.left_out(); }

private:
    Box& box_;
    Trace trace_;
};
using Lines = std::vector<std::string>;

// Two of one source to port 53, of which the second is dropped, and one to port 9.
std::vector<std::vector<std::byte>> three() {
    return {udp().src("10.0.0.1").sport(1).dport(53).bytes(),
            udp().src("10.0.0.1").sport(2).dport(53).bytes(),
            udp().src("10.0.0.2").sport(3).dport(9).bytes()};
}

Lines traced(TraceTerms terms, const std::string& when = "") {
    Box box{kRules};
    Traced traced{box, std::move(terms), when};
    Burst burst;
    const auto frames = three();
    test::fill(burst, frames);
    traced.run(burst);
    return traced.lines();
}

TEST(Trace, ShowsWhatItIsAbout) {
    const std::string first = "1 pass - matched 2";
    const std::string second = "2 drop names matched 2";
    const std::string third = "3 pass - matched 1";
    EXPECT_EQ(traced({}), (Lines{first, second, third}));
    EXPECT_EQ(traced({.refused = true}), (Lines{second}));
    EXPECT_EQ(traced({.rule = "names"}), (Lines{first, second}));
    EXPECT_EQ(traced({.rule = "names", .refused = true}), (Lines{second}));
    EXPECT_EQ(traced({.rule = "watched", .refused = true}), (Lines{}));
    EXPECT_EQ(traced({.rule = "nobody"}), (Lines{}));
    EXPECT_EQ(traced({}, "l4.dport eq 9"), (Lines{third}));
    EXPECT_EQ(traced({}, "ip.src eq 10.0.0.1 and l4.sport eq 2"), (Lines{second}));
    EXPECT_EQ(traced({.refused = true}, "l4.dport eq 9"), (Lines{}));
    EXPECT_EQ(traced({}, "payload contains \"nowhere\""), (Lines{}));
}

TEST(Trace, IsAboutBurstsAloneThatItMayShow) {
    Box box{kRules};
    const auto frames = three();
    const auto may_note = [&](TraceTerms terms, const std::string& when = "") {
        Traced traced{box, std::move(terms), when};
        Burst burst;
        test::fill(burst, frames);
        traced.run(burst);
        return traced.may_note(burst);
    };
    EXPECT_TRUE(may_note({}));
    EXPECT_TRUE(may_note({.rule = "names"}));
    EXPECT_TRUE(may_note({.refused = true}, "l4.dport eq 9"));
    EXPECT_FALSE(may_note({.rule = "nobody"}));
    EXPECT_FALSE(may_note({}, "l4.dport eq 10"));
    EXPECT_FALSE(may_note({.rule = "names"}, "l4.dport eq 9"));
}

TEST(Trace, IsAboutNoBurstThatItHasNoRoomFor) {
    Box box{kRules};
    Traced traced{box, {}};
    const auto frames = three();
    Burst burst;
    test::fill(burst, frames);
    traced.run(burst);
    for (int i = 0; i < 40; ++i) {
        traced.note(burst, kStart);
    }
    EXPECT_NE(traced.left_out(), 0U);
    EXPECT_FALSE(traced.may_note(burst));
    EXPECT_TRUE(traced.may_note(burst, kStart + 1s)) << "another tenth of a second";
}

TEST(Trace, ARecordHasTheKeyAndTheFirstBytes) {
    Box box{kRules};
    Traced traced{box, {.refused = true, .snap = 20}};
    Burst burst;
    const auto frames = three();
    test::fill(burst, frames);
    traced.run(burst);
    const std::vector<TraceRecord> records = traced.records();
    ASSERT_EQ(records.size(), 1U);
    const TraceRecord& record = records[0];
    EXPECT_EQ(text_of_key(std::span{record.key}.first(record.key_size),
                          [](std::uint64_t) { return std::string{}; }),
              "10.0.0.1");
    EXPECT_EQ(record.kept, 20);
    EXPECT_TRUE(std::equal(frames[1].begin(), frames[1].begin() + 20, record.frame.begin()));
    EXPECT_EQ(record.wire_size, frames[1].size());
    EXPECT_EQ(record.decision.reason, Reason::OverLimit);
    EXPECT_EQ(record.decision.wait, Nanoseconds{1s});
    EXPECT_EQ(record.utc, kStart.time_since_epoch());
    EXPECT_EQ(record.load, box.set().load);
    EXPECT_EQ(record.headers.unit, nullptr);
}

// A service follows its connections by what clients send.
std::string monitored_rules() {
    return "version: 1\nservices:\n"
           "  - {id: names, protocol: dns, when: l4.dport eq 53, checksums: trust}\n"
           "  - {id: web, protocol: http, when: l4.dport eq 80, checksums: trust, path: inbound}\n"
           "rules: []\n";
}

TEST(Trace, TellsWhatAServiceInMonitorWouldRefuse) {
    const auto segment = [](const std::string& text, std::uint32_t seq) {
        const ByteView bytes = bytes_of(text);
        return tcp().sport(4000).dport(80).seq(seq).ack(1).carries({bytes.begin(), bytes.end()});
    };
    const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const auto behind = 1 + static_cast<std::uint32_t>(request.size());
    const std::vector<test::Frame> frames{segment("", 0).flags(0x02).ack(0),
                                          segment(request, 1).flags(0x10),
                                          segment("no request at all\r\n\r\n", behind).flags(0x10),
                                          segment("without ACK", behind).flags(0)};
    for (const bool alone : {false, true}) {
        Box box{monitored_rules()};
        UnitParser parser{capture_unit_budget()};
        Traced traced{box, {.would_refuse = alone}};
        for (const test::Frame& frame : frames) {
            Burst burst;
            burst.find_units_by(parser.finder());
            const std::vector<test::Octets> one{frame.bytes()};
            test::fill(burst, one);
            traced.run(burst);
        }
        std::vector<Reason> reasons;
        for (const TraceRecord& record : traced.records()) {
            EXPECT_EQ(record.service, 1U);
            EXPECT_TRUE(forwards(record.decision.verdict));
            if (record.would_refuse) {
                reasons.push_back(*record.would_refuse);
            } else {
                EXPECT_FALSE(alone);
            }
        }
        EXPECT_EQ(reasons, (std::vector<Reason>{Reason::Unreadable, Reason::BadAck}));
    }
}

TEST(Trace, ServicesThatNoPacketIsOfAreNotNamed) {
    Box box{monitored_rules()};
    UnitParser parser{capture_unit_budget()};
    Traced traced{box, {}};
    Burst burst;
    burst.find_units_by(parser.finder());
    const std::vector<test::Octets> one{tcp().dport(81).flags(0x02).bytes()};
    test::fill(burst, one);
    traced.run(burst);
    const std::vector<TraceRecord> records = traced.records();
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].service, kOfNoService);
    EXPECT_EQ(records[0].would_refuse, std::nullopt);
}

TEST(Trace, WhatIsMalformedMatchesNoConditionAndIsShownWithoutOne) {
    Box box{kRules};
    auto cut = udp().dport(53).bytes();
    cut.resize(30);
    const std::vector<std::vector<std::byte>> frames{cut};
    for (const std::string when : {"", "ip.proto eq 17"}) {
        Traced traced{box, {}, when};
        Burst burst;
        test::fill(burst, frames);
        traced.run(burst);
        EXPECT_EQ(traced.records().size(), when.empty() ? 1U : 0U);
    }
}

TEST(Trace, WhatIsForwardedUnreadIsShownWithoutRules) {
    Box box{kRules};
    Traced traced{box, {}, "l4.dport eq 53"};
    Burst burst;
    const auto frames = three();
    test::fill(burst, frames);
    box.run(burst, kStart);
    for (Packet& packet : burst.packets()) {
        packet.decision = {.reason = Reason::Panic};
    }
    traced.note(burst, kStart, false);
    EXPECT_EQ(traced.lines(), (Lines{"1 pass - matched 0", "2 pass - matched 0"}));
}

// Any unit of a packet satisfies the condition, as with rules.
TEST(Trace, TheSecondRequestOfAPacketToo) {
    Box box{
        "version: 1\nrules:\n  - {id: web, mode: enforce, key: [http.host], per: request, "
        "limits: [{algorithm: token_bucket, rate: 1/s, burst: 9}]}\n"};
    UnitParser parser{capture_unit_budget()};
    const auto get = [](const std::string& host) {
        return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    };
    const std::string text = get("a.example") + get("b.example");
    const ByteView bytes = bytes_of(text);
    for (const std::string host : {"a", "b", "c"}) {
        Traced traced{box, {}, "http.host eq \"" + host + ".example\""};
        Burst burst;
        burst.find_units_by(parser.finder());
        const auto sport = static_cast<std::uint16_t>(1000 + host[0]);
        const test::Frame both =
            tcp().sport(sport).dport(80).seq(1).carries({bytes.begin(), bytes.end()});
        const std::vector<test::Octets> opening{both.opening().bytes()};
        test::fill(burst, opening);
        traced.run(burst);
        burst.clear();
        const std::vector<test::Octets> requests{both.bytes()};
        test::fill(burst, requests);
        traced.run(burst);
        ASSERT_NE(burst.units(), nullptr);
        ASSERT_EQ(burst.units()->count(0), 2U);
        EXPECT_EQ(traced.records().size(), host == "c" ? 0U : 1U) << host;
    }
}

TEST(Trace, AWorkerShowsSoManyASecondAndCountsTheRest) {
    Box box{kRules};
    Traced traced{box, {}};
    Burst burst;
    const std::vector<std::vector<std::byte>> frames(50, udp().dport(9).bytes());
    std::size_t shown = 0;
    std::size_t sent = 0;
    for (int tick = 0; tick < 100; ++tick) {
        test::fill(burst, frames);
        traced.run(burst, kStart + tick * 10ms);
        sent += burst.size();
        shown += traced.records().size();
    }
    EXPECT_EQ(shown, TraceTap::kMostPerSecond);
    EXPECT_EQ(traced.left_out(), sent - shown);
}

TEST(Trace, AReaderThatStandsStillLosesWhatIsNewest) {
    Box box{kRules};
    Traced traced{box, {}};
    Burst burst;
    const std::vector<std::vector<std::byte>> frames(50, udp().dport(9).bytes());
    for (int tick = 0; tick < 10; ++tick) {
        test::fill(burst, frames);
        traced.run(burst, kStart + tick * 1s);
    }
    EXPECT_EQ(traced.records().size(), TraceTap::kRingSize);
    EXPECT_EQ(traced.left_out(), 10 * burst.size() - TraceTap::kRingSize);
}

}  // namespace
}  // namespace sluice::trace_test

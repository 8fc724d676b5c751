#include "tests/packets/unit_lines.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Packets of several units: which rules match which unit, what counts what, one verdict, and all
// charges or none.
namespace sluice::units_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::kStart;
using test::lines;
using test::udp;
using test::UnitBox;

#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
// Limits by name: what counts requests, queries and packets, two of them or one in a second.
#define LIMITS \
    "version: 1\nlimits:\n"                 \
    "  request-2: " TOKENS("1/s", "2") "\n" \
    "  request-1: " TOKENS("1/s", "1") "\n" \
    "  query-1: " TOKENS("1/s", "1") "\n"   \
    "  packet-2: " TOKENS("1/s", "2") "\n"  \
    "  packet-1: " TOKENS("1/s", "1") "\n"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"

const Case kCases[] = {
    {"each unit meets the rules that its own text matches, in whichever unit it stands",
     LIMITS "rules:\n" RULE("a", "when: 'payload eq \"/a\"', key: [], limits: [request-1]")
         RULE("b", "when: 'payload eq \"/b\"', key: [], limits: [request-1]"),
     {{0ms, lines("R /A"), "pass", "within_limits"},
      {0ms, lines("R /x\nR /B"), "pass", "within_limits"},
      {0ms, lines("R /x\nR /b"), "drop", "over_limit", "b", 1000ms},
      {0ms, lines("R /x\nr /a\nR /y"), "drop", "over_limit", "a", 1000ms},
      {0ms, lines("R /x\nR /y"), "pass", "unmatched"},
      {1000ms, lines("R /a\nR /b"), "pass", "within_limits"}}},

    {"a text of a unit is in its key",
     LIMITS "rules:\n" RULE("each", "key: [payload], limits: [request-1]"),
     {{0ms, lines("R /a\nR /b\nR /c"), "pass", "within_limits"},
      {0ms, lines("R /d\nR /b"), "drop", "over_limit", "each", 1000ms},
      {0ms, lines("R /d"), "pass", "within_limits"}}},

    {"a bucket has room for some of the units: the packet is refused and nothing is spent",
     LIMITS "rules:\n" RULE("few", "key: [ip.src], limits: [request-2]"),
     {{0ms, lines("R /a\nR /b\nR /c"), "drop", "over_limit", "few", kNever},
      {0ms, lines("R /a\nR /b"), "pass", "within_limits"},
      {0ms, lines("R /a"), "drop", "over_limit", "few", 1000ms},
      {1000ms, lines("R /a\nR /b"), "drop", "over_limit", "few", 1000ms},
      {1000ms, lines("R /a"), "pass", "within_limits"},
      {3000ms, lines("R /a\nR /b"), "pass", "within_limits"}}},

    {"the strictest of two units decides, whichever comes first",
     LIMITS "rules:\n" RULE("tags",
                            "when: 'payload eq \"/t\"', key: [], limits: [request-1], on_exceed: "
                            "{action: tag, dscp: 8}")
         RULE("drops", "when: 'payload eq \"/d\"', key: [], limits: [request-1]"),
     {{0ms, lines("R /t\nR /d"), "pass", "within_limits"},
      {0ms, lines("R /t"), "tag", "over_limit", "tags"},
      {0ms, lines("R /t\nR /d"), "drop", "over_limit", "drops", 1000ms},
      {0ms, lines("R /d\nR /t"), "drop", "over_limit", "drops", 1000ms},
      {0ms, lines("R /x\nR /t"), "tag", "over_limit", "tags"}}},

    {"of equal verdicts the first rule in the file decides",
     LIMITS "rules:\n" RULE("first", "when: 'payload eq \"/1\"', key: [], limits: [request-1]")
         RULE("second", "when: 'payload eq \"/2\"', key: [], limits: [request-1]"),
     {{0ms, lines("R /1\nR /2"), "pass", "within_limits"},
      {0ms, lines("R /2\nR /1"), "drop", "over_limit", "first", 1000ms},
      {0ms, lines("R /1\nR /2"), "drop", "over_limit", "first", 1000ms}}},

    {"a limit of packets counts a packet of three units once",
     LIMITS "rules:\n" RULE("packets", "key: [], limits: [packet-2]")
         RULE("each", "key: [payload], limits: [request-2]"),
     {{0ms, lines("R /a\nR /b\nR /c"), "pass", "within_limits"},
      {0ms, lines("R /a\nQ b"), "pass", "within_limits"},
      {0ms, lines("R /a\nR /b"), "drop", "over_limit", "packets", 1000ms}}},

    {"it counts it in the first unit that the rule matches, by that unit's key",
     LIMITS "rules:\n" RULE("packets",
                            "when: 'starts_with(payload, \"/k\")', key: [payload], limits: "
                            "[packet-1]"),
     {{0ms, lines("R /x\nR /k1\nR /k2"), "pass", "within_limits"},
      {0ms, lines("R /k2"), "pass", "within_limits"},
      {0ms, lines("R /k1"), "drop", "over_limit", "packets", 1000ms}}},

    {"a limit counts units of its own kind, and judges no packet without one",
     LIMITS "rules:\n" RULE("requests", "key: [], limits: [request-2]")
         RULE("queries", "key: [], limits: [query-1]"),
     {{0ms, lines("Q a\nR /a"), "pass", "within_limits"},
      {0ms, lines("R /a"), "pass", "within_limits"},
      {0ms, lines("R /a\nH a"), "drop", "over_limit", "requests", 1000ms},
      {0ms, lines("H a\nQ a"), "drop", "over_limit", "queries", 1000ms},
      {0ms, lines("H a"), "pass", "unmatched"},
      {0ms, udp().dport(53), "pass", "unmatched"}}},

    {"limits of packets and of requests stand side by side in one rule",
     LIMITS "rules:\n" RULE("both", "key: [], limits: [packet-2, request-2]"),
     {{0ms, lines("R /a"), "pass", "within_limits"},
      {0ms, lines("R /a\nR /b"), "drop", "over_limit", "both", 1000ms},
      {0ms, lines("R /a"), "pass", "within_limits"},
      {0ms, udp().dport(53), "drop", "over_limit", "both", 1000ms}}},

    {"one unit is allowed, another one denied: the packet is dropped",
     LIMITS "rules:\n" RULE("good", "when: 'payload eq \"/good\"', on_match: allow")
         RULE("bad", "when: 'payload eq \"/bad\"', on_match: drop")
             RULE("few", "key: [], limits: [request-1]"),
     {{0ms, lines("R /good\nR /bad"), "drop", "deny_rule", "bad"},
      {0ms, lines("R /good\nR /good"), "pass", "allow_rule", "good"},
      {0ms, lines("R /good\nR /x"), "pass", "allow_rule", "good"},
      {0ms, lines("R /x\nR /good"), "drop", "over_limit", "few", 1000ms}}},

    {"a budget is charged unit by unit, and only if the packet goes on",
     LIMITS "bypass: [{when: 'starts_with(payload, \"/b\")', key: [], limit: request-2}]\n"
            "rules:\n" RULE("bad", "when: 'payload eq \"/bad\"', on_match: drop")
                RULE("few", "key: [], limits: [request-1]"),
     {{0ms, lines("R /b1\nR /b2\nR /b3"), "pass", "bypass", "bypass.1"},
      {0ms, lines("R /b1"), "drop", "over_limit", "few", 1000ms},
      {2000ms, lines("R /b1\nR /b2\nR /b3\nR /bad"), "drop", "deny_rule", "bad"},
      {2000ms, lines("R /b1\nR /b2"), "pass", "bypass", "bypass.1"}}},

    {"a budget of packets has room for all units of a packet that it counts",
     LIMITS "bypass: [{when: 'starts_with(payload, \"/b\")', key: [], limit: packet-1}]\n"
            "rules:\n" RULE("none", "on_match: drop"),
     {{0ms, lines("R /b1\nR /b2\nR /b3"), "pass", "bypass", "bypass.1"},
      {0ms, lines("R /b1\nR /b2"), "drop", "deny_rule", "none"},
      {1000ms, lines("R /x\nR /b2"), "drop", "deny_rule", "none"},
      {1000ms, lines("R /b1\nR /b2"), "pass", "bypass", "bypass.1"}}},

    {"a unit that is decided on sight counts for no limit of packets, the next one does",
     LIMITS "rules:\n" RULE("good", "when: 'payload eq \"/good\"', on_match: allow")
         RULE("packets", "key: [], limits: [packet-1]"),
     {{0ms, lines("R /good\nR /x\nR /y"), "pass", "allow_rule", "good"},
      {0ms, lines("R /good"), "pass", "allow_rule", "good"},
      {0ms, lines("R /good\nR /x"), "drop", "over_limit", "packets", 1000ms}}},

    {"a rule that monitors neither decides nor spends for a packet of which it refused a unit",
     LIMITS "rules:\n  - {id: watch, mode: monitor, key: [], limits: [request-2]}\n" RULE(
         "drops", "when: 'payload eq \"/d\"', on_match: drop"),
     {{0ms, lines("R /a\nR /b\nR /c"), "pass", "unmatched"},
      {0ms, lines("R /a\nR /d"), "drop", "deny_rule", "drops"},
      {0ms, lines("R /a\nR /b"), "pass", "unmatched"}}},

    {"rejected_spend empties for the units of a packet that is refused",
     LIMITS "rules:\n" RULE("empties", "key: [], limits: [request-2], rejected_spend: true")
         RULE("bad", "when: 'payload eq \"/bad\"', key: [], limits: [request-1]"),
     {{0ms, lines("R /a\nR /b\nR /c"), "drop", "over_limit", "empties", kNever},
      {0ms, lines("R /a"), "drop", "over_limit", "empties", 1000ms},
      {2000ms, lines("R /bad"), "pass", "within_limits"},
      {2000ms, lines("R /bad"), "drop", "over_limit", "bad", 1000ms},
      {2000ms, lines("R /x"), "drop", "over_limit", "empties", 1000ms}}},

    {"a ban begins with a unit and meets the next ones of the same packet",
     LIMITS "rules:\n" RULE("few",
                            "key: [ip.src], limits: [request-1], ban: {after: 2, within: 10s, for: "
                            "5s}"),
     {{0ms, lines("R /a"), "pass", "within_limits"},
      {0ms, lines("R /a\nR /b\nR /c"), "drop", "over_limit", "few", kNever},
      {4000ms, lines("R /a\nR /b"), "drop", "banned", "few", 1000ms},
      {5000ms, lines("R /a"), "pass", "within_limits"}}},

    {"a sliding window and a log see the units before",
     "version: 1\nlimits:\n  request-w: {algorithm: sliding_window, count: 3, window: 1s}\n"
     "  request-l: {algorithm: sliding_log, count: 2, window: 1s}\n"
     "  request-c: {algorithm: sliding_counters, count: 2, window: 1s, buckets: 10}\n"
     "  request-f: {algorithm: fixed_window, count: 2, window: 1s}\n"
     "rules:\n" RULE("w", "when: 'starts_with(payload, \"/w\")', key: [], limits: [request-w]")
         RULE("l", "when: 'starts_with(payload, \"/l\")', key: [payload], limits: [request-l]")
             RULE("c", "when: 'starts_with(payload, \"/c\")', key: [], limits: [request-c]")
                 RULE("f", "when: 'starts_with(payload, \"/f\")', key: [], limits: [request-f]"),
     {{0ms, lines("R /w\nR /w\nR /w\nR /w"), "drop", "over_limit", "w", kNever},
      {0ms, lines("R /w\nR /w\nR /w"), "pass", "within_limits"},
      {0ms, lines("R /l\nR /l\nR /l2\nR /l2"), "pass", "within_limits"},
      {500ms, lines("R /l3\nR /l\nR /l"), "drop", "over_limit", "l", 500ms},
      {500ms, lines("R /l3\nR /l3"), "pass", "within_limits"},
      {500ms, lines("R /c\nR /c\nR /c"), "drop", "over_limit", "c", kNever},
      {500ms, lines("R /c\nR /c"), "pass", "within_limits"},
      {500ms, lines("R /f\nR /f\nR /f"), "drop", "over_limit", "f", kNever},
      {500ms, lines("R /f\nR /f"), "pass", "within_limits"},
      {500ms, lines("R /x\nR /f"), "drop", "over_limit", "f", 500ms}}},

    {"a colour meter charges each unit by the colour that the ones before leave",
     "version: 1\nlimits:\n  request-s: {algorithm: srtcm, cir: 1/s, cbs: 1, ebs: 1}\n"
     "rules:\n" RULE("colors",
                     "key: [], limits: [request-s], on_color: {yellow: {action: tag, dscp: 8}}"),
     {{0ms, lines("R /a\nR /b\nR /c"), "drop", "over_limit", "colors", 1000ms},
      {0ms, lines("R /a"), "pass", "within_limits"},
      {1000ms, lines("R /a\nR /b"), "tag", "within_limits", "colors"},
      {1000ms, lines("R /a"), "drop", "over_limit", "colors", 1000ms}}},

    {"units of a key that lacks a part are skipped one by one",
     LIMITS "rules:\n" RULE("ports", "key: [tcp.flags], limits: [request-1]")
         RULE("rest", "key: [], limits: [request-2]"),
     {{0ms, lines("R /a\nR /b"), "pass", "within_limits"},
      {0ms, lines("R /a\nR /b"), "drop", "over_limit", "rest", 2000ms}}},
};

class UnitsCase : public testing::TestWithParam<Case> {};

TEST_P(UnitsCase, Holds) {
    UnitBox box{GetParam().rules};
    test::expect_steps(box, GetParam());
    EXPECT_GT(box.seen(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, UnitsCase, testing::ValuesIn(kCases));

std::vector<std::vector<std::byte>> frames(std::initializer_list<test::Frame> of) {
    std::vector<std::vector<std::byte>> all;
    for (const test::Frame& frame : of) {
        all.push_back(frame.bytes());
    }
    return all;
}

// A rule counts each unit that one of its limits judges, and a packet at least once, as skipped if
// it carries nothing that they count; on_match each unit that it decides.
TEST(Units, CountsWhatRulesJudge) {
    UnitBox box{LIMITS "rules:\n" RULE("bad", "when: 'payload eq \"/bad\"', on_match: drop") RULE(
        "packets", "key: [], limits: [packet-2]") RULE("requests", "key: [], limits: [request-2]")
                    RULE("queries", "key: [], limits: [query-1]")
                        RULE("skips", "key: [tcp.flags], limits: [request-1]")};
    (void)box.judge(lines("R /a\nR /b\nR /bad\nR /bad\nR /c").bytes(), kStart);
    const auto counted = [&](std::size_t rule) {
        const RuleCounters& counters = box.counters(rule);
        return std::array{counters.admitted.read(), counters.exceeded.read(),
                          counters.skipped.read()};
    };
    using Counts = std::array<std::uint64_t, 3>;
    EXPECT_EQ(counted(0), (Counts{0, 2, 0}));
    EXPECT_EQ(counted(1), (Counts{0, 0, 1})) << "it had room, and the packet did not go on";
    EXPECT_EQ(counted(2), (Counts{0, 3, 0})) << "it refuses the packet for its third request";
    EXPECT_EQ(counted(3), (Counts{0, 0, 1}));
    EXPECT_EQ(counted(4), (Counts{0, 0, 3}));
    EXPECT_EQ(box.counters().by_verdict[static_cast<std::size_t>(Verdict::Drop)].read(), 0U);
}

// Packets with no, one and several units, and what each spends the next one sees.
TEST(Units, OfABurstAreDecidedInArrivalOrder) {
    UnitBox box{LIMITS "rules:\n" RULE("all", "key: [], limits: [packet-2]")
                    RULE("each", "key: [payload], limits: [request-1]")};
    const std::vector<Decision> got = box.judge_burst(
        frames({lines("R /a\nR /b"), udp().dport(53), lines("R /a\nR /c"), lines("R /c")}), kStart);
    EXPECT_EQ(got[0].verdict, Verdict::Pass);
    EXPECT_EQ(got[1].verdict, Verdict::Pass);
    EXPECT_EQ(got[2].verdict, Verdict::Drop);
    EXPECT_EQ(box.rule_name(got[2]), "all");
    EXPECT_EQ(got[3].verdict, Verdict::Drop);
    const std::vector<Decision> later = box.judge_burst(
        frames({lines("R /d\nR /b"), lines("R /d\nR /e"), lines("R /e")}), kStart + 2s);
    EXPECT_EQ(later[0].verdict, Verdict::Pass);
    EXPECT_EQ(later[1].verdict, Verdict::Drop);
    EXPECT_EQ(box.rule_name(later[1]), "each");
    EXPECT_EQ(later[2].verdict, Verdict::Pass);
}

std::string crowd_of(std::size_t units) {
    std::string crowd;
    for (std::size_t unit = 0; unit < units; ++unit) {
        crowd += "R /a\n";
    }
    return crowd;
}

// So many packets of so many units each, all different.
struct Crowds {
    std::size_t packets;
    std::size_t units;
};
std::vector<std::vector<std::byte>> frames_of(const std::vector<Crowds>& crowds) {
    std::vector<std::vector<std::byte>> all;
    for (const Crowds& crowd : crowds) {
        for (std::size_t packet = 0; packet < crowd.packets; ++packet) {
            std::string text;
            for (std::size_t unit = 0; unit < crowd.units; ++unit) {
                text += "R /" + std::to_string(all.size()) + '-' + std::to_string(unit) + '\n';
            }
            all.push_back(lines(text).bytes());
        }
    }
    return all;
}

// Every packet of a full burst has room for 16 units at once, and for kUnitShare beside one that
// has the most.
TEST(Units, OfAFullBurstAllHaveRoom) {
    for (const std::vector<Crowds>& crowds :
         {std::vector<Crowds>{{kMaxBurst, 16}},
          std::vector<Crowds>{{1, kMaxUnits}, {kMaxBurst - 1, kUnitShare}},
          std::vector<Crowds>{{kMaxBurst - 1, kUnitShare}, {1, kMaxUnits}},
          std::vector<Crowds>{{4, 60}, {3, 3}, {25, 1}}}) {
        UnitBox box{LIMITS "rules:\n" RULE("each", "key: [payload], limits: [request-1]")};
        const std::vector<std::vector<std::byte>> all = frames_of(crowds);
        ASSERT_EQ(all.size(), kMaxBurst);
        std::size_t units = 0;
        for (const Crowds& crowd : crowds) {
            units += crowd.packets * crowd.units;
        }
        for (const Decision& decision : box.judge_burst(all, kStart)) {
            EXPECT_EQ(decision.reason, Reason::WithinLimits);
        }
        EXPECT_EQ(box.counters(0).admitted.read(), units);
        for (const Decision& decision : box.judge_burst(all, kStart)) {
            EXPECT_EQ(decision.reason, Reason::OverLimit);
        }
    }
}

// Crowds that have no room beside others leave everybody else his.
TEST(Units, CrowdedOutTakeNobodysRoom) {
    UnitBox box{LIMITS "rules:\n" RULE("each", "key: [payload], limits: [request-1]")};
    const std::vector<std::vector<std::byte>> all =
        frames_of({{3, kMaxUnits}, {kMaxBurst - 3, kUnitShare}});
    const std::vector<Decision> got = box.judge_burst(all, kStart);
    for (std::size_t row = 0; row < got.size(); ++row) {
        EXPECT_EQ(got[row].reason, row == 1 || row == 2 ? Reason::Unmatched : Reason::WithinLimits)
            << row;
    }
    EXPECT_EQ(box.counters(0).admitted.read(), kMaxUnits + (kMaxBurst - 3) * kUnitShare);
}

// Without a service nothing is refused because it could not be read: such a packet is judged as one
// without units, by all rules, and the packets beside it are judged as ever.
TEST(Units, BeyondTheBoundLeaveAPacketWithout) {
    UnitBox box{LIMITS "rules:\n" RULE("few", "key: [], limits: [request-2]")};
    const std::string crowd = crowd_of(kMaxUnits + 1);
    const std::string long_text(TextArena::kPerPacket + 1, 'A');
    const std::string fits(TextArena::kPerPacket - 10, 'A');
    const std::vector<Decision> got =
        box.judge_burst(frames({lines(crowd), lines("R " + long_text), lines("R " + fits),
                                lines("R /a\nR " + long_text), lines("R /a"), lines("R /b")}),
                        kStart);
    const Reason reasons[] = {Reason::Unmatched, Reason::Unmatched,    Reason::WithinLimits,
                              Reason::Unmatched, Reason::WithinLimits, Reason::OverLimit};
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].reason, reasons[i]) << i;
    }
    EXPECT_EQ(box.counters(0).admitted.read(), 2U);
    EXPECT_EQ(
        box.counters().by_unit_event[static_cast<std::size_t>(UnitEvent::TooManyUnits)].read(), 3U);
}

TEST(Units, BeyondTheBoundThePacketItselfIsJudged) {
    UnitBox box{LIMITS "rules:\n" RULE("few", "key: [], limits: [request-2]")
                    RULE("one", "when: 'l4.sport eq 9', key: [], limits: [packet-1]")};
    const std::string crowd = crowd_of(2 * kMaxUnits);
    EXPECT_EQ(box.judge(lines(crowd).sport(9).bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(lines(crowd).sport(9).bytes(), kStart).reason, Reason::OverLimit);
    EXPECT_EQ(box.judge(lines("R /a\nR /b").bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(lines("R /c").bytes(), kStart).reason, Reason::OverLimit);
}

// A rule that only watches makes the box drop nothing, nor keeps a packet from those that act.
TEST(Units, BeyondTheBoundAreNoFaultWhereOnlyMonitorRulesAsk) {
    const std::string watched = LIMITS
        "rules:\n"
        "  - {id: watch, mode: monitor, key: [payload], limits: [request-2]}\n"
        "  - {id: see, mode: monitor, when: 'payload eq \"/a\"', on_match: drop}\n";
    UnitBox monitored{watched};
    EXPECT_EQ(monitored.judge(lines(crowd_of(kMaxUnits + 1)).bytes(), kStart).verdict,
              Verdict::Pass);
    UnitBox beside{watched + RULE("two", "key: [ip.src], limits: [packet-2]")};
    EXPECT_EQ(beside.judge(lines(crowd_of(kMaxUnits + 1)).bytes(), kStart).reason,
              Reason::WithinLimits);
    EXPECT_EQ(beside.counters(2).admitted.read(), 1U);
}

// Texts of a burst before are gone, and rows that stood for units stand for packets again.
TEST(Units, AreForgottenWithTheirBurst) {
    UnitBox box{LIMITS "rules:\n" RULE("a", "when: 'payload eq \"/a\"', on_match: drop")};
    EXPECT_EQ(box.judge(lines("R /x\nR /a").bytes(), kStart).verdict, Verdict::Drop);
    EXPECT_EQ(box.judge(lines("R /x\nR /y").bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(lines("R /a").bytes(), kStart).verdict, Verdict::Drop);
    EXPECT_EQ(box.judge(udp().dport(53).bytes(), kStart).verdict, Verdict::Pass);
}

// Keys that find no place are charged to one bucket in their stead, one unit after the other.
TEST(Units, SeeEachOtherInAWiderKey) {
    UnitBox box{"version: 1\nlimits:\n  request-1: " TOKENS("1/s", "1") "\nrules:\n" RULE(
                    "fill",
                    "when: 'l4.dport eq 53', key: [l4.sport], on_full: open, limits: "
                    "[{algorithm: token_bucket, rate: 1/d, burst: 1}]")
                    RULE("each",
                         "when: 'l4.dport eq 7777', key: [payload], limits: [request-1], on_full: "
                         "{coarsen: {factor: 2}}"),
                BucketStore{64, 64}};
    for (std::uint16_t port = 1; port < 2000; ++port) {
        (void)box.judge(udp().dport(53).sport(port).bytes(), kStart);
    }
    EXPECT_EQ(box.judge(lines("R /a\nR /b\nR /c").bytes(), kStart).verdict, Verdict::Drop);
    EXPECT_EQ(box.judge(lines("R /a\nR /b").bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(lines("R /c").bytes(), kStart).verdict, Verdict::Drop);
    EXPECT_GT(box.counted(TableEvent::CoarsenedToRule), 0U);
}

}  // namespace
}  // namespace sluice::units_cases_test

#undef TOKENS
#undef LIMITS
#undef RULE

#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

// What the counters of a rule count: packets that its limits judge, each unit of several; what it
// has nothing to say of, it has skipped.
namespace sluice::rule_counters_test {
namespace {

using test::Frame;

struct Counted {
    std::uint64_t admitted = 0;
    std::uint64_t exceeded = 0;
    std::uint64_t skipped = 0;
    std::uint64_t exempted = 0;

    bool operator==(const Counted&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Counted& counted) {
    return out << counted.admitted << " admitted, " << counted.exceeded << " exceeded, "
               << counted.skipped << " skipped, " << counted.exempted << " exempted";
}

Frame opens(std::uint16_t sport) {
    return test::tcp().src("10.0.0.1").sport(sport).dport(80).seq(999).flags(0x02);
}
Frame carries(std::string_view text, std::uint16_t sport = 1) {
    return test::tcp()
        .src("10.0.0.1")
        .sport(sport)
        .dport(80)
        .seq(1000)
        .carries(test::message_octets(std::string{text}));
}
// Each connection begins with a SYN, which no rule counts but where it stands among the frames.
void judge(test::Box& box, const std::vector<Frame>& frames) {
    test::Openings openings;
    for (const Frame& frame : frames) {
        if (openings.needs(frame)) {
            box.open(frame, test::kStart);
        }
        (void)box.judge(frame.bytes(), test::kStart);
    }
}
const std::string kRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

struct Row {
    std::string_view name;
    std::string_view rule;
    std::vector<Frame> frames;
    Counted counted;
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
}

#define LIMIT(per, burst) "{algorithm: token_bucket, rate: 1/d, burst: " burst ", per: " per "}"

const Row kRows[] = {
    {"every packet counts",
     "key: [ip.src], limits: [" LIMIT("packet", "2") "]",
     {opens(1), carries("x"), carries(kRequest, 2), test::udp().src("10.0.0.1")},
     {.admitted = 2, .exceeded = 2}},
    {"a packet without the key is skipped",
     "key: [l4.dport], limits: [" LIMIT("packet", "9") "]",
     {test::udp().dport(1), test::udp().frag(8, false)},
     {.admitted = 1, .skipped = 1}},
    {"a limit over connections has nothing to say of what opens none",
     "key: [ip.src], limits: [" LIMIT("connection", "1") "]",
     {opens(1), carries("x"), opens(2), test::udp().src("10.0.0.1")},
     {.admitted = 1, .exceeded = 1, .skipped = 2}},
    {"nor one over requests of what completes none",
     "key: [ip.src], limits: [" LIMIT("request", "1") "]",
     {opens(1), carries("GET / HTTP/1.1\r\n"), carries(kRequest, 2), carries("x", 3),
      carries(kRequest, 4)},
     {.admitted = 1, .exceeded = 1, .skipped = 3}},
    {"each request of a packet is counted",
     "key: [ip.src], limits: [" LIMIT("request", "9") "]",
     {carries(kRequest + kRequest + kRequest)},
     {.admitted = 3}},
    {"one limit that counts the packet is enough",
     "key: [ip.src], limits: [" LIMIT("request", "1") ", " LIMIT("packet", "2") "]",
     {carries("x"), carries(kRequest, 2), carries("y", 3)},
     {.admitted = 2, .exceeded = 1}},
    {"a ban is of all packets",
     "key: [ip.src], ban: {after: 1, within: 1h, for: 1h}, limits: [" LIMIT("connection", "1") "]",
     {carries("x"), opens(2), opens(3), carries("y", 4)},
     {.admitted = 1, .exceeded = 2, .skipped = 1}},
    {"and so is an exemption",
     "key: [ip.src], overrides: {inline: [{key: [10.0.0.1], exempt: true}]}, "
     "limits: [" LIMIT("connection", "1") "]",
     {carries("x"), opens(2), opens(3), test::udp().src("10.0.0.2")},
     {.admitted = 3, .skipped = 1, .exempted = 3}},
};

class RuleCounted : public testing::TestWithParam<Row> {
protected:
    // Of the last rule.
    static Counted count(const std::string& rules) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{rules};
        box.find_units_by(parser.finder());
        judge(box, GetParam().frames);
        const RuleCounters& counters = box.counters(box.set().rules.size() - 1);
        return {counters.admitted.read(), counters.exceeded.read(), counters.skipped.read(),
                counters.exempted.read()};
    }
    static std::string rules() {
        return "rules:\n  - {id: r, mode: enforce, " + std::string{GetParam().rule} + "}\n";
    }
};

TEST_P(RuleCounted, ByTheFastPath) {
    EXPECT_EQ(count("version: 1\n" + rules()), GetParam().counted);
}

// A budget that matches and counts nothing leaves each packet to the general path.
TEST_P(RuleCounted, ByTheGeneralPath) {
    EXPECT_EQ(count("version: 1\nbypass: [{when: ip.version eq 4, key: [], limit: " LIMIT(
                        "query", "1") "}]\n" +
                    rules()),
              GetParam().counted);
}

INSTANTIATE_TEST_SUITE_P(All, RuleCounted, testing::ValuesIn(kRows));

// A rule beside others, or with several units of one packet: what it has room for is admitted only
// if its packet goes on.
struct BesideRow {
    std::string_view name;
    std::string_view rules;  // the last of them is looked at
    std::vector<Frame> frames;
    Counted counted;
};
std::ostream& operator<<(std::ostream& out, const BesideRow& row) {
    return out << row.name;
}

#define ONE_PACKET(more) \
    "  - {id: one, mode: enforce, key: [], limits: [" LIMIT("packet", "1") "]" more "}\n"
#define RULE(mode, limit) "  - {id: r, mode: " mode ", key: [ip.src], limits: [" limit "]"
#define DENY_B \
    "  - {id: deny, mode: enforce, when: http.request.uri.path eq \"/b\", on_match: drop}\n"

const Frame kPacket = test::udp().src("10.0.0.1");
const std::string kRequestB = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";

const BesideRow kBesideRows[] = {
    {"what another rule refuses is skipped",
     ONE_PACKET("") RULE("enforce", LIMIT("packet", "9")) "}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 1, .skipped = 2}},
    {"what another rule tags is admitted",
     ONE_PACKET(", on_exceed: {action: tag, dscp: 8}") RULE("enforce", LIMIT("packet", "9")) "}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 3}},
    {"what another rule holds is admitted",
     "  - {id: one, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: "
     "1}], "
     "on_exceed: {action: shape, max_delay: 10s}}\n" RULE("enforce", LIMIT("packet", "9")) "}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 3}},
    {"what both refuse is exceeded",
     ONE_PACKET("") RULE("enforce", LIMIT("packet", "1")) "}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 1, .exceeded = 2}},
    {"a monitoring rule skips what an enforcing one refuses",
     ONE_PACKET("") RULE("monitor", LIMIT("packet", "9")) "}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 1, .skipped = 2}},
    {"a monitoring rule keeps nothing back from others",
     "  - {id: one, mode: monitor, key: [], limits: [" LIMIT("packet", "1") "]}\n" RULE(
         "enforce", LIMIT("packet", "9")) "}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 3}},
    {"an exempt key counts as exempted only where it is admitted",
     ONE_PACKET("")
         RULE("enforce",
              LIMIT("packet", "9")) ", overrides: {inline: [{key: [10.0.0.1], exempt: true}]}}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 1, .skipped = 2, .exempted = 1}},
    {"all requests of a packet exceed a limit that has no room for one of them",
     RULE("enforce", LIMIT("request", "2")) "}\n",
     {carries(kRequest + kRequest + kRequest), carries(kRequest + kRequest, 2)},
     {.admitted = 2, .exceeded = 3}},
    {"and so they would for a rule that monitors",
     RULE("monitor", LIMIT("request", "2")) "}\n",
     {carries(kRequest + kRequest + kRequest), carries(kRequest + kRequest, 2)},
     {.admitted = 2, .exceeded = 3}},
    {"each counts for itself where the action forwards the packet",
     RULE("enforce", LIMIT("request", "2")) ", on_exceed: {action: tag, dscp: 8}}\n",
     {carries(kRequest + kRequest + kRequest)},
     {.admitted = 2, .exceeded = 1}},
    {"requests are skipped that another rule refuses for one of them",
     DENY_B RULE("enforce", LIMIT("request", "9")) "}\n",
     {carries(kRequest + kRequestB), carries(kRequest, 2)},
     {.admitted = 1, .skipped = 1}},
    {"and so is what is allowed on sight",
     DENY_B "  - {id: r, mode: enforce, when: http.request.uri.path eq \"/\", on_match: allow}\n",
     {carries(kRequest + kRequestB), carries(kRequest, 2)},
     {.admitted = 1, .skipped = 1}},
    {"an allowing rule that monitors counts what it would let through before all others",
     ONE_PACKET("") "  - {id: r, mode: monitor, when: ip.version eq 4, on_match: allow}\n",
     {kPacket, kPacket, kPacket},
     {.admitted = 3}},
};

class RuleBeside : public testing::TestWithParam<BesideRow> {
protected:
    static Counted count(const std::string& budget) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{"version: 1\n" + budget + "rules:\n" + std::string{GetParam().rules}};
        box.find_units_by(parser.finder());
        judge(box, GetParam().frames);
        const RuleCounters& counters = box.counters(box.set().rules.size() - 1);
        return {counters.admitted.read(), counters.exceeded.read(), counters.skipped.read(),
                counters.exempted.read()};
    }
};

TEST_P(RuleBeside, ByTheFastPath) {
    EXPECT_EQ(count(""), GetParam().counted);
}

TEST_P(RuleBeside, ByTheGeneralPath) {
    EXPECT_EQ(count("bypass: [{when: ip.version eq 4, key: [], limit: " LIMIT("query", "1") "}]\n"),
              GetParam().counted);
}

INSTANTIATE_TEST_SUITE_P(All, RuleBeside, testing::ValuesIn(kBesideRows));

#undef ONE_PACKET
#undef RULE
#undef DENY_B

// A budget that lets one request of a packet through has let nothing through if the packet is
// refused for the other.
TEST(RuleBeside, ABudgetSkipsWhatRulesRefuse) {
    UnitParser parser{capture_unit_budget()};
    test::Box
        box{"version: 1\nbypass: [{when: http.request.uri.path eq \"/\", key: [], limit: " LIMIT(
            "request",
            "9") "}]\nrules:\n  - {id: deny, mode: enforce, when: http.request.uri.path eq "
                 "\"/b\", on_match: drop}\n"};
    box.find_units_by(parser.finder());
    judge(box, {carries(kRequest + kRequestB), carries(kRequest, 2)});
    EXPECT_EQ(box.counters(0).admitted.read(), 1U);
    EXPECT_EQ(box.counters(0).skipped.read(), 1U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 0U);
}

// Of frames on the wire, by either path.
class RuleBytes : public testing::TestWithParam<std::string> {
protected:
    static std::string rules(const std::string& rule) {
        return "version: 1\n" + GetParam() + "rules:\n  - {id: r, mode: enforce, " + rule + "}\n";
    }
    struct Bytes {
        std::uint64_t admitted;
        std::uint64_t exceeded;
        [[nodiscard]] bool operator==(const Bytes&) const noexcept = default;
    };
    static Bytes count(const std::string& rule, const std::vector<Frame>& frames) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{rules(rule)};
        box.find_units_by(parser.finder());
        judge(box, frames);
        const RuleCounters& counters = box.counters(box.set().rules.size() - 1);
        return {counters.admitted_bytes.read(), counters.exceeded_bytes.read()};
    }
    static std::uint64_t size(const Frame& frame) { return frame.bytes().size(); }
};

TEST_P(RuleBytes, AreThoseOfTheFramesThatItAdmittedAndRefused) {
    const Frame first = test::udp().src("10.0.0.1").size(200);
    const Frame second = test::udp().src("10.0.0.1").size(90);
    const Frame third = test::udp().src("10.0.0.2").size(300);
    EXPECT_EQ(count("key: [ip.src], limits: [" LIMIT("packet", "1") "]", {first, second, third}),
              (Bytes{size(first) + size(third), size(second)}));
}

TEST_P(RuleBytes, CountOnceForAPacketOfSeveralRequests) {
    const Frame three = carries(kRequest + kRequest + kRequest);
    EXPECT_EQ(count("key: [ip.src], limits: [" LIMIT("request", "9") "]", {three}),
              (Bytes{size(three), 0}));
}

TEST_P(RuleBytes, AreNoneOfWhatAnotherRuleRefuses) {
    const Frame one = test::udp().src("10.0.0.1").size(200);
    EXPECT_EQ(count("key: [], limits: [" LIMIT(
                        "packet", "1") "]}\n"
                                       "  - {id: r2, mode: enforce, key: [ip.src], limits: [" LIMIT(
                                           "packet", "9") "]",
                    {one, one, one}),
              (Bytes{size(one), 0}));
}

TEST_P(RuleBytes, CountOnSight) {
    const Frame one = test::udp().src("10.0.0.1").size(200);
    EXPECT_EQ(count("on_match: drop", {one, one}), (Bytes{0, 2 * size(one)}));
    EXPECT_EQ(count("on_match: allow", {one}), (Bytes{size(one), 0}));
}

INSTANTIATE_TEST_SUITE_P(
    BothPaths, RuleBytes,
    testing::Values("", "bypass: [{when: ip.version eq 4, key: [], limit: " LIMIT("query",
                                                                                  "1") "}]\n"));

class LimitCounted : public testing::TestWithParam<std::string> {};

// Which of a rule's limits refuse, where it has several.
TEST_P(LimitCounted, ByTheLimitsThatRefuse) {
    test::Box box{"version: 1\n" + GetParam() +
                  "rules:\n  - id: r\n    mode: enforce\n    tiers:\n"
                  "      - {key: [ip.src], limits: [" LIMIT("packet", "2") "]}\n"
                  "      - {key: [], limits: [" LIMIT("packet", "3") "]}\n"
                  "  - {id: alone, mode: enforce, key: [], limits: [" LIMIT("packet", "1") "]}\n"};
    // Two of the first source pass its limit, and one of the second both; then all are refused.
    for (const char* source : {"10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
        (void)box.judge(test::udp().src(source).bytes(), test::kStart);
    }
    const std::size_t rules = box.set().rules.size();
    const auto refused = [&](std::size_t rule, std::size_t limit) {
        return box.counters().limits.read(box.set().rules[rule].counters, limit);
    };
    EXPECT_EQ(box.counters(rules - 1).exceeded.read(), 4U);
    EXPECT_EQ(refused(rules - 1, 0), 0U);  // it has one limit, which refused them all
    EXPECT_EQ(refused(rules - 2, 0) + refused(rules - 2, 1),
              box.counters(rules - 2).exceeded.read());
}

INSTANTIATE_TEST_SUITE_P(
    BothPaths, LimitCounted,
    testing::Values("", "bypass: [{when: ip.version eq 4, key: [], limit: " LIMIT("query",
                                                                                  "1") "}]\n"));

// What lacks the key has no bytes either: those of its packet go with the first unit that is
// judged.
TEST(RuleBytes, OfAPacketAreCountedWithTheFirstUnitThatARuleJudges) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{
        "version: 1\nrules:\n  - {id: r, mode: enforce, key: ['http.request.headers[\"x-key\"]'], "
        "limits: "
        "[" LIMIT("request", "9") "]}\n"};
    box.find_units_by(parser.finder());
    const Frame three =
        carries(kRequest + "GET /b HTTP/1.1\r\nHost: a\r\nX-Key: 1\r\n\r\n" + kRequest);
    judge(box, {three});
    const RuleCounters& counters = box.counters(0);
    EXPECT_EQ(counters.skipped.read(), 2U);
    EXPECT_EQ(counters.admitted.read(), 1U);
    EXPECT_EQ(counters.admitted_bytes.read(), three.bytes().size());
}

}  // namespace
}  // namespace sluice::rule_counters_test

#undef LIMIT

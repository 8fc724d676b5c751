#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

// Candidates: limits judged in the place of a rule's own, counted, never enforced.
namespace sluice::candidate_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::kStart;
using test::udp;

#define BUCKET(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(candidates) \
    "version: 1\nlimits:\n  a: " BUCKET("10/s", "4") "\nrules:\n"          \
    "  - id: r\n    mode: enforce\n    key: [ip.src]\n    limits: [a, " BUCKET( \
        "1000/s", "100") "]\n    candidates:\n" candidates

// Lets three packets through.
#define OTHER(action) \
    "  - {id: s, mode: enforce, key: [], limits: [" BUCKET("1/s", "3") "]" \
    ", on_exceed: {action: " action "}}\n"

void send(Box& box, int packets) {
    for (int i = 0; i < packets; ++i) {
        (void)box.judge(udp().src("10.0.0.1").bytes(), kStart);
    }
}

struct Counted {
    std::uint64_t admitted;
    std::uint64_t exceeded;
    bool operator==(const Counted&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Counted& counted) {
    return out << counted.admitted << " admitted, " << counted.exceeded << " exceeded";
}
Counted counted(const Box& box, std::size_t rule) {
    return {box.counters(rule).admitted.read(), box.counters(rule).exceeded.read()};
}

struct Row {
    std::string_view name;
    std::string_view rules;
    Counted candidate;  // of ten packets at one instant
    Counted rule = {4, 6};
};
// The rule itself lets four through; a candidate spends what it would have let through.
const Row kRows[] = {
    {"one number is other, the rest as it was",
     RULE("      - {name: few, limits: {a: {burst: 2}}}\n"),
     {2, 8}},
    {"wider than the rule, whose refusals it does not share",
     RULE("      - {name: wide, limits: {a: {burst: 6}}}\n"),
     {6, 4}},
    {"wider than all that comes",
     RULE("      - {name: wide, limits: {a: {burst: 50}}}\n"),
     {10, 0}},
    {"what another rule drops it does not spend",
     RULE("      - {name: wide, limits: {a: {burst: 6}}}\n") OTHER("drop"),
     {3, 0},
     {3, 0}},
    {"what another rule tags it does",
     RULE("      - {name: wide, limits: {a: {burst: 6}}}\n") OTHER("tag, dscp: 8"),
     {6, 4}},
    {"a limit written out in the rule is named by its position",
     RULE("      - {name: few, limits: {\"2\": {burst: 3}}}\n"),
     {3, 7}},
    {"several limits at once",
     RULE("      - {name: few, limits: {a: {burst: 3}, \"2\": {burst: 1}}}\n"),
     {1, 9}},
    {"another algorithm",
     RULE("      - {name: log, limits: {a: {algorithm: sliding_log, count: 3, window: 1s}}}\n"),
     {3, 7}},
};

class Candidates : public testing::TestWithParam<Row> {};

// The general path works out waits, the fast one does without.
const std::array<PacketPolicy, 2> kPaths{PacketPolicy{.tell_wait = true},
                                         PacketPolicy{.tell_wait = false}};

TEST_P(Candidates, CountWhatTheyWouldHaveDone) {
    for (const PacketPolicy& path : kPaths) {
        Box box{GetParam().rules, path};
        send(box, 10);
        EXPECT_EQ(counted(box, 0), GetParam().rule);
        EXPECT_EQ(counted(box, 1), GetParam().candidate);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Candidates, testing::ValuesIn(kRows));

// A random rule with one or two limits (`a`, then `b`), and the numbers of its candidate (`more`).
struct RandomRule {
    std::string head;
    std::string a;
    std::string b;
    std::string tail;
    std::string size;  // how the second number of a is called
    std::string more;  // what it is for the candidate

    explicit RandomRule(std::mt19937_64& random) {
        const auto one_of = [&](std::initializer_list<std::string_view> words) {
            return std::string{words.begin()[random() % words.size()]};
        };
        head = "version: 1\nrules:\n  - id: r\n    mode: " +
               one_of({"enforce", "enforce", "monitor"}) +
               "\n    key: " + one_of({"[]", "[ip.src]"}) + "\n" +
               one_of({"", "", "    rejected_spend: true\n"}) +
               one_of({"", "", "    ban: {after: 4, within: 10s, for: 2s}\n"});
        const bool shapes = random() % 3 == 0;
        const std::string kind = one_of({"token_bucket", "leaky_bucket"});
        size = kind == "token_bucket" ? "burst: " : "queue: ";
        a = "algorithm: " + kind + ", rate: " + one_of({"1/s", "7/s"}) + ", " + size;
        b = one_of({"", ", {algorithm: token_bucket, rate: 3/s, burst: 4}"});
        b = shapes ? b : one_of({"", ", {algorithm: sliding_log, count: 3, window: 1s}"});
        tail = "    on_exceed: {action: " +
               (shapes ? one_of({"shape, max_delay: 1s", "shape, max_delay: 300ms, overflow: pass"})
                       : one_of({"drop", "drop", "tag, dscp: 8", "pass"})) +
               "}\n";
        more = one_of({"2", "5", "9"});
    }
    [[nodiscard]] std::string text(std::string_view number, std::string_view candidates) const {
        return head + "    limits: [{" + a + std::string{number} + "}" + b + "]\n" +
               std::string{candidates} + tail;
    }
};

// Where no other rule judges, a candidate counts to the packet what its rule would with its limits.
TEST(Candidates, CountAsTheirRuleWouldWithTheirLimits) {
    std::mt19937_64 random{11};
    for (int round = 0; round < test::rounds(400); ++round) {
        const RandomRule rule{random};
        const std::string size = rule.size + rule.more;
        const PacketPolicy& path = kPaths[random() % 2];
        Box with{rule.text("4", "    candidates: [{name: x, limits: {\"1\": {" + size + "}}}]\n"),
                 path};
        Box alone{rule.text(rule.more, ""), path};
        Instant now = kStart;
        for (int i = 0; i < 60; ++i) {
            now += Nanoseconds{random() % 2 == 0 ? 0 : random() % 300'000'000};
            const auto bytes = udp().src("10.0.0." + std::to_string(random() % 2)).bytes();
            (void)with.judge(bytes, now);
            (void)alone.judge(bytes, now);
            ASSERT_EQ(counted(with, 1), counted(alone, 0)) << "packet " << i << " of\n"
                                                           << rule.text("4", "") << "with " << size;
        }
    }
}

// Whatever the candidates are, the verdicts are those of the rule alone.
TEST(Candidates, InfluenceNothing) {
    Box with{
        RULE("      - {name: none, limits: {a: {rate: 1/d, burst: 1}}}\n"
             "      - {name: all, limits: {a: {rate: 1M/s, burst: 1000}}}\n")};
    Box without{RULE("      []\n")};
    std::mt19937_64 random{7};
    Instant now = kStart;
    for (int i = 0; i < 5000; ++i) {
        now += Nanoseconds{random() % 50'000'000};
        const auto bytes = udp().src("10.0.0." + std::to_string(random() % 4)).bytes();
        const Decision one = with.judge(bytes, now);
        const Decision other = without.judge(bytes, now);
        ASSERT_EQ(one.verdict, other.verdict) << i;
        ASSERT_EQ(one.reason, other.reason) << i;
        ASSERT_EQ(one.wait, other.wait) << i;
    }
    EXPECT_GT(counted(with, 1).exceeded, 4000U);
    EXPECT_EQ(counted(with, 2).exceeded, 0U);
}

// A candidate's buckets and counters are its own, so they outlive a reload like any other.
TEST(Candidates, KeepTheirBucketsOverAReload) {
    Box box{RULE("      - {name: few, limits: {a: {rate: 1/d, burst: 2}}}\n")};
    send(box, 2);
    ASSERT_TRUE(
        box.reload(RULE("      - {name: more, limits: {a: {burst: 9}}}\n"
                        "      - {name: few, limits: {a: {rate: 1/d, burst: 3}}}\n")));
    send(box, 2);
    EXPECT_EQ(counted(box, 2), (Counted{3, 1})) << "two before the reload, one after it";
}

TEST(Candidates, AreOffWithTheirRule) {
    Box box{"version: 1\nrules:\n  - {id: r, mode: off, key: [], limits: [" BUCKET(
        "1/s",
        "1") "],\n"
             "     candidates: [{name: x, limits: {\"1\": {burst: 5}}}]}\n"
             "  - {id: s, mode: enforce, key: [], limits: [" BUCKET("1/s", "1") "]}\n"};
    EXPECT_EQ(box.judge(udp().bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(counted(box, 0), (Counted{1, 0}));
}

}  // namespace
}  // namespace sluice::candidate_cases_test

#undef BUCKET
#undef RULE
#undef OTHER

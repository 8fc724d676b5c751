#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <random>

// Candidates: limits judged beside a rule's own, counted, never enforced.
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
};
// The rule itself lets four through, and what it drops no candidate spends.
const Row kRows[] = {
    {"one number is other, the rest as it was",
     RULE("      - {name: few, limits: {a: {burst: 2}}}\n"),
     {2, 8}},
    {"wider than the rule", RULE("      - {name: wide, limits: {a: {burst: 50}}}\n"), {10, 0}},
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

TEST_P(Candidates, CountWhatTheyWouldHaveDone) {
    Box box{GetParam().rules};
    send(box, 10);
    EXPECT_EQ(counted(box, 0), (Counted{4, 6}));
    EXPECT_EQ(counted(box, 1), GetParam().candidate);
}

INSTANTIATE_TEST_SUITE_P(All, Candidates, testing::ValuesIn(kRows));

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

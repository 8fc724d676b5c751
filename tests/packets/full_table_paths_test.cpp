#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <vector>

// Keys without a place: the fast path does what the general path does.
namespace sluice::full_table_paths_test {
namespace {

using namespace std::chrono_literals;
using test::Box;

struct Row {
    const char* name;
    const char* rules;
    const char* reloaded;  // half-way
};

#define RULES "version: 1\nrules:\n"
#define RULE(id, key, limits) \
    "  - {id: " id ", mode: enforce, key: " key ", on_full: {coarsen: {factor: 2}}, " limits "}\n"
#define BUCKET(rate, burst) "limits: [{algorithm: token_bucket, rate: " rate ", burst: " burst "}]"

constexpr Row kRows[] = {
    {"one rule", RULES RULE("each", "[ip.src]", BUCKET("20/s", "3")), nullptr},
    {"parts of a ns", RULES RULE("each", "[ip.src]", BUCKET("7/s", "3")), nullptr},
    {"leaky bucket",
     RULES RULE("each", "[ip.src]", "limits: [{algorithm: leaky_bucket, rate: 20/s, queue: 3}]"),
     nullptr},
    {"other numbers half-way", RULES RULE("each", "[ip.src]", BUCKET("20/s", "3")),
     RULES RULE("each", "[ip.src]", BUCKET("10/s", "2"))},
    {"networks", RULES RULE("each", "[\"prefix(ip.src, 28|56)\"]", BUCKET("20/s", "3")), nullptr},
    {"networks of which IPv4 has no wider ones",
     RULES RULE("each", "[\"prefix(ip.src, 24|56)\", l4.dport]", BUCKET("20/s", "3")), nullptr},
    {"address and port", RULES RULE("each", "[ip.src, l4.dport]", BUCKET("20/s", "3")), nullptr},
    {"no address", RULES RULE("each", "[l4.sport]", BUCKET("20/s", "3")), nullptr},
    {"rules that share keys",
     RULES RULE("each", "[ip.src]", BUCKET("20/s", "3"))
         RULE("nets", "[\"prefix(ip.src, 24|56)\"]", BUCKET("40/s", "5"))
             RULE("to", "[ip.dst]", BUCKET("70/s", "9")),
     nullptr},
    {"two limits",
     RULES RULE("each", "[ip.src]",
                "limits: [{algorithm: token_bucket, rate: 20/s, burst: 3}, {algorithm: "
                "token_bucket, rate: 1/s, burst: 8}, {algorithm: token_bucket, per: byte, rate: "
                "2000B/s, burst: 500B}]"),
     nullptr},
    {"beside a window",
     RULES RULE("each", "[ip.src]",
                "limits: [{algorithm: token_bucket, rate: 20/s, burst: 3}, {algorithm: "
                "fixed_window, count: 9, window: 1s}]"),
     nullptr},
    {"one that watches and one whose refusals spend",
     RULES RULE(
         "each", "[ip.src]",
         BUCKET("20/s", "3") ", rejected_spend: true") "  - {id: watch, mode: monitor, key: "
                                                       "[ip.dst, l4.dport], on_full: {coarsen: "
                                                       "{factor: 3}}, " BUCKET("9/s", "2") "}\n",
     nullptr},
    {"a tag",
     RULES RULE("each", "[ip.src]", BUCKET("20/s", "3") ", on_exceed: {action: tag, dscp: 8}")
         RULE("to", "[ip.dst]", BUCKET("30/s", "5")),
     nullptr},
};

// Bursts of packets from few networks, so that wider keys come again.
class Dice {
public:
    explicit Dice(unsigned seed) : random_{seed} {}

    [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
    [[nodiscard]] std::vector<std::byte> packet() {
        return test::udp()
            .src(address())
            .dst(address(below(8) == 0))
            .sport(static_cast<std::uint16_t>(1 + below(400)))
            .dport(static_cast<std::uint16_t>(1 + below(3)))
            .payload(below(100))
            .bytes();
    }
    [[nodiscard]] std::vector<std::vector<std::byte>> burst() {
        std::vector<std::vector<std::byte>> frames;
        for (unsigned left = 1 + below(kMaxBurst); left != 0; --left) {
            is_v6_ = below(3) == 0;
            frames.push_back(packet());
        }
        return frames;
    }

private:
    [[nodiscard]] std::string address(bool is_any = true) {
        const auto number = [&](unsigned end) { return std::to_string(is_any ? below(end) : 1); };
        return is_v6_ ? "2001:db8:" + number(4) + ":" + number(9) + "00::" + number(40)
                      : "10.0." + number(20) + "." + number(240);
    }

    std::mt19937 random_;
    bool is_v6_ = false;
};

void expect_same_events(const Box& fast, const Box& general, const std::string& where) {
    for (std::size_t event = 0; event < kTableEvents.size(); ++event) {
        EXPECT_EQ(fast.counted(static_cast<TableEvent>(event)),
                  general.counted(static_cast<TableEvent>(event)))
            << where << ", event " << event;
    }
    for (std::size_t rule = 0; rule < fast.set().rules.size(); ++rule) {
        const RuleCounters& one = fast.counters(rule);
        const RuleCounters& other = general.counters(rule);
        EXPECT_EQ(one.admitted.read(), other.admitted.read()) << where;
        EXPECT_EQ(one.exceeded.read(), other.exceeded.read()) << where;
        EXPECT_EQ(one.admitted_bytes.read(), other.admitted_bytes.read()) << where;
    }
}

class Course {
public:
    Course(const Row& row, unsigned seed)
        : row_{row},
          where_{std::string{row.name} + ", seed " + std::to_string(seed)},
          dice_{seed},
          fast_{row.rules, PacketPolicy{.tell_wait = false}, kKeys},
          general_{row.rules, PacketPolicy{.tell_wait = false}, kKeys} {}

    void run() {
        for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
            if (row_.reloaded != nullptr && round == kRounds / 2) {
                ASSERT_TRUE(fast_.reload(row_.reloaded)) << where_;
                ASSERT_TRUE(general_.reload(row_.reloaded)) << where_;
            }
            burst(round);
            // Now and then long enough that buckets fall idle.
            now_ += dice_.below(40) == 0 ? Nanoseconds{400ms} : Nanoseconds{dice_.below(9) * 1ms};
        }
        expect_same_events(fast_, general_, where_);
    }
    [[nodiscard]] std::uint64_t coarsened() const {
        return fast_.counted(TableEvent::Coarsened1) + fast_.counted(TableEvent::Coarsened2) +
               fast_.counted(TableEvent::CoarsenedToRule);
    }

private:
    static constexpr std::size_t kKeys = 60;  // and a parent's line or two
    static constexpr int kRounds = 200;

    void burst(int round) {
        const auto frames = dice_.burst();
        Burst one;
        Burst other;
        test::fill(one, frames);
        test::fill(other, frames);
        fast_.run(one, now_);
        general_.run_unwidened(other, now_);
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const Decision& got = one.packets()[i].decision;
            const Decision& due = other.packets()[i].decision;
            ASSERT_EQ(got.verdict, due.verdict)
                << where_ << ", burst " << round << ", packet " << i;
            ASSERT_EQ(got.reason, due.reason) << where_ << ", burst " << round << ", packet " << i;
            ASSERT_EQ(got.rule, due.rule) << where_ << ", burst " << round << ", packet " << i;
            ASSERT_EQ(got.key, due.key) << where_;
            ASSERT_EQ(got.action, due.action) << where_;
        }
    }

    const Row& row_;
    std::string where_;
    Dice dice_;
    Box fast_;
    Box general_;
    Instant now_{1h};
};

class FullTablePaths : public testing::TestWithParam<Row> {};

TEST_P(FullTablePaths, DecideAlike) {
    std::uint64_t coarsened = 0;
    for (unsigned seed = 1; seed <= static_cast<unsigned>(test::rounds(6)); ++seed) {
        Course course{GetParam(), seed};
        course.run();
        coarsened += course.coarsened();
        if (HasFailure()) {
            return;
        }
    }
    EXPECT_GT(coarsened, 100U) << "the table was full";
}

INSTANTIATE_TEST_SUITE_P(Rules, FullTablePaths, testing::ValuesIn(kRows), [](const auto& row) {
    std::string name = row.param.name;
    std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace sluice::full_table_paths_test

#undef RULES
#undef RULE
#undef BUCKET

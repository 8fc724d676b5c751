#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Keys without a place: the fast path does what the general path does.
namespace sluice::full_table_paths_test {
namespace {

using namespace std::chrono_literals;
using test::Box;

struct Row {
    const char* name;
    const char* rules;
    const char* reloaded = nullptr;  // half-way
    // Whether bursts of such packets, where the table is full, need no general path.
    bool is_fast = true;
    bool is_pooled = false;  // some state lies in the pool, which may be full before the table
};

#define RULES "version: 1\nrules:\n"
#define RULE(id, key, limits) \
    "  - {id: " id ", mode: enforce, key: " key ", on_full: {coarsen: {factor: 2}}, " limits "}\n"
#define WINDOW(count, window) \
    "limits: [{algorithm: sliding_window, count: " count ", window: " window "}]"
#define BUCKET(rate, burst) "limits: [{algorithm: token_bucket, rate: " rate ", burst: " burst "}]"

constexpr Row kRows[] = {
    {"one rule", RULES RULE("each", "[ip.src]", BUCKET("2/s", "3")), nullptr},
    {"parts of a ns", RULES RULE("each", "[ip.src]", BUCKET("42/m", "3")), nullptr},
    {"leaky bucket",
     RULES RULE("each", "[ip.src]", "limits: [{algorithm: leaky_bucket, rate: 2/s, queue: 3}]"),
     nullptr},
    {"other numbers half-way", RULES RULE("each", "[ip.src]", BUCKET("2/s", "3")),
     RULES RULE("each", "[ip.src]", BUCKET("1/s", "2"))},
    {"networks", RULES RULE("each", "[\"prefix(ip.src, 28|56)\"]", BUCKET("2/s", "3")), nullptr},
    {"networks of which IPv4 has no wider ones",
     RULES RULE("each", "[\"prefix(ip.src, 24|56)\", l4.dport]", BUCKET("2/s", "3")), nullptr},
    {"address and port", RULES RULE("each", "[ip.src, l4.dport]", BUCKET("2/s", "3")), nullptr},
    {"no address", RULES RULE("each", "[l4.sport]", BUCKET("2/s", "3")), nullptr},
    {"rules that share keys",
     RULES RULE("each", "[ip.src]", BUCKET("2/s", "3"))
         RULE("nets", "[\"prefix(ip.src, 24|56)\"]", BUCKET("4/s", "5"))
             RULE("to", "[ip.dst]", BUCKET("7/s", "9")),
     nullptr, false},
    {"two limits",
     RULES RULE("each", "[ip.src]",
                "limits: [{algorithm: token_bucket, rate: 2/s, burst: 3}, {algorithm: "
                "token_bucket, rate: 1/s, burst: 8}, {algorithm: token_bucket, per: byte, rate: "
                "2000B/s, burst: 500B}]"),
     nullptr},
    {"beside a window",
     RULES RULE("each", "[ip.src]",
                "limits: [{algorithm: token_bucket, rate: 2/s, burst: 3}, {algorithm: "
                "fixed_window, count: 9, window: 1s}]"),
     nullptr, true, true},
    {"a sliding window", RULES RULE("each", "[ip.src]", WINDOW("3", "1s")), nullptr, true, true},
    {"a sliding window of networks and one of ports",
     RULES RULE("nets", "[\"prefix(ip.src, 28|56)\"]", WINDOW("3", "1s"))
         RULE("ports", "[ip.dst, l4.sport]", WINDOW("2", "300ms")),
     nullptr, true, true},
    {"a fixed window of each key's own",
     RULES RULE("each", "[ip.src]",
                "limits: [{algorithm: fixed_window, count: 3, window: 1s, phase: per_key}]"),
     nullptr, true, true},
    {"other counts half-way", RULES RULE("each", "[ip.src]", WINDOW("3", "1s")),
     RULES RULE("each", "[ip.src]", WINDOW("2", "1s")), true, true},
    {"sub-windows",
     RULES RULE("each", "[ip.src]",
                "limits: [{algorithm: sliding_counters, count: 9, window: 1s, buckets: 20}]"),
     nullptr, true, true},
    {"a log",
     RULES RULE("each", "[\"prefix(ip.src, 28|56)\"]",
                "limits: [{algorithm: sliding_log, count: 40, window: 500ms}]"),
     nullptr, true, true},
    {"bytes in a log",
     RULES RULE("each", "[\"prefix(ip.src, 24|48)\"]",
                "limits: [{algorithm: sliding_log, per: byte, count: 9KB, window: 2s}]"),
     nullptr, true, true},
    {"a window, a log and a bucket",
     RULES RULE("each", "[ip.src]", WINDOW("3", "1s"))
         RULE("log", "[\"prefix(ip.src, 24|56)\"]",
              "limits: [{algorithm: sliding_log, count: 30, window: 1s}]")
             RULE("all", "[ip.src, l4.dport]", BUCKET("2/s", "3")),
     nullptr, false, true},
    {"a window that watches and one whose refusals spend",
     RULES RULE("each", "[ip.src]",
                "rejected_spend: true, " WINDOW(
                    "3", "1s")) "  - {id: watch, mode: monitor, key: [ip.dst], on_full: {coarsen: "
                                "{factor: 3}}, " WINDOW("2", "1s") "}\n",
     nullptr, false, true},
    {"two states in the pool for each key",
     RULES RULE("each", "[\"prefix(ip.src, 28|56)\"]",
                "limits: [{algorithm: sliding_counters, count: 20, window: 1s, buckets: 30}, "
                "{algorithm: sliding_log, per: byte, count: 9KB, window: 700ms}]"),
     nullptr, true, true},
    {"sub-windows before what refuses",
     RULES RULE("each", "[\"prefix(ip.src, 24|48)\"]",
                "limits: [{algorithm: sliding_counters, count: 90, window: 1s, buckets: 40}]")
         RULE("few", "[ip.src]", WINDOW("1", "1s")),
     nullptr, true, true},
    {"colours in the pool",
     RULES RULE("each", "[ip.src]", "limits: [{algorithm: srtcm, cir: 4/s, cbs: 3, ebs: 3}]"),
     nullptr, false, true},
    {"windows that are open and closed",
     RULES "  - {id: o, mode: enforce, key: [ip.dst], on_full: open, " WINDOW(
         "3",
         "1s") "}\n  - {id: c, mode: enforce, key: [ip.src], on_full: closed, " WINDOW("3",
                                                                                       "1s") "}\n",
     nullptr, false, true},
    {"one that watches and one whose refusals spend",
     RULES RULE(
         "each", "[ip.src]",
         BUCKET("2/s", "3") ", rejected_spend: true") "  - {id: watch, mode: monitor, key: "
                                                      "[ip.dst, l4.dport], on_full: {coarsen: "
                                                      "{factor: 3}}, " BUCKET("1/s", "2") "}\n",
     nullptr},
    {"a tag",
     RULES RULE("each", "[ip.src]", BUCKET("2/s", "3") ", on_exceed: {action: tag, dscp: 8}"),
     nullptr},
    {"one bucket for packets without a part",
     RULES RULE("each", "[ip.src, tcp.flags]", "missing_key: share, " BUCKET("2/s", "3")), nullptr},
    {"addresses of both versions",
     RULES RULE("each", "[\"prefix(outer.ip.src, 32|64)\", \"prefix(ip.src, 32|64)\"]",
                BUCKET("1/s", "1")),
     nullptr},
    {"cost", RULES RULE("each", "[ip.src]", "cost: 2, " BUCKET("2/s", "3")), nullptr},
    {"connections beside packets",
     RULES RULE("each", "[ip.src]", "per: connection, " BUCKET("2/s", "3"))
         RULE("all", "[ip.src]", BUCKET("2/s", "3")),
     nullptr},
    {"a budget",
     "version: 1\nbypass:\n  - {when: l4.dport eq 1, key: [ip.src], limit: {algorithm: "
     "token_bucket, rate: 2/s, burst: 3}}\nrules:\n" RULE("all", "[ip.src]", BUCKET("2/s", "3")),
     nullptr},
    {"a ban beside a rule that watches",
     RULES "  - {id: w, mode: monitor, key: [ip.src], " BUCKET("2/s", "3") "}\n" RULE(
         "b", "[ip.dst]",
         "per: connection, ban: {after: 3, within: 10s, for: 1s}, " BUCKET("2/s", "3")),
     nullptr, false},
    {"a share of the table",
     RULES RULE("each", "[ip.src]", "table_share: 50%, " BUCKET("2/s", "3"))
         RULE("all", "[ip.src]", BUCKET("2/s", "3")),
     nullptr, false},
    {"open and closed beside it",
     RULES "  - {id: o, mode: enforce, key: [ip.dst, l4.dport], on_full: open, " BUCKET(
         "2/s", "3") "}\n  - {id: c, mode: enforce, key: [l4.sport], on_full: "
                     "closed, " BUCKET("2/s", "3") "}\n" RULE("all", "[ip.src]",
                                                              BUCKET("2/s", "3")),
     nullptr, false},
    {"another rule before it half-way", RULES RULE("all", "[ip.src]", BUCKET("2/s", "3")),
     RULES RULE("new", "[ip.dst]", BUCKET("2/s", "3")) RULE("all", "[ip.src]", BUCKET("2/s", "3"))},
    {"another key half-way", RULES RULE("all", "[ip.src]", BUCKET("2/s", "3")),
     RULES RULE("all", "[ip.dst]", BUCKET("2/s", "3"))},
};

// Bursts of packets from few networks, so that wider keys come again.
class Dice {
public:
    explicit Dice(unsigned seed) : random_{seed} {}

    [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
    [[nodiscard]] std::vector<std::byte> packet() {
        if (below(3) == 0) {
            return in_v4();
        }
        return (below(4) == 0 ? test::tcp() : test::udp())
            .src(address())
            .dst(address(below(8) == 0))
            .sport(static_cast<std::uint16_t>(1 + below(400)))
            .dport(static_cast<std::uint16_t>(1 + below(3)))
            .payload(below(100))
            .bytes();
    }
    [[nodiscard]] std::vector<std::vector<std::byte>> burst() {
        std::vector<std::vector<std::byte>> frames;
        const unsigned most = below(2) == 0 ? 3 : kMaxBurst;
        for (unsigned left = 1 + below(most); left != 0; --left) {
            is_v6_ = below(3) == 0;
            frames.push_back(packet());
        }
        return frames;
    }

private:
    // IPv6 in IPv4.
    [[nodiscard]] std::vector<std::byte> in_v4() {
        is_v6_ = true;
        const test::Octets inner = test::udp().src(address()).dst(address(false)).packet();
        is_v6_ = false;
        return test::udp().src(address()).dst(address(false)).proto(41).carries(inner).bytes();
    }
    [[nodiscard]] std::string address(bool is_any = true) {
        const auto number = [&](unsigned end) { return std::to_string(is_any ? below(end) : 1); };
        return is_v6_ ? "2001:db8:" + number(4) + ":" + number(9) + "00::" + number(40)
                      : "10.0." + number(20) + "." + number(240);
    }

    std::mt19937 random_;
    bool is_v6_ = false;
};

// What packets have left behind: places of the pool, events of the table, counters of rules.
std::vector<std::uint64_t> state_of(Box& box) {
    std::vector<std::uint64_t> state{box.buckets().registry.pool().free()};
    state.reserve(1 + kTableEvents.size() + 5 * box.set().rules.size());
    for (std::size_t event = 0; event < kTableEvents.size(); ++event) {
        state.push_back(box.counted(static_cast<TableEvent>(event)));
    }
    for (std::size_t rule = 0; rule < box.set().rules.size(); ++rule) {
        const RuleCounters& counters = box.counters(rule);
        for (const Counter* counter :
             {&counters.admitted, &counters.exceeded, &counters.admitted_bytes, &counters.skipped,
              &counters.exempted}) {
            state.push_back(counter->read());
        }
    }
    return state;
}

struct Arrival {
    std::vector<std::vector<std::byte>> frames;
    Nanoseconds pause;  // behind it
};

constexpr int kRounds = 200;

// What comes in a course of that seed: the same for all rules and sizes.
const std::vector<Arrival>& arrivals_of(unsigned seed) {
    static std::map<unsigned, std::vector<Arrival>> known;
    std::vector<Arrival>& all = known[seed];
    if (all.empty()) {
        Dice dice{seed};
        for (int round = 0; round < kRounds; ++round) {
            std::vector<std::vector<std::byte>> frames = dice.burst();
            // Now and then long enough that buckets fall idle.
            const Nanoseconds pause =
                dice.below(40) == 0 ? Nanoseconds{400ms} : Nanoseconds{dice.below(9) * 1ms};
            all.push_back({std::move(frames), pause});
        }
    }
    return all;
}

struct Size {
    std::size_t keys;
    std::size_t lines;
};

// One box takes the fast path where it can, its bursts overlapped as a worker's are; the other one
// finds out by the general path what becomes of keys without a place.
class Course {
public:
    Course(const Row& row, const Size& size, unsigned seed)
        : row_{row},
          where_{std::string{row.name} + ", " + std::to_string(size.keys) + " keys, " +
                 std::to_string(size.lines) + " lines, seed " + std::to_string(seed)},
          arrivals_{arrivals_of(seed)},
          fast_{row.rules, BucketStore{size.keys, size.lines}, kPolicy},
          general_{row.rules, BucketStore{size.keys, size.lines}, kPolicy} {}

    void run() {
        for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
            if (row_.reloaded != nullptr && round == kRounds / 2) {
                step(kNoFrames, round);  // as a worker does before it takes other rules
                ASSERT_TRUE(fast_.reload(row_.reloaded)) << where_;
                ASSERT_TRUE(general_.reload(row_.reloaded)) << where_;
            }
            const Arrival& arrival = arrivals_[static_cast<std::size_t>(round)];
            step(arrival.frames, round);
            now_ += arrival.pause;
        }
        step(kNoFrames, kRounds);
    }
    // Bursts with keys that were coarsened and no packet that took the general path.
    [[nodiscard]] int fast_bursts() const { return fast_bursts_; }

private:
    static constexpr PacketPolicy kPolicy{.tunnels = {.ipip = true}, .tell_wait = false};
    using Frames = std::vector<std::vector<std::byte>>;

    [[nodiscard]] std::uint64_t coarsened() const {
        return fast_.counted(TableEvent::Coarsened1) + fast_.counted(TableEvent::Coarsened2) +
               fast_.counted(TableEvent::CoarsenedToRule);
    }
    // The burst that has come goes half its way, the one before it the other half.
    void step(const Frames& frames, int round) {
        test::fill(*next_, frames);
        current_->scratch().packet_unit.row = kMaxBurst;  // the general path writes it
        const std::uint64_t before = coarsened();
        fast_.run_overlapped(*next_, *current_, now_);
        fast_bursts_ +=
            coarsened() != before && current_->scratch().packet_unit.row == kMaxBurst ? 1 : 0;
        test::fill(*other_, *going_frames_);
        general_.run_unwidened(*other_, now_);
        for (std::size_t i = 0; i < going_frames_->size(); ++i) {
            if (const Decision &got = current_->packets()[i].decision,
                &due = other_->packets()[i].decision;
                !are_same(got, due)) {
                ADD_FAILURE() << where_ << ", burst " << round << ", packet " << i << ": "
                              << text_of(got) << " instead of " << text_of(due);
            }
        }
        EXPECT_EQ(state_of(fast_), state_of(general_)) << where_ << ", burst " << round;
        std::swap(next_, current_);
        going_frames_ = &frames;
    }
    static std::string text_of(const Decision& decision) {
        return "verdict " + std::to_string(static_cast<int>(decision.verdict)) + ", reason " +
               std::to_string(static_cast<int>(decision.reason)) + ", rule " +
               std::to_string(decision.rule) + ", action " + std::to_string(decision.action);
    }
    static bool are_same(const Decision& got, const Decision& due) {
        return got.verdict == due.verdict && got.reason == due.reason && got.rule == due.rule &&
               got.key == due.key && got.action == due.action;
    }

    const Row& row_;
    std::string where_;
    const std::vector<Arrival>& arrivals_;
    Box fast_;
    Box general_;
    test::ReusedBurst next_ = test::empty_burst();
    test::ReusedBurst current_ = test::empty_burst();
    test::ReusedBurst other_ = test::empty_burst();
    static inline const Frames kNoFrames{};
    const Frames* going_frames_ = &kNoFrames;
    int fast_bursts_ = 0;
    Instant now_{1h};
};

class FullTablePaths : public testing::TestWithParam<Row> {
protected:
    // Longer than usual where the fast path has not decided yet.
    static void compare(std::span<const Size> sizes) {
        constexpr int kSeeds = 12;
        int fast_bursts = 0;
        const auto lacks = [&] { return GetParam().is_fast && fast_bursts == 0; };
        for (int seed = 1; seed <= kSeeds && (seed <= test::rounds(kSeeds) || lacks()); ++seed) {
            for (const Size& size : sizes) {
                Course course{GetParam(), size, static_cast<unsigned>(seed)};
                course.run();
                fast_bursts += course.fast_bursts();
                if (HasFailure()) {
                    return;
                }
            }
        }
        EXPECT_GT(fast_bursts, GetParam().is_fast ? 0 : -1) << "keys have no place";
    }
};

TEST_P(FullTablePaths, DecideAlike) {
    constexpr Size kFullTables[] = {{60, 60}, {200, 200}};  // a line for parents, and four
    compare(kFullTables);
}

// The pool is full before the table.
class FullPoolPaths : public FullTablePaths {};

TEST_P(FullPoolPaths, DecideAlike) {
    constexpr Size kFullPools[] = {{1000, 40}, {1000, 150}, {200, 100}};
    compare(kFullPools);
}

std::vector<Row> pooled_rows() {
    std::vector<Row> rows;
    std::copy_if(std::begin(kRows), std::end(kRows), std::back_inserter(rows),
                 [](const Row& row) { return row.is_pooled; });
    return rows;
}

std::string name_of(const testing::TestParamInfo<Row>& row) {
    std::string name = row.param.name;
    std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, FullTablePaths, testing::ValuesIn(kRows), name_of);
INSTANTIATE_TEST_SUITE_P(Rules, FullPoolPaths, testing::ValuesIn(pooled_rows()), name_of);

}  // namespace
}  // namespace sluice::full_table_paths_test

#undef RULES
#undef RULE
#undef WINDOW
#undef BUCKET

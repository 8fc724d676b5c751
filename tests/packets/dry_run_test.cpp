#include "lib/engine/stage/dry_run_burst.hpp"

#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// A worker is asked what would become of a packet, and then the packet comes.
namespace sluice::dry_run_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Frame;
using test::udp;

constexpr Instant kStart{1h};

// The asker's end: the packet is matched and keyed under the box's rules, with a core of its own.
class Question {
public:
    explicit Question(Box& box) : box_{box} {}

    DryRun ask(const Frame& frame, Instant now) {
        const std::vector<std::byte> bytes = frame.bytes();
        burst_->clear();
        test::arrive(*burst_, bytes, nullptr, frame.dir(), frame.pair());
        match_stages(*burst_, box_.set(), core_, {now, {}});
        key_burst(*burst_, box_.set(), core_);
        return box_.dry_run(*burst_, now, {findings_, bans_});
    }
    [[nodiscard]] const LimitFinding& finding(std::size_t at) const { return findings_.at(at); }
    [[nodiscard]] const BanFinding& ban(std::size_t at) const { return bans_.at(at); }
    void leave_room_for(std::size_t findings) { findings_.resize(findings); }
    [[nodiscard]] const WorkerCounters& counters() const { return counters_; }

private:
    Box& box_;
    test::ReusedBurst burst_ = test::empty_burst();
    WorkerCounters counters_;
    CoreState core_{
        .hash = KeyHasher{test::kBoxSecret}, .buckets = BucketStore{64, 64}, .counters = counters_};
    std::vector<LimitFinding> findings_ = std::vector<LimitFinding>(64);
    std::vector<BanFinding> bans_ = std::vector<BanFinding>(8);
};

// All that a packet leaves behind in a worker.
struct Traces {
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> entries;
    std::size_t lines = 0;

    bool operator==(const Traces&) const = default;
};

Traces traces_of(Box& box) {
    Traces traces{.lines = box.buckets().registry.pool().free()};
    for (std::size_t rule = 0; rule < box.set().rules.size(); ++rule) {
        const RuleCounters& counters = box.counters(rule);
        for (const auto* counter :
             {&counters.admitted, &counters.admitted_bytes, &counters.exceeded,
              &counters.exceeded_bytes, &counters.skipped, &counters.exempted}) {
            traces.counts.push_back(counter->read());
        }
        for (const LoadedLimit& limit : box.set().rules[rule].limits) {
            traces.entries.push_back(box.buckets().registry.entries_of(limit.slot).read());
        }
        const BanCounters& bans = box.counters().bans[box.set().rules[rule].counters];
        traces.counts.push_back(bans.bans.read());
        traces.counts.push_back(bans.banned.read());
    }
    for (const auto& event : box.counters().by_table_event) {
        traces.counts.push_back(event.read());
    }
    return traces;
}

std::string rules(std::string_view list) {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n" + std::string{list};
}
std::string limited(std::string_view limit) {
    return rules("  - {id: r, key: [ip.src], limits: [{algorithm: " + std::string{limit} + "}]}\n");
}

TEST(DryRun, LeavesBucketsAsTheyAre) {
    for (const std::string_view limit :
         {"token_bucket, rate: 1/s, burst: 3", "leaky_bucket, rate: 1/s, queue: 3",
          "fixed_window, count: 3, window: 10s", "sliding_window, count: 3, window: 10s",
          "sliding_log, count: 3, window: 10s"}) {
        SCOPED_TRACE(limit);
        Box box{limited(limit)};
        Question question{box};
        const Frame frame = udp().src("10.0.0.1");
        // Of a key without a bucket, too.
        for (unsigned used = 0; used < 3; ++used) {
            const Traces before = traces_of(box);
            for (int i = 0; i < 10; ++i) {
                const DryRun run = question.ask(frame, kStart);
                ASSERT_TRUE(run.decided);
                ASSERT_EQ(run.findings, 1U);
                EXPECT_EQ(run.decision.verdict, Verdict::Pass);
                EXPECT_EQ(question.finding(0).has_bucket, used != 0);
                EXPECT_TRUE(question.finding(0).charged);
                EXPECT_EQ(question.finding(0).remaining, Units{3 - used});
            }
            EXPECT_EQ(traces_of(box), before);
            EXPECT_EQ(box.judge(frame, kStart).verdict, Verdict::Pass);
        }
        EXPECT_EQ(question.ask(frame, kStart).decision.verdict, Verdict::Drop);
        EXPECT_EQ(question.finding(0).remaining, Units{0});
        EXPECT_GT(question.finding(0).wait, 0s);
        EXPECT_EQ(question.finding(0).conformance, Conformance::Red);
        EXPECT_FALSE(question.finding(0).charged);
    }
}

// Refusals by questions are none.
TEST(DryRun, BansNobody) {
    Box box{
        rules("  - id: r\n    key: [ip.src]\n"
              "    limits: [{algorithm: token_bucket, rate: 1/m, burst: 1}]\n"
              "    ban: {after: 3, within: 1m, for: 10m}\n")};
    Question question{box};
    const Frame frame = udp().src("10.0.0.1");
    EXPECT_EQ(box.judge(frame, kStart).verdict, Verdict::Pass);
    const Traces before = traces_of(box);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(question.ask(frame, kStart).decision.reason, Reason::OverLimit);
    }
    EXPECT_EQ(traces_of(box), before);
    for (unsigned refused = 0; refused < 3; ++refused) {
        EXPECT_EQ(question.ask(frame, kStart).bans, 1U);
        EXPECT_EQ(question.ban(0).refusals, Units{refused});
        EXPECT_EQ(question.ban(0).after, Units{3});
        EXPECT_EQ(question.ban(0).left, Nanoseconds{0});
        EXPECT_EQ(box.judge(frame, kStart).reason, Reason::OverLimit);
    }
    const Traces banned = traces_of(box);
    EXPECT_EQ(question.ask(frame, kStart).decision.reason, Reason::Banned);
    EXPECT_EQ(question.ask(frame, kStart).decision.wait, 10min);
    EXPECT_EQ(question.ban(0).left, 10min);
    // No limit was asked, and the bucket is told of all the same.
    EXPECT_FALSE(question.finding(0).asked);
    EXPECT_TRUE(question.finding(0).has_bucket);
    EXPECT_EQ(question.finding(0).remaining, Units{0});
    EXPECT_EQ(traces_of(box), banned);
}

TEST(DryRun, NothingIsRunWithoutRoomForItsFindings) {
    Box box{limited("token_bucket, rate: 1/s, burst: 3")};
    Question question{box};
    question.leave_room_for(0);
    EXPECT_FALSE(question.ask(udp(), kStart).decided);
}

const std::string kRuleSets[] = {
    limited("token_bucket, rate: 3/s, burst: 4"),
    limited("sliding_log, count: 3, window: 2s"),
    rules("  - {id: shaped, key: [ip.src], limits: [{algorithm: leaky_bucket, rate: 2/s, queue: "
          "4}], on_exceed: {action: shape, max_delay: 1s}}\n"),
    rules(
        "  - {id: allowed, when: 'ip.src in {10.0.0.0/30}', on_match: allow}\n"
        "  - {id: denied, when: 'ip.src in {10.0.0.4/30}', on_match: drop}\n"
        "  - {id: r, key: [ip.src], limits: [{algorithm: fixed_window, count: 2, window: 1s}]}\n"),
    rules("  - {id: tiers, tiers: [{key: [ip.src], limits: [{algorithm: token_bucket, rate: 2/s, "
          "burst: 3}]}, {key: [ip.dst], limits: [{algorithm: token_bucket, rate: 9/s, burst: "
          "9}]}]}\n"
          "  - {id: all, mode: monitor, key: [], limits: [{algorithm: token_bucket, rate: 1/s, "
          "burst: "
          "1}]}\n"),
    rules("  - {id: few, key: [ip.src], on_full: closed, limits: [{algorithm: token_bucket, rate: "
          "3/s, burst: 4}]}\n"),
    rules("  - {id: few, key: [ip.src], on_full: open, limits: [{algorithm: token_bucket, rate: "
          "3/s, burst: 4}]}\n"),
    rules("  - {id: few, key: [ip.src], on_full: {coarsen: {factor: 2}}, limits: [{algorithm: "
          "token_bucket, rate: 3/s, burst: 4}]}\n"),
};

// Packets of many keys, each asked about before it comes: a worker answers at the end of a turn.
template <typename Compare>
void ask_and_send(const std::string& text, std::size_t keys, Compare&& compare) {
    SCOPED_TRACE(text);
    Box box{text, PacketPolicy{}, keys};
    Question question{box};
    std::mt19937 chance{7};
    Instant now = kStart;
    for (int i = 0; i < 2'000; ++i) {
        now = now + Nanoseconds{chance() % 40'000'000};
        const Frame frame = udp().src("10.0.0." + std::to_string(chance() % 40));
        box.idle(now);
        const Traces before = traces_of(box);
        const DryRun run = question.ask(frame, now);
        // A bucket that is as good as new may have given its place to the question's.
        ASSERT_EQ(traces_of(box).counts, before.counts) << i;
        ASSERT_TRUE(run.decided);
        ASSERT_NO_FATAL_FAILURE(compare(run.decision, box.judge(frame, now))) << i;
    }
}

TEST(DryRun, AgreesWithWhatThePacketThenGets) {
    for (const std::string& text : kRuleSets) {
        ask_and_send(text, 4096, [](const Decision& asked, const Decision& given) {
            ASSERT_EQ(asked.verdict, given.verdict);
            ASSERT_EQ(asked.reason, given.reason);
            ASSERT_EQ(asked.rule, given.rule);
            ASSERT_EQ(asked.limit, given.limit);
            ASSERT_EQ(asked.key, given.key);
            ASSERT_EQ(asked.wait, given.wait);
        });
    }
}

// By which bucket a packet waits depends on the place that it finds.
TEST(DryRun, AgreesOnTheVerdictWhereTheTableIsFull) {
    for (const std::string& text : kRuleSets) {
        ask_and_send(text, 8, [](const Decision& asked, const Decision& given) {
            ASSERT_EQ(asked.verdict, given.verdict);
            ASSERT_EQ(asked.reason, given.reason);
            ASSERT_EQ(asked.rule, given.rule);
        });
    }
}

// A worker whose searches have failed for long begins none, until a burst lets it: the packet's
// own.
TEST(DryRun, SeeksAPlaceAsThePacketsBurstWill) {
    Box box{
        rules(
            "  - {id: r, key: [ip.src], on_full: closed, limits: [{algorithm: token_bucket, rate: "
            "1/m, burst: 4}]}\n"),
        PacketPolicy{}, 512};
    Question question{box};
    unsigned sender = 0;
    const auto next = [&] {
        ++sender;
        return udp().src("10.0." + std::to_string(sender / 256) + "." +
                         std::to_string(sender % 256));
    };
    for (int i = 0; i < 1'000; ++i) {
        (void)box.judge(next(), kStart + i * 10ms);
    }
    // The first few buckets are as good as new.
    const Instant now = kStart + 1min + 300ms;
    const BucketTable::Searches none{.credit = 511, .reluctance = 12};
    std::map<Verdict, int> given;
    for (int i = 0; i < 60; ++i) {
        const Frame frame = next();
        box.buckets().keys.undo_searches(none);
        const DryRun run = question.ask(frame, now);
        ASSERT_EQ(box.buckets().keys.searches(), none) << i;
        const Verdict verdict = box.judge(frame, now).verdict;
        ASSERT_EQ(run.decision.verdict, verdict) << i;
        ++given[verdict];
    }
    EXPECT_GT(given[Verdict::Pass], 0);
    EXPECT_GT(given[Verdict::Drop], 0);
}

}  // namespace
}  // namespace sluice::dry_run_test

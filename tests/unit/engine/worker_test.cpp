#include "lib/engine/worker.hpp"

#include "lib/engine/stage/stages.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "tests/packets/arrivals.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/memory_box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The loop that the box runs, over frames in memory: a burst in, what leaves.
namespace sluice::worker_test {
namespace {

using namespace std::chrono_literals;
using test::Frame;
using test::MemoryBox;
using test::udp;
using Lines = std::vector<std::string>;

constexpr Instant kStart{1h};
using State = Running::State;

const Frame kA = udp().src("10.0.0.1").dst("192.0.2.1").size(114);
const Frame kB = udp().src("10.0.0.2").dst("192.0.2.2").size(114);

std::string rules(std::string_view list) {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n" + std::string{list};
}
const std::string kTwo =
    rules("  - {id: r, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}\n");
const std::string kEven = rules(
    "  - {id: r, key: [ip.src], limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 4}], "
    "on_exceed: {action: shape, max_delay: 1s}}\n");
// Packets of its keys are handed to their owners.
const std::string kOwned =
    rules("  - {id: r, key: [ip.dst], limits: [{algorithm: sliding_log, count: 2, window: 1h}]}\n");
// Owners of its keys are asked.
const std::string kAsked = rules(
    "  - {id: r, key: [ip.dst], per: query, limits: [{algorithm: sliding_log, count: 1, window: "
    "1h}]}\n");
const std::string kMerged = rules(
    "  - {id: r, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 10/s, burst: "
    "100}]}\n");

// Frames that come at an instant, and what leaves in the turn that sees them.
struct Step {
    Nanoseconds at;
    std::vector<std::pair<std::string, Frame>> come;
    Lines leaves;
};
struct Case {
    std::string what;
    std::string rules;
    State state;
    std::vector<Step> steps;
};

const Case kCases[] = {
    {"a turn without frames", kTwo, State::Enforce, {{0ms, {}, {}}}},
    {"a burst is decided in the turn that it comes in",
     kTwo,
     State::Enforce,
     {{0ms,
       {{"a", kA}, {"b", kB}, {"c", kA}, {"d", kA}},
       {"a pass within_limits", "b pass within_limits", "c pass within_limits",
        "d drop over_limit"}},
      {1s, {{"e", kA}, {"f", kA}}, {"e pass within_limits", "f drop over_limit"}}}},
    {"panic forwards whatever the rules say",
     kTwo,
     State::Panic,
     {{0ms, {{"a", kA}, {"b", kA}, {"c", kA}}, {"a pass panic", "b pass panic", "c pass panic"}}}},
    {"without rules everything is forwarded",
     kTwo,
     State::NoRulesetPass,
     {{0ms,
       {{"a", kA}, {"b", kA}, {"c", kA}},
       {"a pass no_ruleset", "b pass no_ruleset", "c pass no_ruleset"}}}},
    {"or nothing is",
     kTwo,
     State::NoRulesetDrop,
     {{0ms, {{"a", kA}, {"b", kB}}, {"a drop no_ruleset", "b drop no_ruleset"}}}},
    {"what is shaped departs later, in order",
     kEven,
     State::Enforce,
     {{0ms,
       {{"a", kA}, {"b", kA}, {"c", kA}},
       {"a pass within_limits", "b shape over_limit", "c shape over_limit"}},
      {99ms, {}, {}},
      {101ms, {{"d", kB}}, {"b departs", "d pass within_limits"}},
      {300ms, {}, {"c departs"}}}},
};

TEST(Worker, ATurnIsWhatItsTableSays) {
    for (const Case& one : kCases) {
        SCOPED_TRACE(one.what);
        MemoryBox box{one.rules, {.state = one.state}};
        for (const Step& step : one.steps) {
            for (const auto& [name, frame] : step.come) {
                box.show(name, frame);
            }
            box.set_time(kStart + step.at);
            EXPECT_EQ(box.poll(), step.leaves) << step.at.count() << " ns";
        }
    }
}

// More than one burst: each is decided when the next one has come, the last one at the end of the
// turn, and all of them in order.
TEST(Worker, BurstsOfATurnStayInOrder) {
    MemoryBox box{kTwo};
    Lines expected;
    for (std::size_t i = 0; i < 3 * kMaxBurst + 5; ++i) {
        const std::string name = "f" + std::to_string(i);
        box.show(name, kA);
        expected.push_back(name + (i < 2 ? " pass within_limits" : " drop over_limit"));
    }
    box.set_time(kStart);
    EXPECT_EQ(box.poll(), expected);
    EXPECT_EQ(box.counted(Verdict::Pass), 2U);
    EXPECT_EQ(box.counted(Verdict::Drop), 3 * kMaxBurst + 3);
    EXPECT_EQ(box.counted(Reason::OverLimit), 3 * kMaxBurst + 3);
}

// The heartbeat grows with every round, also while nothing comes; a worker is idle when nothing
// comes, waits or is held.
TEST(Worker, TellsThatItIsIdle) {
    MemoryBox box{kEven};
    box.set_time(kStart);
    EXPECT_EQ(box.poll(), Lines{});
    EXPECT_TRUE(box.was_idle());
    const std::uint64_t before = box.counters().bursts.read();
    EXPECT_GT(before, 0U);
    box.show("a", kA);
    box.show("b", kA);
    EXPECT_EQ(box.poll(), (Lines{"a pass within_limits", "b shape over_limit"}));
    EXPECT_FALSE(box.was_idle());
    EXPECT_GT(box.counters().bursts.read(), before);
    EXPECT_EQ(box.poll(), Lines{});
    EXPECT_FALSE(box.was_idle()) << "b is held";
    box.set_time(kStart + 1s);
    EXPECT_EQ(box.poll(), Lines{"b departs"});
    EXPECT_TRUE(box.was_idle());
}

TEST(Worker, HeldPacketsDepartAtOnceInAPanicAndAtTheEnd) {
    for (const bool panics : {true, false}) {
        MemoryBox box{kEven};
        box.set_time(kStart);
        box.show("a", kA);
        box.show("b", kA);
        box.show("c", kA);
        (void)box.poll();
        EXPECT_EQ(box.worker().held().now_held(), 2U);
        if (panics) {
            box.publish(State::Panic);
        }
        const Lines left = panics ? box.poll() : box.end();
        EXPECT_EQ(left, (Lines{"b departs", "c departs"})) << panics;
        EXPECT_EQ(box.worker().held().now_held(), 0U);
        EXPECT_EQ(box.counted(Verdict::Shape), 2U) << "each is counted when it departs";
    }
}

// A quarter of a lane's buffers are for packets that are held; what finds no room is dropped.
TEST(Worker, HoldsNoMoreThanItsBuffersAllow) {
    MemoryBox box{kEven, {.buffers = 8}};
    box.set_time(kStart);
    for (const std::string name : {"a", "b", "c", "d"}) {
        box.show(name, kA);
    }
    EXPECT_EQ(box.poll(), (Lines{"a pass within_limits", "b shape over_limit", "c shape over_limit",
                                 "d drop hold_full"}));
}

// Rules that are published are in force from the next turn on, for everything in it.
TEST(Worker, AdoptsWhatIsPublished) {
    MemoryBox box{kTwo};
    box.set_time(kStart);
    box.show("a", kA);
    EXPECT_EQ(box.poll(), Lines{"a pass within_limits"});
    box.publish(State::NoRulesetDrop);
    box.show("b", kA);
    EXPECT_EQ(box.poll(), Lines{"b drop no_ruleset"});
    box.publish(State::Enforce);
    box.show("c", kA);
    box.show("d", kA);
    EXPECT_EQ(box.poll(), (Lines{"c pass within_limits", "d drop over_limit"}))
        << "what was forwarded or dropped unjudged was not charged";
}

// Both workers meet frames of both keys; the owner of each judges them, so that two of each pass.
TEST(Worker, HandsPacketsToTheOwnersOfTheirKeys) {
    MemoryBox box{kOwned, {.workers = 2}};
    ASSERT_FALSE(box.set().steering.empty());
    box.set_time(kStart);
    for (std::size_t at = 0; at < 2; ++at) {
        for (int i = 0; i < 2; ++i) {
            box.show("a", kA, at);
            box.show("b", kB, at);
        }
    }
    Lines all;
    for (int round = 0; round < 2; ++round) {
        for (std::size_t at = 0; at < 2; ++at) {
            for (const std::string& line : box.poll(at)) {
                all.push_back(line);
            }
        }
    }
    const auto times = [&](std::string_view line) { return std::ranges::count(all, line); };
    EXPECT_EQ(all.size(), 8U);
    EXPECT_EQ(times("a pass within_limits"), 2);
    EXPECT_EQ(times("a drop over_limit"), 2);
    EXPECT_EQ(times("b pass within_limits"), 2);
    EXPECT_EQ(times("b drop over_limit"), 2);
    EXPECT_EQ(box.counters(0).handed_over.read() + box.counters(1).handed_over.read(), 4U);
}

Frame query(std::string_view source) {
    return udp()
        .src(source)
        .dst("192.0.2.1")
        .dport(53)
        .carries(test::message_octets(test::dns_query("a.example")));
}

// One of two queries at two workers is admitted: both wait until the owner of their key has said.
TEST(Worker, PacketsWaitForWhatTheOwnersOfTheirKeysSay) {
    MemoryBox box{kAsked, {.workers = 2}};
    ASSERT_TRUE(box.set().meter_plan.has_asked());
    box.set_time(kStart);
    box.show("a", query("10.0.0.1"), 0);
    EXPECT_EQ(box.poll(0), Lines{}) << "it waits";
    EXPECT_FALSE(box.was_idle());
    box.show("b", query("10.0.0.2"), 1);
    Lines all;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t at = 0; at < 2; ++at) {
            for (const std::string& line : box.poll(at)) {
                all.push_back(line);
            }
        }
    }
    std::ranges::sort(all);
    EXPECT_EQ(all, (Lines{"a pass within_limits", "b drop over_limit"}));
    EXPECT_TRUE(box.was_idle());
}

// An owner that stands still holds a packet up for 250 ms; the end of the process, or a panic, for
// no longer than itself.
TEST(Worker, NobodyWaitsForAnOwnerThatStandsStill) {
    enum class Ends : std::uint8_t { InTime, AtTheEnd, InAPanic };
    for (const Ends ends : {Ends::InTime, Ends::AtTheEnd, Ends::InAPanic}) {
        MemoryBox box{kAsked, {.workers = 2}};
        box.set_time(kStart);
        // The key's owner is one of the two; the other's packet waits for it.
        std::size_t asker = 0;
        box.show("a", query("10.0.0.1"), 0);
        Lines left = box.poll(0);
        for (const std::string& line : box.poll(0)) {
            left.push_back(line);
        }
        if (!left.empty()) {
            asker = 1;
            box.show("a", query("10.0.0.1"), 1);
            left = box.poll(1);
        }
        EXPECT_EQ(left, Lines{});
        EXPECT_EQ(box.worker(asker).reserve_client().size(), 1U);
        switch (ends) {
            case Ends::InTime:
                box.set_time(kStart + 249ms);
                EXPECT_EQ(box.poll(asker), Lines{});
                box.set_time(kStart + 251ms);
                EXPECT_EQ(box.poll(asker), Lines{"a drop no_answer"});
                break;
            case Ends::AtTheEnd:
                EXPECT_EQ(box.end(asker), Lines{"a drop no_answer"});
                break;
            case Ends::InAPanic:
                box.publish(State::Panic);
                EXPECT_EQ(box.poll(asker), Lines{"a pass panic"});
                break;
        }
        EXPECT_EQ(box.worker(asker).reserve_client().size(), 0U);
    }
}

// Amounts of a limit that workers share reach the key's owner between bursts: without, each could
// spend but a part of it, and both of them that part.
TEST(Worker, TellsOthersWhatItHasCharged) {
    MemoryBox box{kMerged, {.workers = 2}};
    ASSERT_TRUE(box.set().syncs);
    constexpr int kTurns = 200;
    for (int ms = 0; ms < kTurns; ++ms) {
        box.set_time(kStart + ms * 1ms);
        for (std::size_t at = 0; at < 2; ++at) {
            box.show("a", kA, at);
            (void)box.poll(at);
        }
    }
    EXPECT_GT(box.worker(0).ledger().read(LedgerEvent::Applied) +
                  box.worker(1).ledger().read(LedgerEvent::Applied),
              0U);
    // The burst of a hundred, and two that have come back in 200 ms.
    const std::uint64_t passed = box.counted(Verdict::Pass, 0) + box.counted(Verdict::Pass, 1);
    EXPECT_LE(passed, 102U);
    EXPECT_GE(passed, 90U);
}

// An operator's question is answered at the end of a turn, after what came in it.
TEST(Worker, AnswersAQuestionAboutAKey) {
    MemoryBox box{kTwo};
    const LoadedRule& rule = box.set().rules.front();
    const Result<ReadKey> key = read_key_of_rule(rule.keys, rule.missing_key, "10.0.0.1");
    ASSERT_TRUE(key);
    box.set_time(kStart);
    box.show("a", kA);
    ASSERT_TRUE(
        box.worker().keys().post({.load = box.set().load, .key = key->index, .bytes = key->bytes}));
    KeyAnswer answer;
    EXPECT_FALSE(box.worker().keys().take(answer));
    EXPECT_EQ(box.poll(), Lines{"a pass within_limits"});
    ASSERT_TRUE(box.worker().keys().take(answer));
    EXPECT_TRUE(answer.known);
    ASSERT_EQ(answer.limits().size(), 1U);
    EXPECT_TRUE(answer.limits()[0].own);
    EXPECT_EQ(answer.limits()[0].most, Units{2});
    EXPECT_EQ(answer.limits()[0].remaining, Units{1});
}

// One about a packet is answered by the verdict that it would get then, and spends nothing.
TEST(Worker, AnswersAQuestionAboutAPacket) {
    MemoryBox box{kTwo};
    box.set_time(kStart);
    WorkerCounters counters;
    CoreState core{
        .hash = KeyHasher{test::kBoxSecret}, .buckets = BucketStore{64, 64}, .counters = counters};
    const std::vector<std::byte> bytes = kA.bytes();
    const test::ReusedBurst burst = test::empty_burst();
    test::arrive(*burst, bytes);
    match_stages(*burst, box.set(), core, {kStart, {}});
    key_burst(*burst, box.set(), core);
    std::vector<LimitFinding> findings(4);
    const PacketQuestion question{box.set().load, burst.get(), {findings, {}}};
    const auto ask = [&](const PacketQuestion& asked) {
        PacketAnswer answer;
        EXPECT_TRUE(box.worker().packets().post(asked));
        (void)box.poll();
        EXPECT_TRUE(box.worker().packets().take(answer));
        return answer;
    };
    for (unsigned used = 0; used < 2; ++used) {
        const PacketAnswer answer = ask(question);
        ASSERT_TRUE(answer.run.decided);
        EXPECT_EQ(answer.state, State::Enforce);
        EXPECT_EQ(answer.run.decision.verdict, Verdict::Pass);
        EXPECT_EQ(answer.run.decision.reason, Reason::WithinLimits);
        EXPECT_EQ(findings.front().remaining, Units{2 - used});
        box.show("a", kA);
        EXPECT_EQ(box.poll(), Lines{"a pass within_limits"});
    }
    EXPECT_EQ(ask(question).run.decision.verdict, Verdict::Drop);
    EXPECT_EQ(ask(question).run.decision.wait, 1s);
    EXPECT_EQ(box.counted(Verdict::Pass), 2U);
    EXPECT_EQ(box.counted(Verdict::Drop), 0U);
    box.publish(State::Panic);
    EXPECT_EQ(ask(question).state, State::Panic);
    EXPECT_FALSE(ask({box.set().load + 1, burst.get(), {findings, {}}}).run.decided);
}

// The thread of a worker that ends after so many turns, and what it has been told.
struct Turns {
    unsigned left = 0;
    Now now{kStart, {}};
    std::vector<std::string> told;
};
class CountingHost {
public:
    using ReadTicks = MemoryHost::ReadTicks;
    explicit CountingHost(Turns& turns) : turns_{&turns} {}
    [[nodiscard]] Now now() const noexcept { return turns_->now; }
    void begin() noexcept { turns_->told.emplace_back("begin"); }
    [[nodiscard]] bool stopped() const noexcept { return turns_->left == 0; }
    void pass() noexcept {
        --turns_->left;
        turns_->told.emplace_back("pass");
    }
    void rest(unsigned turns) noexcept { turns_->told.push_back("rest " + std::to_string(turns)); }
    void end() noexcept { turns_->told.emplace_back("end"); }

private:
    Turns* turns_;
};
static_assert(WorkerHost<CountingHost>);
static_assert(WorkerHost<MemoryHost>);
static_assert(PacketIo<test::LeftFrames::Lane>);

// The host is told of every turn; a worker rests after turns in which nothing came alone.
TEST(Worker, RunsUntilItsHostHasStopped) {
    const Published<Running> running{std::make_unique<const Running>()};
    PeerLanes peers{1};
    AnswerBoards boards{256, 4096};
    std::vector<Record> records(16);
    WorkerCounters counters;
    KeyEvents events;
    CoreRoster roster;
    Turns turns{.left = 3};
    test::LeftFrames out;
    test::ShownFrame frame{"a", kA.bytes()};
    std::deque<MemoryFrame*> coming{&frame.frame};
    WorkerLanes<test::LeftFrames::Lane> lanes;
    lanes.lanes.emplace_back(coming, out);
    Worker<test::LeftFrames::Lane, CountingHost> worker{
        roster.enlist(),
        {running, peers, 1, capture_unit_budget(), {}, records, 0, boards},
        {.hash = KeyHasher{test::kBoxSecret},
         .buckets = BucketStore{64, 64},
         .counters = counters,
         .events = &events},
        std::move(lanes),
        CountingHost{turns}};
    worker.run();
    EXPECT_EQ(turns.told, (Lines{"begin", "pass", "pass", "rest 1", "pass", "rest 2", "end"}));
    EXPECT_EQ(out.take(), Lines{"a pass no_ruleset"});
}

}  // namespace
}  // namespace sluice::worker_test

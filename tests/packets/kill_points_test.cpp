#include "tests/guarded_memory.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

// A worker is killed before every single store to its buckets: a copy of the memory as it is then
// is taken up as the next process would, and every key must still owe what it owed before the
// packet that is being judged. The other side of the comparison is a box that has judged the
// packets before, and then that one too.
namespace sluice::kill_points_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::GuardedMemory;
using test::tcp;
using test::udp;

constexpr Instant kStart{1h};
constexpr int kSources = 24;

struct Scenario {
    std::string name;
    std::vector<std::string> rules;  // in force one after the other, round and round
    std::size_t keys = 64;
    std::size_t lines = 64;
    Nanoseconds between = 40ms;
    bool exact = false;       // no more may be owed after a kill than the packet adds
    bool connects = false;    // packets open connections, keep them open and reset them
    std::uint32_t ports = 6;  // of those connections
    Forgives forgives = Forgives::Nothing;  // as rules change
};

// What happens in one step: rules may change, then a packet comes or an operator does something.
struct Event {
    Instant at;
    std::string source;
    std::size_t rules;
    KeyAction action = KeyAction::Show;  // Show: a packet
    bool connects = false;
    std::uint16_t port = 0;   // of the connection
    std::uint16_t flags = 0;  // of its segment
};

std::vector<Event> events_of(const Scenario& scenario, int count) {
    std::mt19937 random{17};
    std::vector<Event> events;
    Instant at = kStart;
    for (int i = 0; i < count; ++i) {
        at += scenario.between * static_cast<int>(random() % 4);
        // Half of all packets come from a few.
        const auto source = random() % 2 == 0 ? random() % 3 : random() % kSources;
        Event event{at, "10." + std::to_string(source) + ".0.1",
                    static_cast<std::size_t>(i * 5 / count) % scenario.rules.size()};
        const auto action = random() % 30;
        event.action = action == 0   ? KeyAction::Reset
                       : action == 1 ? KeyAction::Grant
                       : action == 2 ? KeyAction::Forgive
                                     : event.action;
        if (scenario.connects) {
            constexpr std::uint16_t kFlags[] = {2, 2, 2, 16, 4};
            event.connects = true;
            event.port = static_cast<std::uint16_t>(1 + random() % scenario.ports);
            event.flags = kFlags[random() % std::size(kFlags)];
        }
        events.push_back(event);
    }
    return events;
}

// What one key still has, limit by limit, and its place in the penalty box.
struct Left {
    std::vector<std::uint64_t> units;
    std::uint64_t refusals = 0;
    Nanoseconds banned{};
};
using Everybody = std::vector<Left>;

using Ask = std::function<KeyAnswer(const KeyQuestion&, Instant)>;

Everybody ask_all(const Box& box, Instant at, const Ask& ask) {
    Everybody all;
    for (int source = 0; source < kSources; ++source) {
        const std::string key = "10." + std::to_string(source) + ".0.1";
        const KeyAnswer answer =
            ask({.load = box.set().load, .bytes = box.read_key(key)->bytes}, at);
        Left left{.units = {}, .refusals = answer.box.refusals.count(), .banned = answer.box.left};
        for (const KeyBucket& bucket : answer.limits()) {
            left.units.push_back(bucket.remaining.count());
        }
        all.push_back(left);
    }
    return all;
}

std::vector<std::byte> frame_of(const Event& event) {
    if (!event.connects) {
        return udp().src(event.source).payload(100).bytes();
    }
    const std::uint32_t seq = event.flags == 2 ? 99 : 100;
    return tcp().src(event.source).sport(event.port).dport(80).flags(event.flags).seq(seq).bytes();
}

void apply(Box& box, const Event& event) {
    if (event.action == KeyAction::Show) {
        (void)box.judge(frame_of(event), event.at);
        return;
    }
    (void)box.ask({.action = event.action,
                   .load = box.set().load,
                   .bytes = box.read_key(event.source)->bytes,
                   .units = Units{2}},
                  event.at);
}

void change_rules(Box& box, const Scenario& scenario, std::size_t& in_force, const Event& event) {
    if (in_force != event.rules) {
        in_force = event.rules;
        EXPECT_TRUE(box.reload(scenario.rules[event.rules], nullptr, nullptr, scenario.forgives)
                        .has_value());
    }
}

class Killer {
public:
    explicit Killer(const Scenario& scenario) : scenario_{scenario} {}

    void run() {
        const std::vector<Event> events = events_of(scenario_, test::rounds(400));
        for (at_ = 0; at_ < events.size() && !testing::Test::HasFailure(); ++at_) {
            run_event(events[at_]);
        }
        EXPECT_GT(instants_, events.size());
        testing::Test::RecordProperty("instants", std::to_string(instants_));
    }

private:
    // One event, killed before each of its stores and after the last.
    void run_event(const Event& event) {
        std::size_t in_force = in_force_;
        change_rules(worker_, scenario_, in_force, event);
        change_rules(box_, scenario_, in_force_, event);
        const Ask ask = [this](const KeyQuestion& question, Instant at) {
            return box_.ask(question, at);
        };
        const Everybody before = ask_all(box_, event.at, ask);
        const std::size_t free_before = box_.buckets().registry.pool().free();
        apply(box_, event);
        const Everybody after = ask_all(box_, event.at, ask);
        // What the event itself may take for its packet.
        const std::size_t taken = 4;
        lines_ = std::min(free_before, box_.buckets().registry.pool().free()) - taken;
        const auto killed = [&] {
            if (!testing::Test::HasFailure()) {
                ++instants_;
                check(event, before, after);
            }
        };
        store_.run_guarded([&] { apply(worker_, event); }, killed);
        killed();
    }

    void check(const Event& event, const Everybody& before, const Everybody& after) {
        left_behind_.copy_from(store_);
        WorkerCounters& counters = *counters_;
        CoreState core{.policy = {},
                       .hash = KeyHasher{test::kBoxSecret},
                       .buckets = BucketStore{in(left_behind_)},
                       .counters = counters};
        const BucketStore::Found found = core.buckets.recover(box_.set().slots, {event.at, {}});
        const Everybody now = ask_all(box_, event.at, [&](const KeyQuestion& question, Instant at) {
            return answer_key(question, box_.set(), core, {at, {}});
        });
        EXPECT_EQ(found.unknown, 0U) << where(event);
        for (std::size_t key = 0; key < now.size(); ++key) {
            const auto here = [&] { return where(event) + " key " + std::to_string(key); };
            compare(now[key], before[key], after[key], here);
        }
        EXPECT_GE(static_cast<std::ptrdiff_t>(core.buckets.registry.pool().free()),
                  static_cast<std::ptrdiff_t>(lines_))
            << "lines lost" << where(event);
    }

    // Only what fails asks where it was.
    void compare(const Left& now, const Left& before, const Left& after, const auto& where) const {
        for (std::size_t i = 0; i < now.units.size(); ++i) {
            EXPECT_LE(now.units[i], std::max(before.units[i], after.units[i])) << where();
            if (scenario_.exact) {
                EXPECT_GE(now.units[i] + 1, std::min(before.units[i], after.units[i])) << where();
            }
        }
        EXPECT_GE(now.banned, std::min(before.banned, after.banned)) << where();
        if (now.banned == Nanoseconds{0}) {
            EXPECT_GE(now.refusals, std::min(before.refusals, after.refusals)) << where();
        }
    }

    [[nodiscard]] StoreMemory in(const GuardedMemory& memory) const {
        return {memory.base(), layout_, 4096};
    }
    [[nodiscard]] std::string where(const Event& event) const {
        return " in event " + std::to_string(at_) + " of " + event.source + ", instant " +
               std::to_string(instants_);
    }

    const Scenario& scenario_;
    StoreLayout layout_{scenario_.keys, scenario_.lines};
    GuardedMemory store_{layout_.bytes()};        // of the worker that is killed
    GuardedMemory left_behind_{layout_.bytes()};  // as the next process finds it
    GuardedMemory plain_{layout_.bytes()};        // of the other box
    Box worker_{scenario_.rules[0], BucketStore{in(store_)}};
    Box box_{scenario_.rules[0], BucketStore{in(plain_)}};
    std::unique_ptr<WorkerCounters> counters_ = std::make_unique<WorkerCounters>();
    std::size_t in_force_ = 0;
    std::size_t at_ = 0;
    std::size_t instants_ = 0;
    std::size_t lines_ = 0;  // that are free at least
};

std::string rule(const std::string& limits, const std::string& more = "") {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n    limits: [" +
           limits + "]\n" + more;
}

std::vector<Scenario> plain_scenarios() {
    const std::string own =
        "    overrides: {inline: [{key: [10.0.0.1], limits: {\"1\": {rate: 3/s, burst: 9}}}, "
        "{key: [10.1.0.1], limits: {\"1\": {burst: 4}}}]}\n";
    return {
        {.name = "TokenBucket",
         .rules = {rule("{algorithm: token_bucket, rate: 7/s, burst: 5}")},
         .exact = true},
        {.name = "FullTable",
         .rules = {rule("{algorithm: token_bucket, rate: 7/m, burst: 5}")},
         .keys = 12,
         .lines = 16},
        {.name = "NewNumbers",
         .rules = {rule("{algorithm: token_bucket, rate: 7/s, burst: 15}"),
                   rule("{algorithm: token_bucket, rate: 3/s, burst: 8}"),
                   rule("{algorithm: token_bucket, rate: 1000/s, burst: 25}")},
         .exact = true},
        {.name = "OwnNumbers",
         .rules = {rule("{algorithm: token_bucket, rate: 7/s, burst: 5}", own),
                   rule("{algorithm: token_bucket, rate: 7/s, burst: 5}"),
                   rule("{algorithm: token_bucket, rate: 2/s, burst: 6}", own)},
         .exact = true},
        {.name = "FixedWindow",
         .rules = {rule("{algorithm: fixed_window, count: 4, window: 1s, phase: first}"),
                   rule("{algorithm: fixed_window, count: 6, window: 1s, phase: first}")},
         .lines = 40},
        {.name = "SlidingWindow",
         .rules = {rule("{algorithm: sliding_window, count: 4, window: 1s}"),
                   rule("{algorithm: sliding_window, count: 3, window: 1s}")},
         .lines = 40},
        {.name = "SubWindows",
         .rules = {rule("{algorithm: sliding_counters, count: 12, window: 2s, buckets: 16}"),
                   rule("{algorithm: sliding_counters, count: 9, window: 2s, buckets: 16}")},
         .lines = 60},
        {.name = "Log",
         .rules = {rule("{algorithm: sliding_log, count: 12, window: 2s}"),
                   rule("{algorithm: sliding_log, count: 9, window: 2s}")},
         .lines = 60},
        {.name = "LogInAFullPool",
         .rules = {rule("{algorithm: sliding_log, count: 12, window: 2s}")},
         .lines = 20},
        {.name = "Colors",
         .rules = {rule("{algorithm: srtcm, per: byte, cir: 700B/s, cbs: 500B, ebs: 400B}"),
                   rule("{algorithm: srtcm, per: byte, cir: 300B/s, cbs: 600B, ebs: 300B}")},
         .lines = 40},
        {.name = "Bans",
         .rules = {rule("{algorithm: token_bucket, rate: 2/s, burst: 2}",
                        "    ban: {after: 3, within: 10s, for: 2s}\n")},
         .lines = 60,
         .between = 60ms},
        {.name = "OpenConnections",
         .rules = {rule("{algorithm: concurrency, count: 4, idle: 2s}"),
                   rule("{algorithm: concurrency, count: 3, idle: 2s}")},
         .lines = 150,
         .connects = true},
        {.name = "OpenConnectionsInAFullPool",
         .rules = {rule("{algorithm: concurrency, count: 6, idle: 2s}")},
         .lines = 30,
         .connects = true},
        {.name = "Values",
         .rules = {rule("{algorithm: distinct, of: l4.sport, count: 4, window: 2s}"),
                   rule("{algorithm: distinct, of: l4.sport, count: 3, window: 2s}")},
         .lines = 40,
         .connects = true},
        {.name = "ValuesInSeveralLines",
         .rules = {rule("{algorithm: distinct, of: l4.sport, count: 30, window: 10s}")},
         .lines = 80,
         .connects = true,
         .ports = 60},
        {.name = "ValuesInAFullPool",
         .rules = {rule("{algorithm: distinct, of: l4.sport, count: 30, window: 10s}")},
         .lines = 22,
         .connects = true,
         .ports = 60},
        {.name = "SeveralLimits",
         .rules = {rule("{algorithm: token_bucket, rate: 7/s, burst: 5}, "
                        "{algorithm: sliding_window, count: 9, window: 3s}, "
                        "{algorithm: sliding_log, count: 8, window: 2s}")},
         .keys = 30,
         .lines = 80},
    };
}

// And those in which numbers change once more, with what is owed beyond them forgiven.
std::vector<Scenario> scenarios() {
    std::vector<Scenario> all = plain_scenarios();
    for (const Scenario& plain : plain_scenarios()) {
        if (plain.rules.size() > 1 && !plain.connects) {
            all.push_back(plain);
            all.back().name += "Forgiven";
            all.back().forgives = Forgives::Excess;
        }
    }
    return all;
}

class KillPoints : public testing::TestWithParam<Scenario> {};

TEST_P(KillPoints, NoDebtIsLostBetweenAnyTwoStores) {
    Killer{GetParam()}.run();
}

INSTANTIATE_TEST_SUITE_P(All, KillPoints, testing::ValuesIn(scenarios()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace sluice::kill_points_test

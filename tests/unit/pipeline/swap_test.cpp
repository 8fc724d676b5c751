#include "lib/load/loaded_rules.hpp"
#include "lib/pipeline/run_burst.hpp"
#include "lib/policy/compile.hpp"
#include "lib/share/published.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace sluice {

// The worker has passed a burst boundary when it has counted one burst more than was under way.
class QuiesceBoard {
public:
    void quiescent() { bursts_.fetch_add(1, std::memory_order_release); }
    [[nodiscard]] GracePeriod wait() const {
        const std::uint64_t mark = bursts_.load(std::memory_order_acquire) + 2;
        while (bursts_.load(std::memory_order_acquire) < mark) {
            std::this_thread::yield();
        }
        return {};
    }

private:
    std::atomic<std::uint64_t> bursts_{0};
};

}  // namespace sluice

namespace sluice::swap_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRules = 1000;
constexpr std::size_t kPacketsOfBurst = 8;

// A rule for each of a thousand ports: one set drops, the other lets pass, in the opposite order.
// Whoever judged by half of one and half of the other would name another rule, or none. A limit
// counts what neither decides.
RuleSet compiled_set(bool drops) {
    std::string text = "version: 1\nrules:\n";
    for (std::size_t i = 0; i < kRules; ++i) {
        const std::size_t port = drops ? i : kRules - 1 - i;
        text += "  - {id: p" + std::to_string(port) + ", mode: enforce, when: l4.dport eq " +
                std::to_string(port) + ", on_match: " + (drops ? "drop" : "allow") + "}\n";
    }
    text +=
        "  - {id: rest, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: " +
        std::string{drops ? "100/d" : "200/d"} + ", burst: 1000}]}\n";
    Problems problems{"r"};
    std::optional<CompiledRules> compiled =
        compile_rules({"r", text}, Purpose::Enforce, {}, problems);
    EXPECT_TRUE(compiled.has_value()) << render(problems.list().front(), text);
    return std::move(compiled->set);
}

struct MatchedRules {
    std::uint64_t packets = 0;
    std::uint64_t by_drops = 0;
    std::uint64_t by_allows = 0;
    std::uint64_t limited = 0;  // admitted by the limit
    std::uint64_t wrong = 0;
};

void decide_one(const Packet& packet, std::size_t port, MatchedRules& judged, bool& drops,
                bool& allows) {
    const Decision& decision = packet.decision;
    ++judged.packets;
    if (port >= kRules) {
        const bool right = decision.rule == kNoRule ? decision.reason == Reason::WithinLimits
                                                    : decision.rule == kRules;
        judged.limited += decision.reason == Reason::WithinLimits ? 1 : 0;
        judged.wrong += right ? 0 : 1;
        return;
    }
    const bool dropped = decision.verdict == Verdict::Drop && decision.reason == Reason::DenyRule &&
                         decision.rule == port;
    const bool allowed = decision.verdict == Verdict::Pass &&
                         decision.reason == Reason::AllowRule && decision.rule == kRules - 1 - port;
    drops |= dropped;
    allows |= allowed;
    judged.by_drops += dropped ? 1 : 0;
    judged.by_allows += allowed ? 1 : 0;
    judged.wrong += dropped || allowed ? 0 : 1;
}

struct Worker {
    explicit Worker(const Published<LoadedRules>& published) : running{published} {}

    void run(const Signal& stop, QuiesceBoard& board) {
        Burst burst;
        std::vector<test::Octets> frames;
        for (std::size_t i = 0; i < kRules + 100; ++i) {
            frames.push_back(
                test::udp().src("10.0.0.1").dport(static_cast<std::uint16_t>(i)).bytes());
        }
        for (std::size_t at = 0; !stop.raised(); at = (at + kPacketsOfBurst) % frames.size()) {
            burst.clear();
            for (std::size_t i = 0; i < kPacketsOfBurst; ++i) {
                const test::Octets& frame = frames[(at + i) % frames.size()];
                (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In,
                                7);
            }
            run_burst(burst, running.adopt().set(), core, {Instant{1h}, {}});
            bool drops = false;
            bool allows = false;
            for (std::size_t i = 0; i < kPacketsOfBurst; ++i) {
                decide_one(burst.packets()[i], (at + i) % frames.size(), judged, drops, allows);
            }
            judged.wrong += drops && allows ? 1 : 0;
            board.quiescent();
        }
    }

    const Published<LoadedRules>& running;
    WorkerCounters counters;
    CoreState core{.policy = {},
                   .hash = KeyHasher{{1, 2}},
                   .buckets = BucketStore{64, 64},
                   .counters = counters};
    MatchedRules judged;
};

// Every packet is judged by one whole set, every burst by one, none is left out, and what is owed
// stays owed: the limit admits its burst once, however often its numbers change.
TEST(Swap, NoPacketIsJudgedByHalfASet) {
    const RuleSet sets[] = {compiled_set(true), compiled_set(false)};
    const Worker* watched = nullptr;
    const LoadedRules* latest = nullptr;
    std::uint64_t loads = 0;
    const Environment tables{
        .secret = {1, 2},
        .tables = {
            [&](LimitSlot slot) { return watched->core.buckets.registry.entries_of(slot).read(); },
            [&] { return watched == nullptr ? 0 : watched->counters.settled.read(); }}};
    const auto next = [&] {
        Environment environment = tables;
        environment.before = latest;
        Result<LoadedRules> loaded = LoadedRules::make(sets[loads % 2], environment);
        // Refused while entries of too many numbers may be about: the worker is at it.
        while (!loaded) {
            std::this_thread::yield();
            loaded = LoadedRules::make(sets[loads % 2], environment);
        }
        ++loads;
        auto made = std::make_unique<const LoadedRules>(*std::move(loaded));
        latest = made.get();
        return made;
    };
    Published<LoadedRules> running{next()};
    Worker worker{running};
    watched = &worker;
    QuiesceBoard board;
    Signal stop;
    std::thread thread{[&] { worker.run(stop, board); }};
    for (int swap = 0; swap < 60; ++swap) {
        Retired<LoadedRules> old = running.publish(next());
        std::move(old).reclaim(board.wait());
    }
    stop.raise(true);
    thread.join();
    const MatchedRules& judged = worker.judged;
    EXPECT_EQ(judged.wrong, 0U);
    EXPECT_GT(judged.by_drops, 0U);
    EXPECT_GT(judged.by_allows, 0U);
    EXPECT_LE(judged.limited, 1000U);
    std::uint64_t counted = 0;
    for (std::size_t row = 0; row <= kRules; ++row) {
        const RuleCounters& rule = worker.counters.rules[row];
        counted += rule.admitted.read() + rule.exceeded.read() + rule.skipped.read();
    }
    EXPECT_EQ(counted, judged.packets);
}

}  // namespace
}  // namespace sluice::swap_test

#include "lib/engine/run_burst.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/share/published.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

Rule rule_of_port(std::size_t port, ActionIndex action) {
    Rule rule;
    rule.id = "p" + std::to_string(port);
    rule.mode = Mode::Enforce;
    rule.on_match = OnMatch::Act;
    rule.match_action = action;
    return rule;
}

Rule limit_of_source(std::uint64_t per_day) {
    Rule rule;
    rule.id = "rest";
    rule.mode = Mode::Enforce;
    rule.keys.push_back({{.field = Field::IpSrc}});
    rule.limits.push_back(
        {.identity = 1,
         .name = "1",
         .limit = TokenBucketLimit{*Limit::make({Units{per_day}, 24h}, Units{1000})}});
    return rule;
}

// Rule i matches destination port ports[i] with clause i; the last rule matches every packet. Row 0
// of the dimension has no bit set, row i + 1 the bit of clause i.
ClassifierParts parts_of(const std::vector<std::size_t>& ports) {
    ClassifierParts parts;
    parts.always = {static_cast<std::uint32_t>(ports.size())};
    parts.blocks.resize(kBlockBits);
    for (std::size_t bit = 0; bit < kBlockBits; ++bit) {
        parts.blocks[bit].words[bit / 64] = std::uint64_t{1} << bit % 64;
    }
    DimensionParts dimension{.field = Field::L4Dport};
    dimension.used = {(std::uint64_t{1} << blocks_for(ports.size())) - 1};
    dimension.open = {0};
    dimension.steps.resize(ports.size());
    for (std::size_t clause = 0; clause < ports.size(); ++clause) {
        parts.rule_of.push_back(static_cast<std::uint32_t>(clause));
        dimension.steps[ports[clause]] = {ports[clause], static_cast<std::uint32_t>(clause + 1)};
        dimension.open.push_back(std::uint64_t{1} << clause / kBlockBits);
        dimension.references.push_back(static_cast<std::uint32_t>(clause % kBlockBits));
    }
    dimension.steps.push_back({ports.size(), 0});
    parts.dimensions.push_back(std::move(dimension));
    return parts;
}

// A rule for each of a thousand ports: one set drops, the other lets pass, in the opposite order.
// Whoever judged by half of one and half of the other would name another rule, or none. A limit
// counts what neither decides.
RuleSet set_of_ports(bool drops) {
    RuleSet set;
    std::vector<std::size_t> ports;
    for (std::size_t i = 0; i < kRules; ++i) {
        ports.push_back(drops ? i : kRules - 1 - i);
        set.rules.push_back(rule_of_port(ports.back(), drops ? kDropAction : kPassAction));
    }
    set.rules.push_back(limit_of_source(drops ? 100 : 200));
    set.classifier = Classifier{parts_of(ports)};
    return set;
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
    const RuleSet sets[] = {set_of_ports(true), set_of_ports(false)};
    for (const RuleSet& set : sets) {
        ASSERT_EQ(find_fault(set), std::nullopt);
    }
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

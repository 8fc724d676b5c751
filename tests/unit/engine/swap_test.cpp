#include "lib/engine/worker.hpp"
#include "lib/engine/worker/memory_host.hpp"
#include "lib/engine/worker/memory_io.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/share/published.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/turn_board.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::swap_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRules = 1000;
constexpr std::size_t kPacketsOfTurn = 8;

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

// A frame for each port, and for a few that no rule names, again and again: so many a turn.
class Frames {
public:
    Frames() {
        for (std::size_t port = 0; port < kRules + 100; ++port) {
            bytes_.push_back(
                test::udp().src("10.0.0.1").dport(static_cast<std::uint16_t>(port)).bytes());
            const auto size = static_cast<std::uint32_t>(bytes_.back().size());
            frames_.push_back({.view = {bytes_.back(), size}, .port = 7});
        }
    }
    void bring() {
        for (std::size_t i = 0; i < kPacketsOfTurn; ++i, next_ = (next_ + 1) % frames_.size()) {
            incoming_.push_back(&frames_[next_]);
        }
    }
    [[nodiscard]] std::deque<MemoryFrame*>& incoming() { return incoming_; }
    [[nodiscard]] std::size_t port_of(const Packet& packet) const {
        return static_cast<std::size_t>(static_cast<const MemoryFrame*>(packet.buffer) -
                                        frames_.data());
    }

private:
    std::deque<test::Octets> bytes_;  // the frames refer to them
    std::vector<MemoryFrame> frames_;
    std::deque<MemoryFrame*> incoming_;
    std::size_t next_ = 0;
};

// The way by which bursts leave.
struct Judge {
    const Frames& frames;
    MatchedRules judged{};

    using Lane = MemoryIo<Judge>;
    void send(Burst& burst, std::span<const Action> /*actions*/, WorkerCounters& /*counters*/,
              const SendContext<Lane>& /*context*/, Lane& /*lane*/) noexcept {
        bool drops = false;
        bool allows = false;
        for (const Packet& packet : burst.packets()) {
            decide_one(packet, frames.port_of(packet), judged, drops, allows);
        }
        judged.wrong += drops && allows ? 1 : 0;
    }
    void depart(std::span<MemoryFrame*> /*frames*/, WorkerCounters& /*counters*/) noexcept {}
};

// The thread of the worker, at one instant.
class SwapHost {
public:
    using ReadTicks = MemoryHost::ReadTicks;

    SwapHost(Frames& frames, QuiesceBoard& board, const Signal& stop)
        : frames_{&frames}, board_{&board}, stop_{&stop} {}

    [[nodiscard]] Now now() const noexcept { return {Instant{1h}, {}}; }
    void begin() noexcept { frames_->bring(); }
    [[nodiscard]] bool stopped() const noexcept { return stop_->raised(); }
    void pass() noexcept {
        board_->quiescent();
        frames_->bring();
    }
    void rest(unsigned /*turns*/) const noexcept {}
    void end() const noexcept {}

private:
    Frames* frames_;
    QuiesceBoard* board_;
    const Signal* stop_;
};

// A worker of its own, and all that it refers to.
struct Station {
    explicit Station(const Published<Running>& published) : running{published} {}

    const Published<Running>& running;
    PeerLanes peers{1};
    AnswerBoards boards{256, 4096};
    std::vector<Record> records = std::vector<Record>(16);
    WorkerCounters counters;
    QuiesceBoard board;
    Signal stop;
    Frames frames;
    Judge judge{frames};
    CoreRoster roster;
    Worker<Judge::Lane, SwapHost> worker{
        roster.enlist(),
        {running, peers, 1, capture_unit_budget(), {}, records, 0, boards},
        {.policy = {.tell_wait = false},
         .hash = KeyHasher{{1, 2}},
         .buckets = BucketStore{64, 64},
         .counters = counters},
        lanes(),
        SwapHost{frames, board, stop}};

private:
    [[nodiscard]] WorkerLanes<Judge::Lane> lanes() {
        WorkerLanes<Judge::Lane> made;
        made.lanes.emplace_back(frames.incoming(), judge);
        return made;
    }
};

// Every packet is judged by one whole set, every burst by one, none is left out, and what is owed
// stays owed: the limit admits its burst once, however often its numbers change.
TEST(Swap, NoPacketIsJudgedByHalfASet) {
    const RuleSet sets[] = {set_of_ports(true), set_of_ports(false)};
    for (const RuleSet& set : sets) {
        ASSERT_EQ(find_fault(set), std::nullopt);
    }
    const Station* watched = nullptr;
    std::shared_ptr<const LoadedRules> latest;
    std::uint64_t loads = 0;
    const Environment tables{
        .secret = {1, 2},
        .tables = {[&](LimitSlot slot) {
                       return watched->worker.buckets().registry.entries_of(slot).read();
                   },
                   [&] { return watched == nullptr ? 0 : watched->counters.settled.read(); }}};
    const auto next = [&] {
        Environment environment = tables;
        environment.before = latest.get();
        Result<LoadedRules> loaded = LoadedRules::make(sets[loads % 2], environment);
        // Refused while entries of too many numbers may be about: the worker is at it.
        while (!loaded) {
            std::this_thread::yield();
            loaded = LoadedRules::make(sets[loads % 2], environment);
        }
        ++loads;
        latest = std::make_shared<const LoadedRules>(*std::move(loaded));
        return std::make_unique<const Running>(
            Running{.state = Running::State::Enforce, .loaded = latest});
    };
    Published<Running> running{next()};
    Station station{running};
    watched = &station;
    std::thread thread{[&] { station.worker.run(); }};
    for (int swap = 0; swap < 60; ++swap) {
        Retired<Running> old = running.publish(next());
        std::move(old).reclaim(station.board.wait());
    }
    station.stop.raise(true);
    thread.join();
    const MatchedRules& judged = station.judge.judged;
    EXPECT_EQ(judged.wrong, 0U);
    EXPECT_GT(judged.by_drops, 0U);
    EXPECT_GT(judged.by_allows, 0U);
    EXPECT_LE(judged.limited, 1000U);
    std::uint64_t counted = 0;
    for (std::size_t row = 0; row <= kRules; ++row) {
        const RuleCounters& rule = station.counters.rules[row];
        counted += rule.admitted.read() + rule.exceeded.read() + rule.skipped.read();
    }
    EXPECT_EQ(counted, judged.packets);
}

}  // namespace
}  // namespace sluice::swap_test

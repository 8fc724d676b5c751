#include "tests/fakes/fake_worker.hpp"

#include "lib/engine/worker/packet_asker.hpp"
#include "lib/wire/packet_messages.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace sluice {
namespace {

DecisionState state_of(const Decision& decision) {
    return {.verdict = decision.verdict,
            .reason = decision.reason,
            .rule = decision.rule,
            .key = decision.key,
            .limit = decision.limit,
            .wait_ns = decision.wait.count()};
}
FoundLimit state_of(const LimitFinding& found) {
    return {.rule = found.rule,
            .limit = found.limit,
            .unit = found.unit,
            .asked = found.asked,
            .admitted = found.asked && found.conformance == Conformance::Green,
            .charged = found.charged,
            .has_bucket = found.has_bucket,
            .cost = found.cost.count(),
            .remaining = found.remaining.count(),
            .wait_ns = found.wait.count()};
}

AskedArrival arrival_of(const AskedFrame& frame) {
    const auto held = static_cast<std::uint32_t>(frame.bytes.size());
    return {{frame.bytes, std::max(frame.wire_size, held)}, frame.dir, 0};
}

}  // namespace

PacketState fake_answer(const AskPacket& ask, const RuleSet& rules) {
    PacketState state{.lcore = 1, .is_sure = true};
    const HashSecret secret{};
    const Result<LoadedRules> loaded = LoadedRules::make(RuleSet{rules}, {.secret = secret});
    if (!loaded) {
        return state;
    }
    const Now now{Instant{std::chrono::hours{1}}, {}};
    const auto asker = PacketAsker::make({.policy = {}, .units = capture_unit_budget()}, *loaded);
    for (const AskedFrame& frame : ask.before) {
        (*asker)->follow(arrival_of(frame), now);
    }
    (*asker)->match(arrival_of(ask.packet), now);
    const PacketQuestion question = (*asker)->question();
    WorkerCounters counters;
    CoreState core{.hash = KeyHasher{secret}, .buckets = BucketStore{64, 64}, .counters = counters};
    const DryRun run = dry_run_burst(*question.burst, loaded->set(), core, now, question.room);
    state.answered = run.decided;
    state.decision = state_of(run.decision);
    for (const LimitFinding& found : (*asker)->limits(run)) {
        state.limits.push_back(state_of(found));
    }
    for (const BanFinding& found : (*asker)->bans(run)) {
        state.bans.push_back({.rule = found.rule,
                              .key = found.key,
                              .unit = found.unit,
                              .refusals = found.refusals.count(),
                              .after = found.after.count(),
                              .left_ns = found.left.count()});
    }
    return state;
}

}  // namespace sluice

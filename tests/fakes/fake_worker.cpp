#include "tests/fakes/fake_worker.hpp"

#include "dataplane/box/packet_findings.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace sluice {
namespace {

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
    add_findings(**asker, run, state);
    return state;
}

}  // namespace sluice

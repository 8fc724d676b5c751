#include "control/explain/asked_account.hpp"

#include "control/explain/account_text.hpp"
#include "lib/engine/worker/packet_asker.hpp"
#include "lib/policy/expression/reads_list.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {
namespace {

constexpr std::size_t kBuckets = std::size_t{1} << 12;  // for those that a key would get

ReplaySetup setup_of(const AskedPacket& packet) {
    ReplaySetup setup{.units = capture_unit_budget(few_units(packet.treatment.units)),
                      .pair = packet.pair};
    setup.policy.malformed = packet.treatment.malformed;
    setup.policy.tunnels = packet.treatment.tunnels;
    setup.buckets = kBuckets;
    return setup;
}

// Frames by the wall clock: the packet comes now, those before it as long ago as they say.
class Arrivals {
public:
    [[nodiscard]] CapturedFrame of(const AskedFrame& asked) {
        const std::uint64_t age = std::min(asked.age_ns, static_cast<std::uint64_t>(now_.count()));
        last_ = std::max(last_, now_ - Nanoseconds{static_cast<std::int64_t>(age)});
        const auto held = static_cast<std::uint32_t>(asked.bytes.size());
        return {.number = 1,
                .timestamp = Instant{last_},
                .bytes = asked.bytes,
                .wire_size = std::max(asked.wire_size, held)};
    }

private:
    Nanoseconds now_ = std::chrono::duration_cast<Nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    Nanoseconds last_{};
};

PacketAccount account_in(const AskedPacket& packet, const ReplayRules& rules) {
    const ReplaySetup setup = setup_of(packet);
    WorkerSet worker{setup, rules.loaded};
    Arrivals arrivals;
    for (const AskedFrame& before : packet.ask.before) {
        const CapturedFrame frame = arrivals.of(before);
        worker.follow(frame, before.dir, frame.timestamp);
    }
    const CapturedFrame frame = arrivals.of(packet.ask.packet);
    return account_of(frame, worker.match(frame, packet.ask.packet.dir, frame.timestamp),
                      packet.state, rules, setup.pair);
}

// Reasons name entries of lists, and texts that were sought in them.
void leave_out_lists(PacketAccount& account, const ReplayRules& rules) {
    for (std::size_t i = 0; i < account.rules.size(); ++i) {
        if (reads_list(rules.summaries[i].condition)) {
            account.rules[i].because = "its condition reads a list, of which nothing is told here";
        }
    }
}

// Rules and actions of an answer are places in the set.
bool fits(const PacketState& state, const LoadedSet& set) {
    const auto known = [&set](const DecisionState& one) {
        return (one.rule == kNoRule || one.rule < set.rules.size()) &&
               one.action < set.actions.size();
    };
    return known(state.decision) && std::ranges::all_of(state.units, known);
}

}  // namespace

Result<AskedAccount> asked_account(const AskedPacket& packet, const ReplayRules& rules) {
    if (!fits(packet.state, rules.loaded.set())) {
        return Error{Errc::Refused, "the dataplane has decided by other rules; try again"};
    }
    PacketAccount account = account_in(packet, rules);
    if (!packet.tells_lists) {
        leave_out_lists(account, rules);
    }
    return AskedAccount{account_json(account, packet.pair), account_text(account, packet.pair)};
}

}  // namespace sluice

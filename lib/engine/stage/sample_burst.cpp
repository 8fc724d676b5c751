#include "lib/engine/stage/sample_burst.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/engine/burst/evaluated_packet.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice {
namespace {

// One rule that met one unit of the packet.
struct Sampled {
    const LoadedSet& set;
    const EvaluatedUnit& unit;
    const Match& match;
    const LimitCheck* checks;  // of the rule
    CoreState& core;
    Now now;

    [[nodiscard]] const LoadedRule& rule() const noexcept { return set.rules[match.rule]; }
    [[nodiscard]] const Decision& decision() const noexcept { return unit.decision; }
    // True if the rule's limits were looked at: budgets in turn until one has room, rules unless it
    // was decided before them.
    [[nodiscard]] bool asked() const noexcept {
        const Decision& decision = this->decision();
        if (rule().on_match == OnMatch::Bypass) {
            return decision.reason != Reason::Bypass || match.rule <= decision.rule;
        }
        return rule().has_limits() && decision.reason != Reason::Bypass &&
               decision.reason != Reason::AllowRule && decision.reason != Reason::DenyRule &&
               decision.reason != Reason::Answered;
    }
    // True if it is the first unit of the packet that the rule matches, or one of those that a
    // limit of the rule counts one by one.
    [[nodiscard]] bool counts_unit() const noexcept {
        const std::vector<LoadedLimit>& limits = rule().limits;
        return match.previous == 0 ||
               std::any_of(limits.begin(), limits.end(),
                           [](const LoadedLimit& limit) { return !is_of_packet(limit.per); });
    }
    [[nodiscard]] bool denied() const noexcept {
        const Scratch& scratch = unit.burst->scratch();
        return has_row(scratch.rules[scratch.active_of[match.rule]].refused, unit.row);
    }
};

// Unknown of a key that has no bucket, or that of a wider key. A banned key has nothing left,
// whatever its bucket holds, and one that is exempt is asked for nothing.
std::uint64_t remaining_of(const Sampled& sampled, std::size_t limit, ByteView key) noexcept {
    const LoadedLimit& metered = sampled.rule().limits[limit];
    const RuleKeys keys{sampled.rule(), metered.key, key, sampled.core.hash};
    const KeyStatus status = policy_of(keys, sampled.core, sampled.now).status;
    if (status != KeyStatus::Limited) {
        return is_banned(status) ? KeySample::kBanned : KeySample::kExempt;
    }
    const LimitCheck& check = sampled.checks[limit];
    const Entry* entry = sampled.core.buckets.keys.find(check.key);
    if (check.cost == Units{0} || entry == nullptr || entry->stamp().aggregation_level != 0) {
        return KeySample::kUnknown;
    }
    const LimitOverride* own = KeyOverride{keys, metered.key, sampled.now}.of_limit(limit);
    const LimitRegistry& registry = sampled.core.buckets.registry;
    return remaining(registry.cell_of(*entry), own == nullptr ? metered.limit : own->numbers,
                     registry.pool(), sampled.now)
        .count();
}

void notify(const Sampled& sampled, std::size_t limit, std::uint32_t weight) noexcept {
    const LoadedRule& rule = sampled.rule();
    KeyBytes key;
    if (key_of(rule.keys[rule.limits[limit].key], rule.missing_key,
               sampled.unit.burst->headers_of(sampled.unit.row),
               sampled.unit.burst->frame(sampled.unit.row).bytes, key) == KeyOutcome::Missing) {
        return;
    }
    KeySample* record = sampled.core.sampler->next();
    if (record == nullptr) {
        return;
    }
    record->load = sampled.set.load;
    record->rule = sampled.match.rule;
    record->weight = weight;
    record->bytes = sampled.unit.burst->frame(sampled.unit.row).wire_size;
    record->remaining = remaining_of(sampled, limit, key.view());
    record->denied = sampled.denied();
    record->size = static_cast<std::uint16_t>(key.view().size());
    std::memcpy(record->key.data(), key.view().data(), key.view().size());
    sampled.core.sampler->commit();
}

// Each key once, by its first limit.
void notify_keys(const Sampled& sampled, std::uint32_t weight) noexcept {
    const LoadedRule& rule = sampled.rule();
    for (std::size_t limit = 0; limit < rule.limits.size(); ++limit) {
        if (limit == 0 || rule.limits[limit].key != rule.limits[limit - 1].key) {
            notify(sampled, limit, weight);
        }
    }
}

// The row of the packet with that number, of which there are more in `rows`.
unsigned nth_row(RowMask rows, std::size_t number) noexcept {
    for (; number != 0; --number) {
        rows &= rows - 1;
    }
    return static_cast<unsigned>(std::countr_zero(rows));
}

}  // namespace

void sample_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    const auto packets = static_cast<std::size_t>(std::popcount(burst.live()));
    const KeySampler::Pick pick = core.sampler->pick(packets, now.at);
    const unsigned row = nth_row(burst.live(), pick.packet);
    if (pick.weight == 0 || has_row(burst.headers().malformed, row)) {
        return;
    }
    const PacketChecks of = collect_checks(burst, row, set);
    for (const EvaluatedUnit& unit : of.units) {
        for (const Match& match : unit.matches) {
            const Sampled sampled{set, unit, match, &of.checks[match.first], core, now};
            if (!match.skipped && sampled.asked() && sampled.counts_unit()) {
                notify_keys(sampled, pick.weight);
            }
        }
    }
}

}  // namespace sluice

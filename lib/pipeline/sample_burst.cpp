#include "lib/pipeline/sample_burst.hpp"

#include "lib/meter/any_meter.hpp"
#include "lib/rules/group.hpp"

#include <cstring>

namespace sluice {
namespace {

// One rule that met the packet.
struct Sampled {
    const LoadedSet& set;
    const Packet& packet;
    const Match& match;
    const Look* looks;  // of the rule
    CoreState& core;
    Now now;

    [[nodiscard]] const LoadedRule& rule() const noexcept { return set.rules[match.rule]; }
    // Whether the rule's limits were looked at: budgets in turn until one has room, rules unless it
    // was decided before them.
    [[nodiscard]] bool asked() const noexcept {
        const Decision& decision = packet.decision;
        if (rule().on_match == OnMatch::Bypass) {
            return decision.reason != Reason::Bypass || match.rule <= decision.rule;
        }
        return rule().has_limits() && decision.reason != Reason::Bypass &&
               decision.reason != Reason::AllowRule && decision.reason != Reason::DenyRule;
    }
    // The short way notes only what it made of the packet.
    [[nodiscard]] bool denied() const noexcept {
        return match.refused ||
               (packet.decision.rule == match.rule && packet.decision.reason == Reason::OverLimit);
    }
};

// Unknown also when a later packet of the burst has moved the bucket, or it is a coarser key's.
std::uint64_t remaining_of(const Sampled& sampled, std::size_t limit) noexcept {
    const Look& look = sampled.looks[limit];
    if (look.cost == Units{0} || look.entry == nullptr || look.entry->filed() != look.key.filed ||
        look.entry->stamp().step != 0) {
        return KeySample::kUnknown;
    }
    const bool may_be_own = sampled.rule().overrides != nullptr;
    if (may_be_own && !look.asked) {
        return KeySample::kUnknown;
    }
    Tenants& tenants = sampled.core.buckets.tenants;
    if (may_be_own && look.numbers == nullptr && look.entry->has_own_numbers()) {
        const OwnBucket& bucket = tenants.pool().at<OwnBucket>(look.entry->cell().rest);
        return remaining(bucket.state, bucket.limit(), sampled.now.at).count();
    }
    const AnyLimit* numbers =
        may_be_own && look.numbers != nullptr ? look.numbers : &sampled.rule().limits[limit].limit;
    return remaining(tenants.cell_of(*look.entry), *numbers, tenants.pool(), sampled.now).count();
}

void tell(const Sampled& sampled, std::size_t limit, std::uint32_t weight) noexcept {
    const LoadedRule& rule = sampled.rule();
    KeyBytes key;
    if (key_of(rule.keys[rule.limits[limit].key], rule.missing_key, sampled.packet.flow,
               sampled.packet.frame.bytes, key) == KeyOutcome::Missing) {
        return;
    }
    KeySample* record = sampled.core.sampler->next();
    if (record == nullptr) {
        return;
    }
    record->load = sampled.set.load;
    record->rule = sampled.match.rule;
    record->weight = weight;
    record->remaining = remaining_of(sampled, limit);
    record->denied = sampled.denied();
    record->size = static_cast<std::uint16_t>(key.view().size());
    std::memcpy(record->key.data(), key.view().data(), key.view().size());
    sampled.core.sampler->commit();
}

}  // namespace

void sample_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    const KeySampler::Pick pick = core.sampler->pick(burst.size(), now.at);
    const Scratch& scratch = burst.scratch();
    const std::span<const Match> met =
        set.has_one_way() ? burst.only_match(pick.packet) : burst.matches_of(pick.packet);
    for (const Match& match : met) {
        const Sampled sampled{
            set, burst.packets()[pick.packet], match, &scratch.looks[match.first], core, now};
        if (match.skipped || !sampled.asked()) {
            continue;
        }
        // Each key once, by its first limit.
        const LoadedRule& rule = sampled.rule();
        for (std::size_t limit = 0; limit < rule.limits.size(); ++limit) {
            if (limit == 0 || rule.limits[limit].key != rule.limits[limit - 1].key) {
                tell(sampled, limit, pick.weight);
            }
        }
    }
}

}  // namespace sluice

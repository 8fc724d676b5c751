#include "lib/pipeline/stages.hpp"
#include "lib/rules/group.hpp"

namespace sluice {
namespace {

Units cost_of(Per per, const Flow& flow) noexcept {
    return Units{per == Per::Byte ? flow.byte_units : 1U};
}

// Fills the looks of one match, from `next` on; returns the first free look after them.
std::uint32_t hash_match(Match& match, const Rule& rule, const Packet& packet, CoreState& core,
                         std::uint32_t next) noexcept {
    match.first = next;
    KeyBytes key;
    if (key_of(rule, packet.flow, packet.frame.bytes, key) == KeyOutcome::Missing) {
        match.skipped = true;
        return next;
    }
    const std::uint64_t digest = core.hash.digest(key.view());
    for (const MeteredLimit& limit : rule.limits) {
        Look& look = core.scratch.looks[next++];
        look = Look{.key = {KeyHasher::filed_under(limit.identity, digest), limit.slot},
                    .cost = cost_of(limit.per, packet.flow)};
        look.entry = core.buckets.keys.prefetch_first(look.key);
    }
    return next;
}

}  // namespace

void key_burst(const Burst& burst, const RuleSet& set, CoreState& core) noexcept {
    std::uint32_t next = 0;
    std::size_t row = 0;
    for (const Packet& packet : burst.packets()) {
        const MatchSpan span = core.scratch.spans[row++];
        for (std::uint32_t i = span.first; i < span.first + span.count; ++i) {
            Match& match = core.scratch.matches[i];
            const Rule& rule = set.rules[match.rule];
            if (rule.on_match == OnMatch::Meter) {
                next = hash_match(match, rule, packet, core, next);
            }
        }
    }
    core.scratch.look_count = next;
}

}  // namespace sluice

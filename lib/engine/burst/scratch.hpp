#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/bucket/table/table_event.hpp"
#include "lib/engine/burst/key_digests.hpp"
#include "lib/engine/burst/limit_check.hpp"
#include "lib/match/rule_matches.hpp"
#include "lib/packet/row_mask.hpp"
#include "lib/rules/load/meter_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A rule that some packet of the burst matches. A row is in `rows` if the rule's limits may be
// asked for it, or, of rules that decide on sight, if the general path has yet to find out.
struct ActiveRule {
    std::uint32_t rule = 0;  // index in the rule set
    RowMask rows = 0;
    // None of the rule's keys is there, so it does not apply; or the fast path found that other
    // rules keep the packet back that this one has room for.
    RowMask skipped = 0;
    RowMask idle = 0;     // a key is there, and nothing that the rule's limits count
    RowMask refused = 0;  // by one of its limits, once decided
    RowMask exempt = 0;   // whose key is exempt, as the fast path found
};

// A limit that some packet of the burst is to be charged to.
struct ActiveLimit {
    std::uint32_t limit = 0;  // index in MeterPlan::limits
    RowMask rows = 0;
};

// The bucket of one packet under one limit, or its penalty box.
struct BucketLookup {
    TableKey key;
    // The bucket's place: of look-ups that have been keyed its first line, then the entry itself,
    // or nullptr. An earlier packet of the burst may have moved it since.
    Entry* entry = nullptr;
    std::uint32_t limit = 0;  // index in MeterPlan::limits
    std::uint32_t units = 0;  // what the packet carries of what the limit counts, at least 1
};
static_assert(sizeof(BucketLookup) == 32, "two to a cache line");

// The packet's cost under that limit.
[[nodiscard]] inline Units cost_of(const LimitPlan& limit, const BucketLookup& lookup) noexcept {
    return Units{std::uint64_t{lookup.units} * limit.cost};
}

// The look-ups of a packet beyond which the fast path can only admit it.
inline constexpr std::size_t kMostFastLookups = 64;

// A look-up that found no place, at the aggregation level that stands for it.
struct CoarserLookup {
    const LimitPlan* limit;
    BucketLookup lookup;
    std::uint8_t aggregation_level;
    TableEvent lacks;  // what was full
    bool lacks_line;   // the level's own bucket wants a further line, and goes on without
};

// Working memory of one burst, sized once for the largest rule set there can be, so that workers
// never allocate. Pages that no rule set needs are never touched.
struct Scratch {
    RuleMatches matches;
    // Rows that are decided already: malformed, or by a rule with on_match.
    RowMask decided = 0;
    // How many connections had been answered when rows were looked for that are of one.
    std::uint64_t answered_before = 0;
    // Rows that only the general path decides, since a budget of `bypass` comes first.
    RowMask general = 0;
    // Rows whose sources are banned for all that they send, as far as bans had begun here by then
    // (CoreState::source_bans_begun). Until a row is decided, its decision is the ban's.
    RowMask banned = 0;
    std::uint64_t bans_seen = 0;
    // Under such bans, rows that were open to rules with on_match: they are counted at their turn.
    RowMask on_sight = 0;
    // Fragments whose verdict is to be remembered, and those that meet such a one.
    RowMask first_fragments = 0;
    RowMask later_fragments = 0;
    // Rows that a limit of an enforcing rule judges; rows that have look-ups at all.
    RowMask evaluated = 0;
    RowMask looked_up = 0;
    // Rows with a token or leaky bucket whose units take parts of a ns; rows with one whose keys
    // may have overrides, and whose entries note that they have none; rows with any other limit.
    RowMask in_parts = 0;
    RowMask overridden = 0;
    RowMask with_state = 0;

    LazyArray<ActiveRule> rules = uninitialized_array<ActiveRule>(kMaxRules);
    std::uint32_t rule_count = 0;
    LazyArray<std::uint32_t> active_of =
        uninitialized_array<std::uint32_t>(kMaxRules);  // by rule, of active ones
    LazyArray<ActiveLimit> limits = uninitialized_array<ActiveLimit>(kMaxLimits);
    std::uint32_t limit_count = 0;

    // Packet by packet, each one's in the order of the file: of row i they are [first[i],
    // first[i + 1]).
    LazyArray<BucketLookup> lookups = uninitialized_array<BucketLookup>(kMaxBurst * kMaxLimits);
    std::array<std::uint32_t, kMaxBurst + 1> first{};
    // Whether the limit of each look-up has refused its packet, in the same order: written with
    // ActiveRule::refused while keys are watched, of rules with several limits and of those that
    // shape.
    LazyArray<bool> refuses = uninitialized_array<bool>(kMaxBurst * kMaxLimits);
    // Look-ups whose key is not in its first line, in the same order.
    LazyArray<BucketLookup*> missed = uninitialized_array<BucketLookup*>(kMaxBurst * kMaxLimits);
    std::size_t miss_count = 0;
    // While limits coarsen, rows with a key that is in neither line, or with a state that may want
    // a line of a pool without one: there are digests of their wider keys too.
    RowMask widened = 0;
    // The coarser look-ups of the one packet that the fast path decides.
    LazyArray<CoarserLookup> coarser = uninitialized_array<CoarserLookup>(kMostFastLookups);

    // By schema: rows whose packets are keyed by it in this burst (0 between bursts), those that
    // have the key, and its digests.
    LazyArray<RowMask> keyed = zeroed_array<RowMask>(kMaxSchemas);
    LazyArray<RowMask> has_key = uninitialized_array<RowMask>(kMaxSchemas);
    LazyArray<RowDigests> digests = uninitialized_array<RowDigests>(kMaxSchemas);

    // Working memory for the one packet that the general path decides, if it has one unit.
    EvaluatedUnit packet_unit;
    LazyArray<Match> packet_matches = uninitialized_array<Match>(kMaxRules);
    LazyArray<LimitCheck> packet_checks = uninitialized_array<LimitCheck>(kMaxLimits);

    // Under which the look-ups were made.
    const MeterPlan* plan = nullptr;

    // A burst without packets has nothing to be located.
    void forget() noexcept {
        rule_count = 0;
        limit_count = 0;
        first.fill(0);
        miss_count = 0;
        widened = 0;
        decided = 0;
        general = 0;
        banned = 0;
        on_sight = 0;
        first_fragments = 0;
        later_fragments = 0;
        evaluated = 0;
        looked_up = 0;
        in_parts = 0;
        overridden = 0;
        with_state = 0;
    }
    [[nodiscard]] std::span<BucketLookup> all_lookups() noexcept {
        return {lookups.get(), first[kMaxBurst]};
    }
    [[nodiscard]] std::span<const BucketLookup> lookups_of(std::size_t row) const noexcept {
        return {&lookups[first[row]], first[row + 1] - first[row]};
    }
    [[nodiscard]] bool& refuses_in(const BucketLookup& lookup) const noexcept {
        return refuses[static_cast<std::size_t>(&lookup - lookups.get())];
    }
};

}  // namespace sluice

#include "lib/pipeline/shared_charge.hpp"
#include "lib/pipeline/stages.hpp"
#include "lib/rules/override_table.hpp"

#include <span>

namespace sluice {
namespace {

// Asks for the one line that a key is looked up in beside its bucket's: where its entry has numbers
// of its own theirs, else that of the table of overrides. Without a branch: who has some is as
// random as the packets.
[[gnu::always_inline]] inline void ask_for(const Look& look, const OverrideTable& overrides,
                                           const LinePool& pool) noexcept {
    const Entry& entry = *look.entry;
    const bool is_own = entry.filed() == look.key.filed && entry.has_own_numbers();
    const void* const own = pool.line_for(is_own ? entry.cell().rest : kNoLine);
    __builtin_prefetch(is_own ? own : overrides.line_for(look.digest), 0, 2);
}

// Nothing is known yet of the entries that lie in second lines: theirs are asked for as if nothing
// were said of them, and locate_own() asks again.
void ask_for_overrides(const Scratch& scratch, const RuleSet& set, const LinePool& pool) noexcept {
    Look* const looks = scratch.looks.get();
    if (set.has_one_way()) {
        const OverrideTable& overrides = *set.quick.front().overrides;
        for (const Look& look : std::span{looks, scratch.look_count}) {
            ask_for(look, overrides, pool);
        }
        return;
    }
    for (const Match& match : std::span{scratch.matches.get(), scratch.match_count}) {
        const OverrideTable* overrides = set.quick[match.rule].overrides;
        if (overrides != nullptr && !match.skipped) {
            ask_for(looks[match.first], *overrides, pool);
        }
    }
}

// Lists the looks whose buckets have no lease. What lies in a second line has not come yet. Without
// a branch: which lie there is as random as the keys.
void list_unleased(Scratch& scratch) noexcept {
    static constexpr Entry kNone{};
    std::size_t count = 0;
    std::size_t missed = 0;
    scratch.missed[scratch.miss_count] = nullptr;
    for (Look& look : std::span{scratch.looks.get(), scratch.look_count}) {
        const bool is_missed = scratch.missed[missed] == &look;
        missed += is_missed ? 1U : 0U;
        const Entry& entry = *(is_missed ? &kNone : look.entry);
        const bool leased = scratch.leases & (look.cost.count() <= entry.lease());
        scratch.unleased[count] = &look;
        count += is_missed | leased ? 0U : 1U;
    }
    scratch.unleased_count = count;
}

// Of whoever has no lease, where the record would be found; the record itself, if that has come.
void ask_for_records(Scratch& scratch, const Ledger& ledger) noexcept {
    list_unleased(scratch);
    if (scratch.asks_early) {
        for (const Look& look : std::span{scratch.looks.get(), scratch.look_count}) {
            ledger.prefetch_record({look.key.hash, slot_of(look.key), 0});
        }
        return;
    }
    for (const Look* look : std::span{scratch.unleased.get(), scratch.unleased_count}) {
        ledger.prefetch({look->key.hash, slot_of(look->key), 0});
    }
}

}  // namespace

void locate_burst(Burst& burst, const CoreState& core) noexcept {
    Scratch& scratch = burst.scratch();
    const std::span<Look> looks{scratch.looks.get(), scratch.look_count};
    scratch.miss_count = core.buckets.keys.probe_first(looks, scratch.missed.get());
    if (scratch.overridden != nullptr) [[unlikely]] {
        ask_for_overrides(scratch, *scratch.overridden, core.buckets.tenants.pool());
    }
    if (core.ledger != nullptr) [[unlikely]] {
        ask_for_records(scratch, *core.ledger);
    }
}

void locate_own(const Burst& burst, const CoreState& core) noexcept {
    const Scratch& scratch = burst.scratch();
    if (scratch.overridden == nullptr) [[likely]] {
        return;
    }
    const LinePool& pool = core.buckets.tenants.pool();
    for (const Look* look : std::span{scratch.missed.get(), scratch.miss_count}) {
        const Entry* entry = BucketTable::in_asked(look->entry, look->key);
        if (entry != nullptr && entry->has_own_numbers()) {
            __builtin_prefetch(pool.line_for(entry->cell().rest), 0, 2);
        }
    }
}

}  // namespace sluice

#include "lib/base/prefetch.hpp"
#include "lib/pipeline/locate_overridden.hpp"
#include "lib/pipeline/shared_charge.hpp"
#include "lib/pipeline/stages.hpp"
#include "lib/rules/override_table.hpp"

#include <span>

namespace sluice {
namespace {

constexpr Entry kNone{};

// The one line that a key is looked up in beside its bucket's (judge_overridden.hpp). Without a
// branch: which it is is as random as the packets.
[[gnu::always_inline]] inline const void* line_of(const Look& look, const Entry& entry,
                                                  const OverrideTable& overrides,
                                                  const Tenants& tenants) noexcept {
    const bool is_found = entry.filed() == look.key.filed;
    const bool is_own = is_found & entry.has_own_numbers();
    const bool is_ordinary = is_found & entry.is_ordinary_in(tenants.edition());
    const void* const own = tenants.pool().line_for(is_own ? entry.cell().rest : kNoLine);
    const void* const lines[] = {overrides.line_for(look.digest), &entry, own, own};
    return lines[(is_own ? 2U : 0U) | (is_ordinary ? 1U : 0U)];
}

// Of all looks, at once; locate_own() asks again for those that lie in second lines.
void ask_for_overrides(const Scratch& scratch, const LoadedSet& set,
                       const Tenants& tenants) noexcept {
    Look* const looks = scratch.looks.get();
    const Look* const* missed = scratch.missed.get();
    scratch.missed[scratch.miss_count] = looks + scratch.look_count;
    for (const Match& match : std::span{scratch.matches.get(), scratch.match_count}) {
        const OverrideTable* overrides = set.quick[match.rule].overrides;
        if (overrides == nullptr || match.skipped) {
            continue;
        }
        const Look& look = looks[match.first];
        while (*missed < &look) {
            ++missed;
        }
        const Entry& entry = *missed == &look ? kNone : *look.entry;
        __builtin_prefetch(line_of(look, entry, *overrides, tenants), 0, 2);
    }
}

// Lists the looks whose buckets have no lease. What lies in a second line has not come yet. Without
// a branch: which lie there is as random as the keys.
void list_unleased(Scratch& scratch) noexcept {
    std::size_t count = 0;
    std::size_t missed = 0;
    scratch.missed[scratch.miss_count] = nullptr;
    for (Look& look : std::span{scratch.looks.get(), scratch.look_count}) {
        const bool is_missed = scratch.missed[missed] == &look;
        missed += is_missed ? 1U : 0U;
        const Entry& entry = *(is_missed ? &kNone : look.entry);
        const bool leased = scratch.leases & (look.cost.count() <= entry.lease());
        scratch.unleased[count] = &look;
        count += (is_missed | leased) ? 0U : 1U;
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
    const LoadedSet* const set = scratch.overridden;
    if (set != nullptr && set->has_one_way()) [[unlikely]] {
        locate_overridden(burst, *set, core);
        return;
    }
    const std::span<Look> looks{scratch.looks.get(), scratch.look_count};
    scratch.miss_count = core.buckets.keys.probe_first(looks, scratch.missed.get());
    if (set != nullptr) [[unlikely]] {
        ask_for_overrides(scratch, *set, core.buckets.tenants);
    }
    if (core.ledger != nullptr) [[unlikely]] {
        ask_for_records(scratch, *core.ledger);
    }
}

void locate_own(Burst& burst, const CoreState& core) noexcept {
    const Scratch& scratch = burst.scratch();
    const LoadedSet* const set = scratch.overridden;
    if (set == nullptr) [[likely]] {
        return;
    }
    if (set->has_one_way()) {
        locate_others(burst, *set, core);
        return;
    }
    keep_prefetches();
    const Tenants& tenants = core.buckets.tenants;
    for (const Look* look : std::span{scratch.missed.get(), scratch.miss_count}) {
        const Entry* entry = BucketTable::in_asked(look->entry, look->key);
        if (entry != nullptr && entry->has_own_numbers()) {
            __builtin_prefetch(tenants.pool().line_for(entry->cell().rest), 0, 2);
        }
    }
}

}  // namespace sluice

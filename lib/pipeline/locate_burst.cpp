#include "lib/base/prefetch.hpp"
#include "lib/pipeline/shared_charge.hpp"
#include "lib/pipeline/stages.hpp"
#include "lib/rules/override_table.hpp"

#include <span>

namespace sluice {
namespace {

constexpr Entry kNone{};

// What looks of rules are located with of which keys have overrides.
class OverriddenLines {
public:
    OverriddenLines(const OverrideTable& overrides, const Tenants& tenants) noexcept
        : overrides_{overrides}, pool_{tenants.pool()}, edition_{tenants.edition()} {}

    // The one line that a key is looked up in beside its bucket's: where its entry has numbers of
    // its own theirs, where it says that nothing is said of the key none, else that of the table.
    // Without a branch: who has some is as random as the packets.
    struct Asked {
        const void* line;
        bool of_table;
    };
    [[nodiscard, gnu::always_inline]] Asked asked_of(const Look& look,
                                                     const Entry& entry) const noexcept {
        const bool is_found = entry.filed() == look.key.filed;
        const bool is_own = is_found & entry.has_own_numbers();
        const bool is_ordinary = is_found & entry.is_ordinary_in(edition_);
        const void* const own = pool_.line_for(is_own ? entry.cell().rest : kNoLine);
        const void* const lines[] = {overrides_.line_for(look.digest), &entry, own, own};
        return {lines[(is_own ? 2U : 0U) | (is_ordinary ? 1U : 0U)], !(is_own | is_ordinary)};
    }

private:
    const OverrideTable& overrides_;
    const LinePool& pool_;
    const std::uint32_t edition_;
};

// Of the looks that were found in their first lines: nothing is known yet of the others.
void ask_for_found(Scratch& scratch, const OverriddenLines& lines) noexcept {
    scratch.missed[scratch.miss_count] = nullptr;
    std::size_t missed = 0;
    std::size_t of_table = 0;
    for (const Look& look : std::span{scratch.looks.get(), scratch.look_count}) {
        const bool is_missed = scratch.missed[missed] == &look;
        missed += is_missed ? 1U : 0U;
        const Entry* const entries[] = {look.entry, &kNone};
        const OverriddenLines::Asked asked = lines.asked_of(look, *entries[is_missed ? 1 : 0]);
        const void* const line[] = {asked.line, &kNone};
        __builtin_prefetch(line[is_missed ? 1 : 0], 0, 2);
        of_table += asked.of_table & !is_missed ? 1U : 0U;
    }
    scratch.table_asks = of_table;
}

// And of the others, once their second lines have come.
void ask_for_missed(Scratch& scratch, const OverriddenLines& lines) noexcept {
    for (const Look* look : std::span{scratch.missed.get(), scratch.miss_count}) {
        const Entry* entry = BucketTable::in_asked(look->entry, look->key);
        const OverriddenLines::Asked asked =
            lines.asked_of(*look, entry == nullptr ? kNone : *entry);
        __builtin_prefetch(asked.line, 0, 2);
        scratch.table_asks += asked.of_table ? 1U : 0U;
    }
}

// Of all looks, at once; locate_own() asks again for those that lie in second lines.
void ask_for_overrides(const Scratch& scratch, const RuleSet& set,
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
        const OverriddenLines lines{*overrides, tenants};
        const Entry& entry = *missed == &look ? kNone : *look.entry;
        __builtin_prefetch(lines.asked_of(look, entry).line, 0, 2);
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
        const RuleSet& set = *scratch.overridden;
        if (set.has_one_way()) {
            ask_for_found(scratch, {*set.quick.front().overrides, core.buckets.tenants});
        } else {
            ask_for_overrides(scratch, set, core.buckets.tenants);
        }
    }
    if (core.ledger != nullptr) [[unlikely]] {
        ask_for_records(scratch, *core.ledger);
    }
}

void locate_own(Burst& burst, const CoreState& core) noexcept {
    Scratch& scratch = burst.scratch();
    if (scratch.overridden == nullptr) [[likely]] {
        return;
    }
    const Tenants& tenants = core.buckets.tenants;
    if (scratch.overridden->has_one_way()) {
        ask_for_missed(scratch, {*scratch.overridden->quick.front().overrides, tenants});
        return;
    }
    keep_prefetches();
    for (const Look* look : std::span{scratch.missed.get(), scratch.miss_count}) {
        const Entry* entry = BucketTable::in_asked(look->entry, look->key);
        if (entry != nullptr && entry->has_own_numbers()) {
            __builtin_prefetch(tenants.pool().line_for(entry->cell().rest), 0, 2);
        }
    }
}

}  // namespace sluice

#include "lib/pipeline/locate_overridden.hpp"

#include "lib/pipeline/address_key.hpp"
#include "lib/rules/override_table.hpp"

#include <bit>
#include <span>

namespace sluice {
namespace {

constexpr Entry kNoEntry{};

// The line of an entry with numbers of its own; nobody's where `is_own` is 0.
const void* own_line_of(const Entry& entry, std::uint64_t is_own, const LinePool& pool) noexcept {
    return pool.line_for(static_cast<PoolLine>(entry.cell().rest & (0 - is_own)));
}

// Of a key at most one line is asked for beside its bucket's: where its entry has numbers of its
// own theirs, where it says that nothing is said of the key none, else that of the table. Which of
// them is as random as the packets, so nothing here branches on it for one of them.
class Locating {
public:
    Locating(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept
        : rule_{set.quick.front()},
          packets_{burst.packets().data()},
          scratch_{burst.scratch()},
          keys_{core.buckets.keys},
          pool_{core.buckets.tenants.pool()},
          edition_{core.buckets.tenants.edition()} {}

    // Buckets first: whose first lines have been asked for.
    void find_buckets() noexcept {
        const bool most_ask = 2 * scratch_.table_asks > scratch_.look_count;
        const BucketTable::Kinds kinds =
            BucketTable::find_kinds(looks(), scratch_.missed.get(), edition_);
        scratch_.miss_count = looks().size() - static_cast<std::size_t>(std::popcount(kinds.found));
        scratch_.seen = {.ordinary = kinds.ordinary, .own = kinds.own};
        ask_for_own(kinds.own);
        ask_table_for(kinds.found & ~(kinds.ordinary | kinds.own));
        keys_.ask_second(missed());
        for (std::size_t i = 0; most_ask && i < scratch_.miss_count; ++i) {
            rule_.overrides->prefetch(scratch_.missed[i]->digest);
        }
    }

    // Overrides first: exempt keys have no buckets, and those of others are asked for only now.
    void find_exempt() noexcept {
        std::size_t others = 0;
        for (Look& look : looks()) {
            const bool exempt = is_exempt(look);
            scratch_.seen.exempt |= exempt ? bit_of(look) : 0;
            scratch_.missed[others] = &look;
            others += exempt ? 0U : 1U;
            __builtin_prefetch(exempt ? static_cast<const void*>(&kNoEntry) : look.entry, 0, 2);
        }
        scratch_.miss_count = others;
        scratch_.table_asks = 0;
    }
    void find_others() noexcept {
        std::size_t misses = 0;
        for (Look* look : missed()) {
            misses += BucketTable::find_first(std::span{look, 1}, scratch_.missed.get() + misses);
            const Entry& entry = *look->entry;
            const std::uint64_t is_own = entry.filed_bit(look->key.filed) & entry.own_bit();
            __builtin_prefetch(own_line_of(entry, is_own, pool_), 1, 3);
        }
        scratch_.miss_count = misses;
        keys_.ask_second(missed());
    }

private:
    [[nodiscard]] std::span<Look> looks() const noexcept {
        return {scratch_.looks.get(), scratch_.look_count};
    }
    [[nodiscard]] std::span<Look* const> missed() const noexcept {
        return {scratch_.missed.get(), scratch_.miss_count};
    }
    [[nodiscard]] std::uint32_t bit_of(const Look& look) const noexcept {
        return std::uint32_t{1} << (&look - scratch_.looks.get());
    }

    [[gnu::always_inline]] void ask_for_own(std::uint32_t rows) const noexcept {
        for (; rows != 0; rows &= rows - 1) {
            const Look& look = scratch_.looks[static_cast<std::size_t>(std::countr_zero(rows))];
            __builtin_prefetch(pool_.line_for(look.entry->cell().rest), 1, 3);
        }
    }
    void ask_table_for(std::uint32_t rows) noexcept {
        scratch_.table_asks = static_cast<std::size_t>(std::popcount(rows));
        for (; rows != 0; rows &= rows - 1) {
            const Look& look = scratch_.looks[static_cast<std::size_t>(std::countr_zero(rows))];
            rule_.overrides->prefetch(look.digest);
        }
    }

    [[nodiscard]] bool is_exempt(const Look& look) const noexcept {
        const Flow& flow = packets_[&look - scratch_.looks.get()].flow;
        const bool is_keyed =
            flow.ip_version == rule_.overridden_v4 || flow.ip_version == rule_.overridden_v6;
        // What is malformed has a digest of which nothing is said.
        return is_keyed &&
               rule_.overrides
                       ->brief(look.digest, [&]() noexcept { return AddressKey{rule_, flow}; })
                       .kind == OverrideTable::Kind::Exempt;
    }

    const QuickRule& rule_;
    const Packet* packets_;
    Scratch& scratch_;
    const BucketTable& keys_;
    const LinePool& pool_;
    const std::uint32_t edition_;
};

}  // namespace

void locate_overridden(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    Locating locating{burst, set, core};
    burst.scratch().overrides_first ? locating.find_exempt() : locating.find_buckets();
}

void locate_others(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    if (burst.scratch().overrides_first) {
        Locating{burst, set, core}.find_others();
    }
}

Scratch::Seen ask_for_missed(Scratch& scratch, const LoadedSet& set,
                             const CoreState& core) noexcept {
    const Tenants& tenants = core.buckets.tenants;
    const OverrideTable& overrides = *set.quick.front().overrides;
    const LinePool& pool = tenants.pool();
    std::uint64_t ordinary = 0;
    std::uint64_t own = 0;
    for (const Look* look : std::span{scratch.missed.get(), scratch.miss_count}) {
        const Entry& entry = *(look->entry == nullptr ? &kNoEntry : look->entry);
        const std::uint64_t is_own = entry.own_bit();
        const std::uint64_t is_ordinary = entry.ordinary_bit(look->key.filed, tenants.edition());
        const void* const lines[] = {overrides.line_for(look->digest),
                                     own_line_of(entry, is_own, pool)};
        __builtin_prefetch(lines[is_own | is_ordinary], 1, 3);
        const auto row = look - scratch.looks.get();
        ordinary |= is_ordinary << row;
        own |= is_own << row;
    }
    const Scratch::Seen seen{static_cast<std::uint32_t>(ordinary), static_cast<std::uint32_t>(own)};
    scratch.table_asks +=
        scratch.miss_count - static_cast<std::size_t>(std::popcount(seen.ordinary | seen.own));
    return seen;
}

}  // namespace sluice

#include "lib/pipeline/stages.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/units_of.hpp"

#include <array>
#include <cstring>

namespace sluice {
namespace {

// Whose line is asked for of a key that is an address.
enum class Asks : std::uint8_t {
    Buckets,
    OverriddenBuckets,  // of a rule of which keys have overrides
    Overrides,          // first: most keys are exempt, and have no bucket
};

// Fills a look, and asks for the line its bucket should lie in.
template <Asks kAsks = Asks::Buckets>
[[gnu::always_inline]] inline void look_for(Look& look, const FiledKey& key, Units cost,
                                            const BucketTable::FirstLines& lines) noexcept {
    look.key = key;
    look.cost = cost;
    look.entry = kAsks == Asks::Overrides ? lines.at(key) : lines.prefetch(key);
}

// The canonical key of an address under a mask, hashed.
template <typename Hash>
[[gnu::always_inline]] inline std::uint64_t hash_v4(const QuickRule& rule, const std::byte* address,
                                                    const Hash& hash) noexcept {
    std::uint32_t word;
    std::memcpy(&word, address, sizeof(word));
    return hash.of_word(rule.v4_header | std::uint64_t{word & rule.v4_mask} << 32);
}
template <typename Hash>
[[gnu::always_inline]] inline std::uint64_t hash_v6(const QuickRule& rule, const std::byte* address,
                                                    const Hash& hash) noexcept {
    std::array<std::uint64_t, 2> words;
    std::memcpy(&words, address, sizeof(words));
    return hash.of_headed_words(rule.v6_header, words[0] & rule.v6_mask[0],
                                words[1] & rule.v6_mask[1]);
}

// The common case: the key is an address of the packet, and one limit counts it. False: nothing
// has been done.
template <Asks kAsks, typename Hash>
[[gnu::always_inline]] inline bool look_for_address(const QuickRule& rule, const Flow& flow,
                                                    const Hash& hash,
                                                    const BucketTable::FirstLines& lines,
                                                    Look& look) noexcept {
    constexpr bool kOverridden = kAsks != Asks::Buckets;
    const std::byte* address = rule.address_in(flow);
    std::uint64_t digest;
    if (flow.ip_version == (kOverridden ? rule.overridden_v4 : rule.v4)) [[likely]] {
        digest = hash_v4(rule, address, hash);
    } else if (flow.ip_version == (kOverridden ? rule.overridden_v6 : rule.v6)) {
        digest = hash_v6(rule, address, hash);
    } else {
        return false;
    }
    if constexpr (kOverridden) {
        look.digest = digest;
    }
    if constexpr (kAsks == Asks::Overrides) {
        rule.overrides->prefetch(digest);
    }
    look_for<kAsks>(look, {KeyHasher::filed_from(rule.start, digest), rule.slot},
                    Units{rule.per_byte ? flow.byte_units : 1U}, lines);
    return true;
}

// What the rule has for the key beside its limits.
[[gnu::always_inline]] inline void prefetch_key(const LoadedRule& rule, std::uint8_t key,
                                                std::uint64_t digest,
                                                const BucketTable& table) noexcept {
    if (!rule.override_tables.empty() && rule.override_tables[key] != nullptr) {
        rule.override_tables[key]->prefetch(digest);
    }
    if (rule.bans()) {
        const LoadedLimit& box = rule.ban.boxes[key];
        (void)table.prefetch_first({KeyHasher::filed_under(box.identity, digest), box.slot});
    }
}

// The table that keys are looked for in, and where the next looks lie.
struct LookRoom {
    const BucketTable& table;
    Look* looks;
};

// Any keys and any number of limits: a look for each of them, from `looks` on. How many; 0: each
// key lacks a part, so the rule does not apply.
template <typename Hash>
std::uint32_t look_for_keys(const LoadedRule& rule, const Packet& packet, const Hash& hash,
                            const LookRoom& room) noexcept {
    std::uint64_t digest = 0;
    std::size_t keys = 0;  // gone through
    bool has_key = false;  // the latest of them
    bool applies = false;
    Look* next = room.looks;
    for (const LoadedLimit& limit : rule.limits) {
        if (limit.key == keys) {
            KeyBytes key;
            has_key = key_of(rule.keys[keys++], rule.missing_key, packet.flow, packet.frame.bytes,
                             key) != KeyOutcome::Missing;
            digest = has_key ? hash(key.view()) : 0;
            applies |= has_key;
            if (rule.asks_keys) {
                prefetch_key(rule, limit.key, digest, room.table);
            }
        }
        const Units cost = has_key ? cost_of(rule, limit.per, packet.flow) : Units{0};
        // What is not judged asks for one line, always the same: no packet waits for it.
        const GroupKey filed =
            cost == Units{0} ? GroupKey{} : KeyHasher::filed_under(limit.identity, digest);
        look_for(*next, {filed, limit.slot}, cost, room.table.first_lines());
        next->digest = digest;
        ++next;
    }
    return applies ? static_cast<std::uint32_t>(next - room.looks) : 0;
}

// Whatever is not of the common case, out of its way. How many looks.
template <typename Hash>
[[gnu::noinline]] std::uint32_t look_slow(Match& match, const LoadedSet& set, const Packet& packet,
                                          const Hash& hash, const LookRoom& room) noexcept {
    const QuickRule& quick = set.quick[match.rule];
    if (quick.overrides != nullptr &&
        look_for_address<Asks::OverriddenBuckets>(quick, packet.flow, hash,
                                                  room.table.first_lines(), *room.looks)) {
        return 1;
    }
    const LoadedRule& rule = set.rules[match.rule];
    const std::uint32_t count = rule.has_limits() ? look_for_keys(rule, packet, hash, room) : 0;
    match.skipped = rule.has_limits() && count == 0;
    return count;
}

// Looks lie one after the other, match by match. kMany: what will be counted of a rule is asked
// for.
template <bool kMany, typename Hash>
[[gnu::always_inline]] inline void key_all(Burst& burst, const LoadedSet& set,
                                           const CoreState& core, const Hash& hash) noexcept {
    Scratch& scratch = burst.scratch();
    const BucketTable& table = core.buckets.keys;
    const BucketTable::FirstLines lines = table.first_lines();
    const Packet* const packets = burst.packets().data();
    const QuickRule* const quick = set.quick.data();
    const RuleCounters* const counters = core.counters.rules.get();
    Look* const looks = scratch.looks.get();
    std::uint32_t count = 0;
    Match* match = scratch.matches.get();
    for (const Match* const end = match + scratch.match_count; match != end; ++match) {
        const QuickRule& rule = quick[match->rule];
        const Packet& packet = packets[match->packet];
        match->first = count;
        if constexpr (kMany) {
            __builtin_prefetch(&counters[rule.counters], 1);
        }
        if (look_for_address<Asks::Buckets>(rule, packet.flow, hash, lines, looks[count]))
            [[likely]] {
            ++count;
        } else {
            count += look_slow(*match, set, packet, hash, {table, looks + count});
        }
    }
    scratch.look_count = count;
}

// A packet of the only rule that is not keyed quickly, or not at all. Where there is nothing to
// count, its look finds nobody's entry.
template <typename Hash>
[[gnu::noinline]] void look_only_slow(Burst& burst, std::size_t row, const LoadedSet& set,
                                      const Hash& hash, const BucketTable& table) noexcept {
    Look& look = burst.scratch().looks[row];
    look.cost = Units{0};
    if (const std::span<Match> met = burst.only_match(row); !met.empty()) {
        (void)look_slow(met.front(), set, burst.packets()[row], hash, {table, &look});
    }
    if (look.cost == Units{0}) {
        look_for(look, FiledKey::nobody(), Units{0}, table.first_lines());
        look.digest = 0;
    }
}

// One rule for all packets, which is held by value, so that no store can change it. The look of a
// row has its number.
template <Asks kAsks, typename Hash>
[[gnu::always_inline]] inline void key_only(Burst& burst, const LoadedSet& set,
                                            const CoreState& core, const Hash& hash) noexcept {
    const BucketTable& table = core.buckets.keys;
    const BucketTable::FirstLines lines = table.first_lines();
    const QuickRule rule = set.quick.front();
    const std::span<Packet> packets = burst.packets();
    Look* look = burst.scratch().looks.get();
    for (const Packet& packet : packets) {
        if (is_malformed(packet.flow.parsed) ||
            !look_for_address<kAsks>(rule, packet.flow, hash, lines, *look)) [[unlikely]] {
            look_only_slow(burst, static_cast<std::size_t>(&packet - packets.data()), set, hash,
                           table);
        }
        ++look;
    }
    burst.scratch().look_count = static_cast<std::uint32_t>(packets.size());
}

// Functions of their own, so that their registers are their own.
template <bool kMany>
SLUICE_AES [[gnu::noinline]] void key_all_aes(Burst& burst, const LoadedSet& set,
                                              const CoreState& core, const AesHash& hash) noexcept {
    key_all<kMany>(burst, set, core, hash);
}
template <Asks kAsks>
SLUICE_AES [[gnu::noinline]] void key_only_aes(Burst& burst, const LoadedSet& set,
                                               const CoreState& core,
                                               const AesHash& hash) noexcept {
    key_only<kAsks>(burst, set, core, hash);
}

// What to ask for as a constant.
template <typename Run>
[[gnu::always_inline]] inline void as_constant(Asks asks, const Run& run) noexcept {
    switch (asks) {
        case Asks::Buckets:
            return run.template operator()<Asks::Buckets>();
        case Asks::OverriddenBuckets:
            return run.template operator()<Asks::OverriddenBuckets>();
        case Asks::Overrides:
            return run.template operator()<Asks::Overrides>();
    }
}

void key_by_aes(Burst& burst, const LoadedSet& set, const CoreState& core, const AesHash& hash,
                Asks asks) noexcept {
    if (set.has_one_way()) {
        as_constant(asks,
                    [&]<Asks kAsks>() noexcept { key_only_aes<kAsks>(burst, set, core, hash); });
    } else if (set.has_many_rules()) {
        key_all_aes<true>(burst, set, core, hash);
    } else {
        key_all_aes<false>(burst, set, core, hash);
    }
}

struct PortableHash {
    const KeyHasher& hasher;

    [[nodiscard]] std::uint64_t operator()(ByteView key) const noexcept {
        return hasher.digest(key);
    }
    [[nodiscard]] std::uint64_t of_word(std::uint64_t word) const noexcept {
        return hasher.digest(std::as_bytes(std::span{&word, 1}));
    }
    [[nodiscard]] std::uint64_t of_headed_words(std::uint32_t head, std::uint64_t low,
                                                std::uint64_t high) const noexcept {
        std::array<std::byte, sizeof(head) + 2 * sizeof(low)> key;
        std::memcpy(key.data(), &head, sizeof(head));
        std::memcpy(key.data() + sizeof(head), &low, sizeof(low));
        std::memcpy(key.data() + sizeof(head) + sizeof(low), &high, sizeof(high));
        return hasher.digest(key);
    }
};

void key_by_other(Burst& burst, const LoadedSet& set, const CoreState& core, Asks asks) noexcept {
    const PortableHash hash{core.hash};
    if (set.has_one_way()) {
        as_constant(asks, [&]<Asks kAsks>() noexcept { key_only<kAsks>(burst, set, core, hash); });
    } else {
        key_all<true>(burst, set, core, hash);
    }
}

// Where the records of what workers share would be found.
void prefetch_shared(Scratch& scratch, const LoadedSet& set, const Ledger& ledger) noexcept {
    const bool all = set.has_one_way();
    scratch.leases = all && set.slots[set.quick.front().slot].leases;
    scratch.asks_early = !scratch.leases || 2 * scratch.unleased_count > scratch.look_count;
    if (!scratch.asks_early) {
        return;
    }
    for (const Look& look : std::span{scratch.looks.get(), scratch.look_count}) {
        if (all || set.slots[slot_of(look.key)].max_unsynced != 0) {
            ledger.prefetch({look.key.hash, slot_of(look.key), 0});
        }
    }
}

// Where most keys of the last burst were exempt, they are likely to be in the next.
Asks asks_of(Burst& burst, const LoadedSet& set) noexcept {
    Scratch& scratch = burst.scratch();
    scratch.overridden = set.has_overrides ? &set : nullptr;
    scratch.overrides_first = false;
    if (!set.has_overrides || !set.has_one_way()) {
        return Asks::Buckets;
    }
    scratch.overrides_first = 2 * scratch.exempt_count > burst.size();
    return scratch.overrides_first ? Asks::Overrides : Asks::OverriddenBuckets;
}

}  // namespace

void key_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    const Asks asks = asks_of(burst, set);
    if (const AesHash* aes = core.hash.aes()) [[likely]] {
        key_by_aes(burst, set, core, *aes, asks);
    } else {
        key_by_other(burst, set, core, asks);
    }
    if (core.ledger != nullptr) [[unlikely]] {
        prefetch_shared(burst.scratch(), set, *core.ledger);
    }
}

}  // namespace sluice

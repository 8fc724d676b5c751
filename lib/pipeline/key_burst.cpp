#include "lib/pipeline/stages.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/units_of.hpp"

#include <array>
#include <cstring>

namespace sluice {
namespace {

// Where the looks of a burst come one after the other, and the table they will be found in.
struct Looks {
    const BucketTable* table;
    Look* next;
    std::uint32_t count = 0;

    void add(GroupKey key, LimitSlot slot, Units cost) noexcept {
        const FiledKey filed{key, slot};
        next->key = filed;
        next->cost = cost;
        next->entry = table->prefetch_first(filed);
        ++next;
        ++count;
    }
};

// The canonical key of an address under a mask, hashed.
template <typename Hash>
[[gnu::always_inline]] inline std::uint64_t hash_v4(const QuickRule& rule, const IpAddress& address,
                                                    const Hash& hash) noexcept {
    std::uint32_t word;
    std::memcpy(&word, &address, sizeof(word));
    return hash.of_word(rule.v4_header | std::uint64_t{word & rule.v4_mask} << 32);
}
template <typename Hash>
[[gnu::always_inline]] inline std::uint64_t hash_v6(const QuickRule& rule, const IpAddress& address,
                                                    const Hash& hash) noexcept {
    std::array<std::uint64_t, 2> words;
    std::memcpy(&words, &address, sizeof(words));
    return hash.of_headed_words(rule.v6_header, words[0] & rule.v6_mask[0],
                                words[1] & rule.v6_mask[1]);
}

// The common case: the key is an address of the packet, and one limit counts it. False: nothing
// has been done.
template <typename Hash>
[[gnu::always_inline]] inline bool look_for_address(const QuickRule& rule, const Flow& flow,
                                                    const Hash& hash, Looks& looks) noexcept {
    const bool source = rule.key == QuickRule::Key::Source;
    if (rule.key == QuickRule::Key::Other ||
        !flow.fields.has(source ? Field::IpSrc : Field::IpDst)) {
        return false;
    }
    const IpAddress& address = source ? flow.src : flow.dst;
    std::uint64_t digest;
    if (flow.ip_version == IpVersion::V4) [[likely]] {
        digest = hash_v4(rule, address, hash);
    } else if (rule.v6_header != 0) {
        digest = hash_v6(rule, address, hash);
    } else {
        return false;
    }
    looks.add(KeyHasher::filed_under(rule.identity, digest), rule.slot,
              Units{rule.per_byte ? flow.byte_units : 1U});
    return true;
}

// What the rule has for the key beside its limits.
void prefetch_key(const Rule& rule, std::uint8_t key, std::uint64_t digest,
                  const BucketTable& table) noexcept {
    if (!rule.override_tables.empty() && rule.override_tables[key] != nullptr) {
        rule.override_tables[key]->prefetch(digest);
    }
    if (rule.bans()) {
        const MeteredLimit& box = rule.ban.boxes[key];
        (void)table.prefetch_first({KeyHasher::filed_under(box.identity, digest), box.slot});
    }
}

// Any keys and any number of limits. False: each key lacks a part, so the rule does not apply, and
// has no looks.
template <typename Hash>
bool look_for_keys(const Rule& rule, const Packet& packet, const Hash& hash,
                   Looks& looks) noexcept {
    Look* const first = looks.next;
    std::uint64_t digest = 0;
    std::size_t keys = 0;  // gone through
    bool has_key = false;  // the latest of them
    bool applies = false;
    for (const MeteredLimit& limit : rule.limits) {
        if (limit.key == keys) {
            KeyBytes key;
            has_key = key_of(rule.keys[keys++], rule.missing_key, packet.flow, packet.frame.bytes,
                             key) != KeyOutcome::Missing;
            digest = has_key ? hash(key.view()) : 0;
            applies |= has_key;
            if (rule.asks_keys) {
                prefetch_key(rule, limit.key, digest, *looks.table);
            }
        }
        const Units cost = has_key ? cost_of(rule, limit.per, packet.flow) : Units{0};
        // What is not judged asks for one line, always the same: no packet waits for it.
        const GroupKey filed =
            cost == Units{0} ? GroupKey{} : KeyHasher::filed_under(limit.identity, digest);
        looks.add(filed, limit.slot, cost);
        looks.next[-1].digest = digest;
    }
    if (!applies) {
        looks.count -= static_cast<std::uint32_t>(looks.next - first);
        looks.next = first;
    }
    return applies;
}

// Whatever is not of the common case, out of its way. Takes and gives `looks` by value: the caller
// keeps them in registers.
template <typename Hash>
[[gnu::noinline]] Looks look_slow(Match& match, const Rule& rule, const Packet& packet,
                                  const Hash& hash, Looks looks) noexcept {
    match.skipped = rule.has_limits() && !look_for_keys(rule, packet, hash, looks);
    return looks;
}

// The matches of a burst lie one after the other, packet by packet. kMany: what will be counted of
// a rule is asked for.
template <bool kMany, typename Hash>
[[gnu::always_inline]] inline void key_all(Burst& burst, const RuleSet& set, const CoreState& core,
                                           const Hash& hash) noexcept {
    Scratch& scratch = burst.scratch();
    Looks looks{&core.buckets.keys, scratch.looks.get()};
    const QuickRule* const quick = set.quick.data();
    const MatchSpan* span = scratch.spans.data();
    Match* match = scratch.matches.get();
    for (const Packet& packet : burst.packets()) {
        for (const Match* const end = match + span++->count; match != end; ++match) {
            match->first = looks.count;
            if constexpr (kMany) {
                __builtin_prefetch(&core.counters.rules[quick[match->rule].counters], 1);
            }
            if (!look_for_address(quick[match->rule], packet.flow, hash, looks)) [[unlikely]] {
                looks = look_slow(*match, set.rules[match->rule], packet, hash, looks);
            }
        }
    }
    scratch.look_count = looks.count;
}

SLUICE_AES void key_all_aes(Burst& burst, const RuleSet& set, const CoreState& core,
                            const AesHash& hash) noexcept {
    if (set.has_many_rules()) {
        key_all<true>(burst, set, core, hash);
    } else {
        key_all<false>(burst, set, core, hash);
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

}  // namespace

namespace {

// Where the records of what workers share would be found.
[[gnu::always_inline]] inline void prefetch_shared(const Scratch& scratch, const RuleSet& set,
                                                   const Ledger& ledger) noexcept {
    for (const Look& look : std::span{scratch.looks.get(), scratch.look_count}) {
        const LimitSlot slot = slot_of(look.key);
        if (set.slots[slot].max_unsynced != 0) {
            ledger.prefetch({look.key.hash, slot, 0});
        }
    }
}

}  // namespace

void key_burst(Burst& burst, const RuleSet& set, const CoreState& core) noexcept {
    if (const AesHash* aes = core.hash.aes()) [[likely]] {
        key_all_aes(burst, set, core, *aes);
    } else {
        key_all<true>(burst, set, core, PortableHash{core.hash});
    }
    if (core.ledger != nullptr) [[unlikely]] {
        prefetch_shared(burst.scratch(), set, *core.ledger);
    }
}

}  // namespace sluice

#include "lib/pipeline/penalty_box.hpp"

#include "lib/load/limit_spread.hpp"
#include "lib/meter/penalty.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/table/previous_tables.hpp"
#include "lib/table/worker_tables.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Whether other workers may have the key in the box: they share it, or its packets have come to
// them.
bool asks_peers(const LoadedLimit& box) noexcept {
    return box.spread == kSpreadAnywhere || box.migrating_to || !box.migrated_from.empty();
}

}  // namespace

PenaltyBoxes::PenaltyBoxes(const LoadedRule& rule, std::span<const LimitCheck> checks,
                           const CheckContext& context) noexcept
    : rule_{rule}, context_{context} {
    for (std::size_t i = 0; i < checks.size(); ++i) {
        digests_[rule.limits[i].key] = checks[i].digest;
    }
}

Nanoseconds PenaltyBoxes::left_in(Entry* entry) const noexcept {
    if (entry == nullptr) {
        return Nanoseconds{0};
    }
    context_.core.buckets.registry.update(*entry, context_.now);
    const Cell cell = entry->cell();
    return PenaltyMeter::banned(cell, context_.now.at) ? cell.fresh_from - context_.now.at
                                                       : Nanoseconds{0};
}

// Whether one of the limits under the key has a place for it.
bool PenaltyBoxes::has_bucket(std::uint8_t key) const noexcept {
    return std::any_of(rule_.limits.begin(), rule_.limits.end(), [&](const LoadedLimit& limit) {
        return limit.key == key && context_.core.buckets.keys.find(table_key(limit)) != nullptr;
    });
}

Nanoseconds PenaltyBoxes::left_of(const LoadedLimit& box) const noexcept {
    BucketStore& store = context_.core.buckets;
    Entry* const own = store.keys.find(table_key(box));
    const bool asks_wider =
        own == nullptr && rule_.on_full == OnFull::Coarsen && store.coarsened(context_.now.at);
    if (!asks_wider || has_bucket(box.key)) {
        return left_in(own);
    }
    Nanoseconds left{0};
    const CoarseKeys wider{rule_.keys[box.key], rule_.missing_key, context_.packet_headers(),
                           context_.frame()};
    for (const KeyBytes& key : wider.keys()) {
        const GroupKey hashed = context_.core.hash(box.identity, key.view());
        left = std::max(left, left_in(store.parents.find({hashed, box.slot})));
    }
    return left;
}

// A ban that began where else packets of the key meet, or have met until a reload.
Nanoseconds PenaltyBoxes::left_at_peers(const LoadedLimit& box) const noexcept {
    const BucketStore& store = context_.core.buckets;
    return store.worker_tables() == nullptr
               ? Nanoseconds{0}
               : store.worker_tables()->ban_left(table_key(box), store.registry, context_.now.at);
}

std::optional<PenaltyBoxes::Sentence> PenaltyBoxes::sentence() const noexcept {
    Sentence sentence;
    const PreviousTables* previous = context_.core.buckets.previous();
    for (const LoadedLimit& box : rule_.ban.boxes) {
        Nanoseconds left = digests_[box.key] == 0 ? Nanoseconds{0} : left_of(box);
        if (previous != nullptr && digests_[box.key] != 0) [[unlikely]] {
            left = std::max(left, previous->ban_left(table_key(box), context_.now.at));
        }
        if (asks_peers(box) && digests_[box.key] != 0) [[unlikely]] {
            left = std::max(left, left_at_peers(box));
        }
        if (left > sentence.left) {
            sentence = {left, box.key};
        }
    }
    return sentence.left == Nanoseconds{0} ? std::nullopt : std::optional{sentence};
}

// Whether this refusal and those that all workers have noted are a ban.
bool PenaltyBoxes::is_last_of_all(const LimitCheck& check, const LoadedLimit& box) const noexcept {
    const BucketStore& store = context_.core.buckets;
    if (store.worker_tables() == nullptr) {
        return false;
    }
    const Units others =
        store.worker_tables()->used_by_others({check.key}, Combine::Sum, store, context_.now);
    const Units left =
        remaining(check.entry->cell(), box.limit, store.registry.pool(), context_.now);
    return others + Units{1} >= left;
}

void PenaltyBoxes::ban_now(LimitCheck& check, const LoadedLimit& box) const noexcept {
    LimitRegistry& registry = context_.core.buckets.registry;
    const Cell before = check.entry->cell();
    check.entry->write(
        {context_.now.at + Nanoseconds{std::get<PenaltyLimit>(box.limit).lasts}, kNoLine});
    // The log last: until then the table leads to it.
    PenaltyMeter::close(before, registry.pool());
    check.entry->release();
}

// One refusal; whether it is the one that bans.
bool PenaltyBoxes::bans_now(const LoadedLimit& box, std::uint8_t aggregation_level) const noexcept {
    LimitCheck check{.key = table_key(box), .cost = Units{1}};
    if (!check_at_level(check, box, rule_, context_, aggregation_level)) {
        return false;
    }
    const bool counts = check.conformance == Conformance::Green;
    if (counts && aggregation_level == 0 && box.spread == kSpreadAnywhere &&
        is_last_of_all(check, box)) {
        ban_now(check, box);
        return true;
    }
    commit(check, context_, true, false);
    return counts && PenaltyMeter::banned(check.entry->cell(), context_.now.at);
}

unsigned PenaltyBoxes::note(std::span<const LimitCheck> checks, bool yellow) const noexcept {
    unsigned begun = 0;
    std::uint32_t noted = 0;  // a bit for each key
    for (std::size_t i = 0; i < checks.size(); ++i) {
        const LimitCheck& check = checks[i];
        const std::uint8_t key = rule_.limits[i].key;
        const bool refused = check.asked && check.entry != nullptr &&
                             (check.conformance == Conformance::Red ||
                              (yellow && check.conformance == Conformance::Yellow));
        if (!refused || ((noted >> key) & 1U) != 0) {
            continue;
        }
        const std::uint8_t aggregation_level = check.entry->stamp().aggregation_level;
        if (aggregation_level < rule_level(rule_.keys[key])) {
            noted |= 1U << key;
            begun += bans_now(rule_.ban.boxes[key], aggregation_level) ? 1U : 0U;
        }
    }
    return begun;
}

}  // namespace sluice

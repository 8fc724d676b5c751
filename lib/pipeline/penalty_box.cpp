#include "lib/pipeline/penalty_box.hpp"

#include "lib/load/limit_spread.hpp"
#include "lib/meter/former_tables.hpp"
#include "lib/meter/peer_tables.hpp"
#include "lib/meter/penalty.hpp"
#include "lib/rules/coarse_key.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Whether other workers may have the key in the box: they share it, or its packets have come to
// them.
bool asks_peers(const LoadedLimit& box) noexcept {
    return box.spread == kSpreadAnywhere || box.moving || !box.moved_from.empty();
}

}  // namespace

PenaltyBoxes::PenaltyBoxes(const LoadedRule& rule, std::span<const Look> looks,
                           const Judging& judging) noexcept
    : rule_{rule}, judging_{judging} {
    for (std::size_t i = 0; i < looks.size(); ++i) {
        digests_[rule.limits[i].key] = looks[i].digest;
    }
}

Nanoseconds PenaltyBoxes::left_in(Entry* entry) const noexcept {
    if (entry == nullptr) {
        return Nanoseconds{0};
    }
    judging_.core.buckets.tenants.update(*entry, judging_.now);
    const Cell cell = entry->cell();
    return PenaltyMeter::banned(cell, judging_.now.at) ? cell.fresh_from - judging_.now.at
                                                       : Nanoseconds{0};
}

// Whether one of the limits under the key has a place for it.
bool PenaltyBoxes::has_bucket(std::uint8_t key) const noexcept {
    return std::any_of(rule_.limits.begin(), rule_.limits.end(), [&](const LoadedLimit& limit) {
        return limit.key == key && judging_.core.buckets.keys.find(filed(limit)) != nullptr;
    });
}

Nanoseconds PenaltyBoxes::left_of(const LoadedLimit& box) const noexcept {
    BucketStore& store = judging_.core.buckets;
    Entry* const own = store.keys.find(filed(box));
    const bool asks_wider =
        own == nullptr && rule_.on_full == OnFull::Coarsen && store.coarsened(judging_.now.at);
    if (!asks_wider || has_bucket(box.key)) {
        return left_in(own);
    }
    Nanoseconds left{0};
    const CoarseKeys wider{rule_.keys[box.key], rule_.missing_key, judging_.flow(),
                           judging_.frame()};
    for (const KeyBytes& key : wider.keys()) {
        const GroupKey hashed = judging_.core.hash(box.identity, key.view());
        left = std::max(left, left_in(store.parents.find({hashed, box.slot})));
    }
    return left;
}

// A ban that began where else packets of the key meet, or have met until a reload.
Nanoseconds PenaltyBoxes::left_at_peers(const LoadedLimit& box) const noexcept {
    const BucketStore& store = judging_.core.buckets;
    return store.peers() == nullptr
               ? Nanoseconds{0}
               : store.peers()->ban_left(filed(box), store.tenants, judging_.now.at);
}

std::optional<PenaltyBoxes::Sentence> PenaltyBoxes::sentence() const noexcept {
    Sentence sentence;
    const FormerTables* former = judging_.core.buckets.former();
    for (const LoadedLimit& box : rule_.ban.boxes) {
        Nanoseconds left = digests_[box.key] == 0 ? Nanoseconds{0} : left_of(box);
        if (former != nullptr && digests_[box.key] != 0) [[unlikely]] {
            left = std::max(left, former->ban_left(filed(box), judging_.now.at));
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
bool PenaltyBoxes::is_last_of_all(const Look& look, const LoadedLimit& box) const noexcept {
    const BucketStore& store = judging_.core.buckets;
    if (store.peers() == nullptr) {
        return false;
    }
    const Units others =
        store.peers()->used_by_others({look.key}, Combine::Sum, store, judging_.now);
    const Units left = remaining(look.entry->cell(), box.limit, store.tenants.pool(), judging_.now);
    return others + Units{1} >= left;
}

void PenaltyBoxes::ban_now(Look& look, const LoadedLimit& box) const noexcept {
    Tenants& tenants = judging_.core.buckets.tenants;
    const Cell before = look.entry->cell();
    look.entry->write(
        {judging_.now.at + Nanoseconds{std::get<PenaltyLimit>(box.limit).lasts}, kNoLine});
    // The log last: until then the table leads to it.
    PenaltyMeter::close(before, tenants.pool());
    look.entry->release();
}

// One refusal; whether it is the one that bans.
bool PenaltyBoxes::bans_now(const LoadedLimit& box, std::uint8_t step) const noexcept {
    Look look{.key = filed(box), .cost = Units{1}};
    if (!look_at_step(look, box, rule_, judging_, step)) {
        return false;
    }
    const bool counts = look.judgement == Judgement::Green;
    if (counts && step == 0 && box.spread == kSpreadAnywhere && is_last_of_all(look, box)) {
        ban_now(look, box);
        return true;
    }
    settle(look, judging_, true, false);
    return counts && PenaltyMeter::banned(look.entry->cell(), judging_.now.at);
}

unsigned PenaltyBoxes::note(std::span<const Look> looks, bool yellow) const noexcept {
    unsigned begun = 0;
    std::uint32_t noted = 0;  // a bit for each key
    for (std::size_t i = 0; i < looks.size(); ++i) {
        const Look& look = looks[i];
        const std::uint8_t key = rule_.limits[i].key;
        const bool refused =
            look.asked && look.entry != nullptr &&
            (look.judgement == Judgement::Red || (yellow && look.judgement == Judgement::Yellow));
        if (!refused || ((noted >> key) & 1U) != 0) {
            continue;
        }
        const std::uint8_t step = look.entry->stamp().step;
        if (step < rule_step(rule_.keys[key])) {
            noted |= 1U << key;
            begun += bans_now(rule_.ban.boxes[key], step) ? 1U : 0U;
        }
    }
    return begun;
}

}  // namespace sluice

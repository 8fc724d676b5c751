#include "lib/engine/key/penalty_box.hpp"

#include "lib/bucket/meter/penalty.hpp"
#include "lib/bucket/table/remote_debt.hpp"
#include "lib/engine/key/event_burst.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/rules/load/limit_rss_mapping.hpp"

#include <algorithm>

namespace sluice {
namespace {

// True if other workers may have the key in the box: they share it, or its packets have come to
// them.
bool asks_peers(const LoadedLimit& box) noexcept {
    return box.rss_mapping == kMappedAnywhere || box.migrating_to || !box.migrated_from.empty();
}

}  // namespace

Nanoseconds PenaltyBoxes::left_in(Entry* entry) const noexcept {
    if (entry == nullptr) {
        return Nanoseconds{0};
    }
    core_.buckets.registry.update(*entry, now_);
    const Cell cell = entry->cell();
    return PenaltyMeter::banned(cell, now_.at) ? cell.fresh_from - now_.at : Nanoseconds{0};
}

// True if a limit under the key has a place for it here.
bool PenaltyBoxes::has_bucket(std::uint8_t key) const noexcept {
    const std::vector<LoadedLimit>& limits = keys_.rule().limits;
    return std::any_of(limits.begin(), limits.end(), [&](const LoadedLimit& limit) {
        return limit.key == key && core_.buckets.keys.find(keys_.table_key(limit)) != nullptr;
    });
}

// A wider key's ban would be one of all that its neighbours send, whom the rule may never have met.
bool PenaltyBoxes::holds_for_sources() const noexcept {
    return keys_.rule().ban.applies_to == BanScope::Source;
}

bool PenaltyBoxes::meets_wider(const LoadedLimit& box) const noexcept {
    return keys_.rule().on_full == OnFull::Coarsen && core_.buckets.coarsened(now_.at) &&
           core_.buckets.keys.find(keys_.table_key(box)) == nullptr && !has_bucket(box.key);
}

// The ban by this worker's own tables.
BoxBan PenaltyBoxes::ban_here(const LoadedLimit& box) const noexcept {
    BucketStore& store = core_.buckets;
    BoxBan ban{.left = left_in(store.keys.find(keys_.table_key(box)))};
    if (holds_for_sources() || !meets_wider(box)) {
        return ban;
    }
    KeyBytes room;
    const CoarseKeys wider{keys_.bytes(box.key, room)};
    std::uint8_t aggregation_level = 0;
    for (const KeyBytes& key : wider.keys()) {
        ++aggregation_level;
        const GroupKey hashed = core_.hash(box.identity, key.view());
        const Nanoseconds left = left_in(store.parents.find({hashed, box.slot}));
        if (left > ban.left) {
            ban = {left, aggregation_level};
        }
    }
    return ban;
}

// Beside those here, bans that began in an earlier process, or where else packets of the key meet
// or have met until a reload.
BoxBan PenaltyBoxes::ban_in(const LoadedLimit& box) const noexcept {
    if (!keys_.has(box.key)) {
        return {};
    }
    const BucketStore& store = core_.buckets;
    BoxBan ban = ban_here(box);
    const auto add = [&ban](Nanoseconds left) {
        if (left > ban.left) {
            ban = {.left = left};
        }
    };
    const RemoteDebt elsewhere{store, now_};
    if (store.previous() != nullptr) [[unlikely]] {
        add(elsewhere.ban_in_earlier(keys_.table_key(box)));
    }
    if (asks_peers(box) || holds_for_sources()) [[unlikely]] {
        add(elsewhere.ban_at_workers(keys_.table_key(box)));
    }
    return ban;
}

Units PenaltyBoxes::refusals_in(const LoadedLimit& box) const noexcept {
    BucketStore& store = core_.buckets;
    const Entry* const own = keys_.has(box.key) ? store.keys.find(keys_.table_key(box)) : nullptr;
    if (own == nullptr || ban_in(box).left != Nanoseconds{0}) {
        return Units{0};
    }
    const Units most = most_of(box.limit);
    const Units left = remaining(own->cell(), box.limit, store.registry.pool(), now_);
    return Units{most.count() - std::min(left, most).count()};
}

// True if this refusal and those that all workers have noted are a ban.
bool PenaltyBoxes::is_last_of_all(const LimitCheck& check, const LoadedLimit& box) const noexcept {
    const BucketStore& store = core_.buckets;
    if (store.worker_tables() == nullptr) {
        return false;
    }
    const Units others = RemoteDebt{store, now_}.held_by_others({check.key});
    const Units left = remaining(check.entry->cell(), box.limit, store.registry.pool(), now_);
    return others + Units{1} >= left;
}

void PenaltyBoxes::ban_now(LimitCheck& check, const LoadedLimit& box) const noexcept {
    LimitRegistry& registry = core_.buckets.registry;
    const Cell before = check.entry->cell();
    check.entry->write({now_.at + Nanoseconds{std::get<PenaltyLimit>(box.limit).lasts}, kNoLine});
    // The log last: until then the table leads to it.
    PenaltyMeter::close(before, registry.pool());
    check.entry->release();
}

// One refusal; whether it is the one that bans.
bool PenaltyBoxes::bans_now(const LoadedLimit& box, std::uint8_t aggregation_level,
                            const CheckContext& context) const noexcept {
    LimitCheck check{.key = keys_.table_key(box), .cost = Units{1}};
    if (!check_at_level(check, box, keys_.rule(), context, aggregation_level)) {
        return false;
    }
    const bool counts = check.conformance == Conformance::Green;
    if (counts && aggregation_level == 0 && box.rss_mapping == kMappedAnywhere &&
        is_last_of_all(check, box)) {
        ban_now(check, box);
        return true;
    }
    commit(check, context, true, false);
    return counts && PenaltyMeter::banned(check.entry->cell(), now_.at);
}

// Reports a ban that has just begun: as an edge event where the rule has these, and to the early
// drop unless the banned key is a coarsened one.
void PenaltyBoxes::notify(const LoadedLimit& box, std::uint8_t aggregation_level,
                          const CheckContext& context) const noexcept {
    const LoadedRule& rule = keys_.rule();
    if (core_.events != nullptr && rule.events.has(EdgeEvent::Ban)) {
        note_ban(keys_, box, aggregation_level, context);
    }
    if (core_.new_bans != nullptr && rule.boxes_sources && aggregation_level == 0) {
        KeyBytes room;
        core_.new_bans->notify(context.set.load,
                               static_cast<std::uint32_t>(&rule - context.set.rules.data()),
                               keys_.bytes(box.key, room),
                               now_.utc() + Nanoseconds{std::get<PenaltyLimit>(box.limit).lasts});
    }
}

unsigned PenaltyBoxes::note(std::span<const LimitCheck> checks, bool yellow,
                            const CheckContext& context) const noexcept {
    const LoadedRule& rule = keys_.rule();
    unsigned begun = 0;
    std::uint32_t noted = 0;  // a bit for each key
    for (std::size_t i = 0; i < checks.size(); ++i) {
        const LimitCheck& check = checks[i];
        const std::uint8_t key = rule.limits[i].key;
        const bool refused = check.asked && (check.entry != nullptr || check.answered) &&
                             (check.conformance == Conformance::Red ||
                              (yellow && check.conformance == Conformance::Yellow));
        if (!refused || ((noted >> key) & 1U) != 0) {
            continue;
        }
        const std::uint8_t aggregation_level =
            check.answered ? check.aggregation_level : check.entry->stamp().aggregation_level;
        const std::uint8_t end = holds_for_sources() ? 1 : rule_level(rule.keys[key]);
        if (aggregation_level < end) {
            noted |= 1U << key;
            const LoadedLimit& box = rule.ban.boxes[key];
            const bool bans = bans_now(box, aggregation_level, context);
            begun += bans ? 1U : 0U;
            if (bans) [[unlikely]] {
                notify(box, aggregation_level, context);
            }
        }
    }
    if (begun != 0 && holds_for_sources()) [[unlikely]] {
        ++core_.source_bans_begun;
    }
    return begun;
}

}  // namespace sluice

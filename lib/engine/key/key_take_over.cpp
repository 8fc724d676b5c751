#include "lib/engine/key/key_take_over.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/rules/coarse_key.hpp"

#include <variant>

namespace sluice {

bool KeyTakeOver::is_possible() const noexcept {
    const PreviousTables* earlier = core_.buckets.previous();
    if (earlier == nullptr || std::holds_alternative<ConcurrencyLimit>(limit_.limit) ||
        (limit_.migrating_to == Combine::Sum && elsewhere_.others_have({key_}))) {
        return false;
    }
    return earlier->used({key_}, core_.buckets.registry, now_) != Units{0};
}

Entry* KeyTakeOver::file(const OwnNumbers& own, Units left,
                         std::uint8_t rule_level) const noexcept {
    LimitRegistry& registry = core_.buckets.registry;
    LinePool& pool = registry.pool();
    Entry* entry = core_.buckets.keys.make_place(key_, registry, now_);
    Cell cell;
    if (entry == nullptr || !open_bucket(cell, limit_.limit, pool, GroupKey{key_.hash}, now_)) {
        return nullptr;
    }
    owe_from_start(cell, left, rule_level);
    if (own.numbers == nullptr) {
        (void)elsewhere_.charge_to(cell, limit_.limit, {key_}, pool);
    }
    const Units remains = remaining(cell, limit_.limit, pool, now_);
    entry->file(cell, key_.slot_and_tag, {limit_.version, 0});
    entry->release();
    registry.came(limit_.slot);
    if (own.numbers == nullptr) {
        return entry;
    }
    if (!registry.bring_new_under(*entry, own, now_)) {
        registry.forget(*entry);
        return nullptr;
    }
    Cell under = registry.cell_of(*entry);
    if (remains < most_of(limit_.limit)) {
        leave_at_most(under, *own.numbers, pool, now_, remains);
    }
    (void)elsewhere_.charge_to(under, *own.numbers, {key_}, pool);
    registry.write(*entry, under, now_);
    return entry;
}

void KeyTakeOver::owe_from_start(Cell& cell, Units left, std::uint8_t rule_level) const noexcept {
    LinePool& pool = core_.buckets.registry.pool();
    if (left < most_of(limit_.limit)) {
        leave_at_most(cell, limit_.limit, pool, now_, left);
    }
    if (!elsewhere_.is_coarsened()) {
        return;
    }
    std::uint8_t above = 0;
    const CoarseKeys wider{bytes_.view()};
    for (const KeyBytes& network : wider.keys()) {
        (void)elsewhere_.charge_wider_to(cell, limit_.limit, {wider_key(network), ++above}, pool);
    }
    const TableKey rule{GroupKey{}, limit_.slot};
    (void)elsewhere_.charge_wider_to(cell, limit_.limit, {rule, rule_level, true}, pool);
}

}  // namespace sluice

#include "control/cli/explain/seed.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/engine/key/key_policy.hpp"

#include <optional>

namespace sluice {
namespace {

// A new entry for the key; nullptr: it has one, or there is no room.
Entry* file(CoreState& core, const LoadedLimit& limit, ByteView key, const Cell& cell, Now now) {
    const TableKey table_key{core.hash(limit.identity, key), limit.slot};
    LimitRegistry& registry = core.buckets.registry;
    Entry* entry = core.buckets.keys.find(table_key) == nullptr
                       ? core.buckets.keys.make_place(table_key, registry, now)
                       : nullptr;
    if (entry != nullptr) {
        entry->file(cell, table_key.slot_and_tag, {limit.version, 0});
        entry->release();
        registry.came(limit.slot);
    }
    return entry;
}

std::optional<Cell> opened(CoreState& core, const LoadedLimit& limit, ByteView key, Now now) {
    Cell cell;
    const GroupKey hash = core.hash(limit.identity, key);
    const bool open = open_bucket(cell, limit.limit, core.buckets.registry.pool(), hash, now);
    return open ? std::optional{cell} : std::nullopt;
}

OwnNumbers own_numbers(const SeedBucket& seed, const CoreState& core, Now now) {
    const std::uint8_t key = seed.rule.limits[seed.limit].key;
    const RuleKeys keys{seed.rule, key, seed.key, core.hash};
    return KeyOverride{keys, key, now}.own_numbers(seed.limit);
}

}  // namespace

void seed_bucket(CoreState& core, const SeedBucket& seed, Now now) {
    const LoadedLimit& limit = seed.rule.limits[seed.limit];
    const OwnNumbers own = own_numbers(seed, core, now);
    const AnyLimit& numbers = own.numbers != nullptr ? *own.numbers : limit.limit;
    if (seed.remaining >= most_of(numbers)) {
        return;  // as good as new
    }
    LimitRegistry& registry = core.buckets.registry;
    const std::optional<Cell> fresh = opened(core, limit, seed.key, now);
    Entry* entry = fresh ? file(core, limit, seed.key, *fresh, now) : nullptr;
    if (entry == nullptr || (limit.overridden && !registry.bring_under(*entry, own, now))) {
        return;
    }
    Cell cell = registry.cell_of(*entry);
    leave_at_most(cell, numbers, registry.pool(), now, seed.remaining);
    registry.write(*entry, cell, now);
}

void seed_box(CoreState& core, const SeedBox& seed, Now now) {
    LinePool& pool = core.buckets.registry.pool();
    if (seed.left != Nanoseconds{0}) {
        (void)file(core, seed.box, seed.key, {now.at + seed.left, kNoLine}, now);
        return;
    }
    std::optional<Cell> cell =
        seed.refusals == 0 ? std::nullopt : opened(core, seed.box, seed.key, now);
    if (!cell) {
        return;
    }
    for (std::uint64_t i = 0; i < seed.refusals; ++i) {
        if (check(*cell, seed.box.limit, pool, now, {Units{1}}) == Conformance::Green) {
            charge(*cell, seed.box.limit, pool, now, {Units{1}});
        }
    }
    (void)file(core, seed.box, seed.key, *cell, now);
}

}  // namespace sluice

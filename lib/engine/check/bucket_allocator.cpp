#include "lib/engine/check/bucket_allocator.hpp"

#include "lib/bucket/meter/open_connections.hpp"
#include "lib/engine/check/on_full.hpp"

namespace sluice {
BucketAllocator::BucketAllocator(LimitCheck& check, const LoadedLimit& limit,
                                 const LoadedRule& rule, const CheckContext& context) noexcept
    : check_{check},
      limit_{limit},
      rule_{rule},
      context_{context},
      store_{context.core.buckets},
      registry_{store_.registry},
      wider_{limit, rule, context},
      debt_{limit, context, wider_} {}

bool BucketAllocator::run() noexcept {
    return new_entry() || (rule_.on_full == OnFull::Coarsen && parent());
}

bool BucketAllocator::at_level(std::uint8_t aggregation_level) noexcept {
    if (aggregation_level == 0) {
        return new_entry();
    }
    const std::span<const KeyBytes> networks = wider_.networks();
    return aggregation_level <= networks.size() &&
           parent_entry(wider_.table_key(networks[aggregation_level - 1U]), aggregation_level);
}

bool BucketAllocator::parent() noexcept {
    std::uint8_t aggregation_level = 0;
    for (const KeyBytes& key : wider_.networks()) {
        ++aggregation_level;
        if (parent_entry(wider_.table_key(key), aggregation_level)) {
            count_event(context_,
                        aggregation_level == 1 ? TableEvent::Coarsened1 : TableEvent::Coarsened2);
            return true;
        }
    }
    if (whole_rule()) {
        count_event(context_, TableEvent::CoarsenedToRule);
        return true;
    }
    return false;
}

// All of a tenant's rules together hold their share of the table, or of the pool.
bool BucketAllocator::group_share_is_used_up() const noexcept {
    const auto part_of = [&](std::size_t all) { return all * rule_.group_share / kWholeTable; };
    return registry_.entries_of_group(rule_.share_group) >= part_of(store_.keys.slots()) ||
           (!registry_.row(limit_.slot).in_entry &&
            registry_.lines_of_group(rule_.share_group) >= part_of(registry_.lines_for_keys()));
}

// Entries that a rule may hold of those the table has.
bool BucketAllocator::share_is_used_up() const noexcept {
    if (rule_.share_group != 0 && group_share_is_used_up()) {
        return true;
    }
    if (rule_.table_share == kWholeTable) {
        return false;
    }
    std::uint64_t entries = 0;
    for_each_state(rule_, [&](const LoadedLimit& limit) {
        entries += registry_.entries_of(limit.slot).read();
    });
    return entries >= store_.keys.slots() * rule_.table_share / kWholeTable;
}

bool BucketAllocator::new_entry() noexcept {
    if (share_is_used_up()) {
        count_event(context_, TableEvent::ShareFull);
        return false;
    }
    Entry* entry = store_.keys.make_place(check_.key, registry_, context_.now);
    if (entry == nullptr) {
        count_event(context_, TableEvent::TableFull);
        return false;
    }
    if (!file(*entry, check_.key, 0) || !bring_under_own(*entry, own_numbers(check_, limit_))) {
        count_event(context_, TableEvent::PoolFull);
        return false;
    }
    return true;
}

// A new bucket, full but for what it owes from the start, under the numbers that the key has.
bool BucketAllocator::bring_under_own(Entry& entry, const OwnNumbers& own) noexcept {
    if (own.numbers == nullptr) {
        return true;
    }
    const Units left = remaining(entry.cell(), limit_.limit, registry_.pool(), context_.now);
    if (!registry_.bring_new_under(entry, own, context_.now)) {
        entry.release();
        registry_.forget(entry);
        return false;
    }
    if (debt_.is_possible()) {
        Cell cell = registry_.cell_of(entry);
        if (left < most_of(limit_.limit)) {
            leave_at_most(cell, *own.numbers, registry_.pool(), context_.now, left);
        }
        debt_.charge_own_to(cell, *own.numbers, wider_.at(check_.key, 0));
        registry_.write(entry, cell, context_.now);
    }
    check_.numbers = own.numbers;
    return true;
}

// A parent has a line that was kept for it.
bool BucketAllocator::open(Cell& cell, const AnyLimit& numbers, const TableKey& key,
                           std::uint8_t aggregation_level) noexcept {
    LinePool& pool = registry_.pool();
    if (aggregation_level == 0) {
        return open_bucket(cell, numbers, pool, GroupKey{key.hash}, context_.now);
    }
    bool opened = false;
    {
        const LinePool::KeptLines kept{pool};
        opened = open_bucket(cell, numbers, pool, GroupKey{key.hash}, context_.now);
    }
    if (opened && LimitRegistry::is_pooled(registry_.row(limit_.slot))) {
        registry_.parent_took_line();
    }
    return opened;
}

// A fresh bucket at `entry`, which is empty; less what it owes from the start.
bool BucketAllocator::file(Entry& entry, const TableKey& key,
                           std::uint8_t aggregation_level) noexcept {
    const AnyLimit* numbers = numbers_of(limit_, aggregation_level);
    const std::size_t free = registry_.pool().free();
    Cell cell;
    if (numbers == nullptr || !open(cell, *numbers, key, aggregation_level)) {
        return false;
    }
    if (debt_.is_possible()) {
        // A key's own debt is counted by its own numbers: bring_under_own() charges it.
        const bool own = aggregation_level == 0 && own_numbers(check_, limit_).numbers != nullptr;
        const BucketAt at = wider_.at(key, aggregation_level);
        own ? debt_.charge_wider_to(cell, *numbers, at) : debt_.charge_to(cell, *numbers, at);
    }
    if (std::holds_alternative<ConcurrencyLimit>(*numbers)) [[unlikely]] {
        registry_.pool().at<OpenConnections>(cell.rest).set_name({key.hash, key.slot_and_tag});
    }
    entry.file(cell, key.slot_and_tag, {limit_.version, aggregation_level});
    registry_.came(limit_.slot, free - registry_.pool().free());
    check_.entry = &entry;
    check_.numbers = numbers;
    return true;
}

bool BucketAllocator::parent_entry(const TableKey& key, std::uint8_t aggregation_level) noexcept {
    check_.key = limit_.shared != 0 ? key : check_.key;
    Entry* entry = store_.parents.find(key);
    if (entry != nullptr) {
        return use(*entry, aggregation_level);
    }
    entry = store_.parents.make_place(key, registry_, context_.now);
    return entry != nullptr && file(*entry, key, aggregation_level);
}

bool BucketAllocator::whole_rule() noexcept {
    Entry& entry = store_.rule_entry(limit_.slot);
    check_.key = limit_.shared != 0 ? wider_.rule_key() : check_.key;
    return entry.empty() ? file(entry, wider_.rule_key(), wider_.last_level())
                         : use(entry, wider_.last_level());
}

bool BucketAllocator::use(Entry& entry, std::uint8_t aggregation_level) noexcept {
    registry_.update(entry, context_.now);
    check_.numbers = numbers_of(limit_, aggregation_level);
    if (check_.numbers == nullptr) {
        return false;
    }
    entry.hold();
    check_.entry = &entry;
    return true;
}

}  // namespace sluice

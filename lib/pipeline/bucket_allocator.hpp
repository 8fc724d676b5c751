#pragma once
#include "lib/pipeline/check_limit.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/table/previous_debt.hpp"
#include "lib/table/previous_tables.hpp"

#include <algorithm>
#include <optional>

// Where the bucket of a key is looked for:
//
//   its entry                      the common case
//   a new entry                    starts with no more than its parents have left
//   a parent, nearest first        when there is no place, and the rule coarsens
//   the bucket of the whole rule
namespace sluice {

inline void count_event(const CheckContext& context, TableEvent event) noexcept {
    context.core.counters.by_table_event[static_cast<std::size_t>(event)].add(1);
}

[[nodiscard]] inline bool is_pooled(const AnyLimit& limit) noexcept {
    return algorithm_of(limit) > Algorithm::LeakyBucket;
}

// The numbers that the key has in place of the limit's, if any.
[[nodiscard]] inline OwnNumbers own_numbers(const LimitCheck& check,
                                            const LoadedLimit& limit) noexcept {
    return limit.overridden && check.own != nullptr
               ? OwnNumbers{&check.own->numbers, check.own->until}
               : OwnNumbers{};
}

// The limit's numbers at a aggregation level; nullptr: it does not coarsen so far.
[[nodiscard]] inline const AnyLimit* numbers_of(const LoadedLimit& limit,
                                                std::uint8_t aggregation_level) noexcept {
    return numbers_at(limit.limit, limit.coarser, aggregation_level);
}

// One search for a bucket of a key that has none.
class BucketAllocator {
public:
    BucketAllocator(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                    const CheckContext& context) noexcept
        : check_{check},
          limit_{limit},
          rule_{rule},
          context_{context},
          store_{context.core.buckets},
          registry_{store_.registry} {}

    // False: there is none to be had, and on_full has decided.
    bool run() noexcept {
        if (new_entry()) {
            return true;
        }
        if (rule_.on_full == OnFull::Coarsen && parent()) {
            return true;
        }
        const bool open = rule_.on_full == OnFull::Open;
        count_event(context_, open ? TableEvent::Open : TableEvent::Closed);
        check_.conformance = open ? Conformance::Green : Conformance::NoRoom;
        return false;
    }

    // At this aggregation level or nowhere.
    bool at_level(std::uint8_t aggregation_level) noexcept {
        if (aggregation_level == 0) {
            return new_entry();
        }
        const std::span<const KeyBytes> wider = coarse_keys();
        return aggregation_level <= wider.size() &&
               parent_entry(table_key(wider[aggregation_level - 1U]), aggregation_level);
    }

    bool parent() noexcept {
        std::uint8_t aggregation_level = 0;
        for (const KeyBytes& key : coarse_keys()) {
            const TableKey wider_key = table_key(key);
            ++aggregation_level;
            if (parent_entry(wider_key, aggregation_level)) {
                count_event(context_, aggregation_level == 1 ? TableEvent::Coarsened1
                                                             : TableEvent::Coarsened2);
                return true;
            }
        }
        if (whole_rule()) {
            count_event(context_, TableEvent::CoarsenedToRule);
            return true;
        }
        return false;
    }

private:
    [[nodiscard]] const GroupingKey& grouping() const noexcept { return rule_.keys[limit_.key]; }

    [[nodiscard]] std::span<const KeyBytes> coarse_keys() noexcept {
        if (!coarse_) {
            coarse_.emplace(grouping(), rule_.missing_key, context_.packet_headers(),
                            context_.frame());
        }
        return coarse_->keys();
    }

    [[nodiscard]] TableKey table_key(const KeyBytes& key) const noexcept {
        return {context_.core.hash(limit_.identity, key.view()), limit_.slot};
    }

    // Entries a rule may hold, of those the table has.
    [[nodiscard]] bool share_is_used_up() const noexcept {
        if (rule_.table_share == kWholeTable) {
            return false;
        }
        std::uint64_t entries = 0;
        for_each_state(rule_, [&](const LoadedLimit& limit) {
            entries += registry_.entries_of(limit.slot).read();
        });
        return entries >= store_.keys.slots() * rule_.table_share / kWholeTable;
    }

    bool new_entry() noexcept {
        if (share_is_used_up()) {
            count_event(context_, TableEvent::ShareFull);
            return false;
        }
        Entry* entry = store_.keys.make_place(check_.key, registry_, context_.now);
        if (entry == nullptr) {
            count_event(context_, TableEvent::TableFull);
            return false;
        }
        const LinePool& pool = registry_.pool();
        const OwnNumbers own = own_numbers(check_, limit_);
        const bool wants_line = is_pooled(limit_.limit) || own.numbers != nullptr;
        const bool kept_back = wants_line && pool.free() <= pool.size() / kParentShare;
        if (kept_back || !file(*entry, check_.key, 0) || !bring_under(*entry, own)) {
            count_event(context_, TableEvent::PoolFull);
            return false;
        }
        return true;
    }

    // A new bucket, full but for what wider keys owe, under the numbers that the key has.
    bool bring_under(Entry& entry, const OwnNumbers& own) noexcept {
        if (own.numbers == nullptr) {
            return true;
        }
        const bool owed_for = store_.coarsened(context_.now.at) || store_.previous() != nullptr ||
                              !limit_.migrated_from.empty();
        const Units left = remaining(entry.cell(), limit_.limit, registry_.pool(), context_.now);
        if (!registry_.bring_new_under(entry, own, context_.now)) {
            entry.release();
            registry_.forget(entry);
            return false;
        }
        if (owed_for && left < most_of(limit_.limit)) {
            Cell cell = registry_.cell_of(entry);
            leave_at_most(cell, *own.numbers, registry_.pool(), context_.now, left);
            registry_.write(entry, cell, context_.now);
        }
        check_.numbers = own.numbers;
        return true;
    }

    // A fresh bucket at `entry`, which is empty; less what its parents owe.
    bool file(Entry& entry, const TableKey& key, std::uint8_t aggregation_level) noexcept {
        const AnyLimit* numbers = numbers_of(limit_, aggregation_level);
        Cell cell;
        if (numbers == nullptr ||
            !open_bucket(cell, *numbers, registry_.pool(), GroupKey{key.hash}, context_.now)) {
            return false;
        }
        if (store_.coarsened(context_.now.at)) {
            take_over(cell, *numbers, aggregation_level);
        }
        if (store_.previous() != nullptr && !is_taken_over(key, aggregation_level)) [[unlikely]] {
            take_over_former(cell, *numbers, key, aggregation_level);
        }
        if (!limit_.migrated_from.empty() && !is_taken_over(key, aggregation_level)) [[unlikely]] {
            take_over_migrated(cell, *numbers, key, aggregation_level);
        }
        entry.file(cell, key.slot_and_tag, {limit_.version, aggregation_level});
        registry_.came(limit_.slot);
        check_.entry = &entry;
        check_.numbers = numbers;
        return true;
    }

    // A key that gets a place starts with no more than any of its parents has left.
    void take_over(Cell& cell, const AnyLimit& numbers, std::uint8_t aggregation_level) noexcept {
        std::uint8_t above = 0;
        for (const KeyBytes& key : coarse_keys()) {
            Entry* parent =
                ++above > aggregation_level ? store_.parents.find(table_key(key)) : nullptr;
            if (parent != nullptr) {
                leave_what_is_left(cell, numbers, *parent);
            }
        }
        Entry& whole = store_.rule_entry(limit_.slot);
        if (!whole.empty() && aggregation_level < rule_level(grouping())) {
            leave_what_is_left(cell, numbers, whole);
        }
    }

    // What it or its parents owe in tables of earlier processes.
    void take_over_former(Cell& cell, const AnyLimit& numbers, const TableKey& key,
                          std::uint8_t aggregation_level) noexcept {
        const PreviousTables& previous = *store_.previous();
        const Now now = context_.now;
        const auto owe = [&](Units used) {
            context_.core.counters.former_debts.add(used == Units{0} ? 0 : 1);
            owe_what_was_used(cell, numbers, used, registry_.pool(), now);
        };
        if (aggregation_level != rule_level(grouping())) {
            owe(previous.used(key, aggregation_level, registry_, now));
            if (!previous.coarsened(now.at)) {
                return;
            }
        }
        std::uint8_t above = 0;
        for (const KeyBytes& wider : coarse_keys()) {
            if (++above > aggregation_level) {
                owe(previous.used(table_key(wider), above, registry_, now));
            }
        }
        owe(previous.used_by_rule(limit_.slot, registry_, now));
    }

    [[nodiscard]] BucketAt at(const TableKey& key, std::uint8_t aggregation_level) const noexcept {
        return {key, aggregation_level, aggregation_level == rule_level(grouping())};
    }

    // While keys move, what several workers have of one adds up: one of them takes over what it
    // owed before.
    [[nodiscard]] bool is_taken_over(const TableKey& key,
                                     std::uint8_t aggregation_level) const noexcept {
        return limit_.migrating_to == Combine::Sum && store_.worker_tables() != nullptr &&
               store_.worker_tables()->others_have(at(key, aggregation_level), store_);
    }

    // What it or its parents owe where the packets of these keys have met other workers.
    void take_over_migrated(Cell& cell, const AnyLimit& numbers, const TableKey& key,
                            std::uint8_t aggregation_level) noexcept {
        const Now now = context_.now;
        take(cell, numbers, owed_before(store_, at(key, aggregation_level), now));
        const WorkerTables* worker_tables = store_.worker_tables();
        if (worker_tables == nullptr || !worker_tables->coarsened(now.at)) {
            return;
        }
        // In their units: what they owe is not this key's own.
        const auto take_used = [&](const BucketAt& wider) {
            take(cell, numbers, {.used = owed_before(store_, wider, now).used});
        };
        std::uint8_t above = 0;
        for (const KeyBytes& wider : coarse_keys()) {
            if (++above > aggregation_level) {
                take_used(at(table_key(wider), above));
            }
        }
        if (aggregation_level < rule_level(grouping())) {
            take_used(at(TableKey{GroupKey{}, limit_.slot}, rule_level(grouping())));
        }
    }

    void take(Cell& cell, const AnyLimit& numbers, const Owed& owed) noexcept {
        context_.core.counters.moved_debts.add(owed.used == Units{0} ? 0 : 1);
        owe(cell, numbers, owed, registry_.pool(), context_.now);
    }

    void leave_what_is_left(Cell& cell, const AnyLimit& numbers, Entry& parent) noexcept {
        registry_.update(parent, context_.now);
        const AnyLimit* wider = numbers_of(limit_, parent.stamp().aggregation_level);
        if (wider != nullptr) {
            const Units left = remaining(parent.cell(), *wider, registry_.pool(), context_.now);
            leave_at_most(cell, numbers, registry_.pool(), context_.now, left);
        }
    }

    bool parent_entry(const TableKey& key, std::uint8_t aggregation_level) noexcept {
        check_.key = limit_.shared != 0 ? key : check_.key;
        Entry* entry = store_.parents.find(key);
        if (entry != nullptr) {
            return use(*entry, aggregation_level);
        }
        entry = store_.parents.make_place(key, registry_, context_.now);
        return entry != nullptr && file(*entry, key, aggregation_level);
    }

    bool whole_rule() noexcept {
        Entry& entry = store_.rule_entry(limit_.slot);
        const std::uint8_t aggregation_level = rule_level(grouping());
        check_.key = limit_.shared != 0 ? TableKey{GroupKey{}, limit_.slot} : check_.key;
        if (!entry.empty()) {
            return use(entry, aggregation_level);
        }
        return file(entry, TableKey{GroupKey{}, limit_.slot}, aggregation_level);
    }

    bool use(Entry& entry, std::uint8_t aggregation_level) noexcept {
        registry_.update(entry, context_.now);
        check_.numbers = numbers_of(limit_, aggregation_level);
        if (check_.numbers == nullptr) {
            return false;
        }
        entry.hold();
        check_.entry = &entry;
        return true;
    }

    LimitCheck& check_;
    const LoadedLimit& limit_;
    const LoadedRule& rule_;
    const CheckContext& context_;
    BucketStore& store_;
    LimitRegistry& registry_;
    std::optional<CoarseKeys> coarse_;
};

}  // namespace sluice

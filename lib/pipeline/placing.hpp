#pragma once
#include "lib/meter/former_debt.hpp"
#include "lib/meter/former_tables.hpp"
#include "lib/pipeline/look_at.hpp"
#include "lib/rules/coarse_key.hpp"

#include <algorithm>
#include <optional>

// Where the bucket of a key is looked for:
//
//   its entry                      the common case
//   a new entry                    starts with no more than its parents have left
//   a parent, nearest first        when there is no place, and the rule coarsens
//   the bucket of the whole rule
namespace sluice {

inline void count_event(const Judging& judging, TableEvent event) noexcept {
    judging.core.counters.by_table_event[static_cast<std::size_t>(event)].add(1);
}

[[nodiscard]] inline bool is_pooled(const AnyLimit& limit) noexcept {
    return algorithm_of(limit) > Algorithm::LeakyBucket;
}

// The numbers that the key has in place of the limit's, if any.
[[nodiscard]] inline OwnNumbers own_numbers(const Look& look, const LoadedLimit& limit) noexcept {
    return limit.overridden && look.own != nullptr ? OwnNumbers{&look.own->numbers, look.own->until}
                                                   : OwnNumbers{};
}

// The limit's numbers at a step; nullptr: it does not coarsen so far.
[[nodiscard]] inline const AnyLimit* numbers_of(const LoadedLimit& limit,
                                                std::uint8_t step) noexcept {
    return numbers_at(limit.limit, limit.coarser, step);
}

// One search for a bucket of a key that has none.
class Placing {
public:
    Placing(Look& look, const LoadedLimit& limit, const LoadedRule& rule,
            const Judging& judging) noexcept
        : look_{look},
          limit_{limit},
          rule_{rule},
          judging_{judging},
          store_{judging.core.buckets},
          tenants_{store_.tenants} {}

    // False: there is none to be had, and on_full has decided.
    bool run() noexcept {
        if (new_entry()) {
            return true;
        }
        if (rule_.on_full == OnFull::Coarsen && parent()) {
            return true;
        }
        const bool open = rule_.on_full == OnFull::Open;
        count_event(judging_, open ? TableEvent::Open : TableEvent::Closed);
        look_.judgement = open ? Judgement::Green : Judgement::NoRoom;
        return false;
    }

    // At this step or nowhere.
    bool at_step(std::uint8_t step) noexcept {
        if (step == 0) {
            return new_entry();
        }
        const std::span<const KeyBytes> wider = coarse_keys();
        return step <= wider.size() && parent_entry(filed_key(wider[step - 1U]), step);
    }

    bool parent() noexcept {
        std::uint8_t step = 0;
        for (const KeyBytes& key : coarse_keys()) {
            const FiledKey filed = filed_key(key);
            ++step;
            if (parent_entry(filed, step)) {
                count_event(judging_, step == 1 ? TableEvent::Coarsened1 : TableEvent::Coarsened2);
                return true;
            }
        }
        if (whole_rule()) {
            count_event(judging_, TableEvent::CoarsenedToRule);
            return true;
        }
        return false;
    }

private:
    [[nodiscard]] const GroupingKey& grouping() const noexcept { return rule_.keys[limit_.key]; }

    [[nodiscard]] std::span<const KeyBytes> coarse_keys() noexcept {
        if (!coarse_) {
            coarse_.emplace(grouping(), rule_.missing_key, judging_.flow(), judging_.frame());
        }
        return coarse_->keys();
    }

    [[nodiscard]] FiledKey filed_key(const KeyBytes& key) const noexcept {
        return {judging_.core.hash(limit_.identity, key.view()), limit_.slot};
    }

    // Entries a rule may hold, of those the table has.
    [[nodiscard]] bool share_is_used_up() const noexcept {
        if (rule_.table_share == kWholeTable) {
            return false;
        }
        std::uint64_t entries = 0;
        for_each_state(rule_, [&](const LoadedLimit& limit) {
            entries += tenants_.entries_of(limit.slot).read();
        });
        return entries >= store_.keys.slots() * rule_.table_share / kWholeTable;
    }

    bool new_entry() noexcept {
        if (share_is_used_up()) {
            count_event(judging_, TableEvent::ShareFull);
            return false;
        }
        Entry* entry = store_.keys.make_place(look_.key, tenants_, judging_.now);
        if (entry == nullptr) {
            count_event(judging_, TableEvent::TableFull);
            return false;
        }
        const LinePool& pool = tenants_.pool();
        const OwnNumbers own = own_numbers(look_, limit_);
        const bool wants_line = is_pooled(limit_.limit) || own.numbers != nullptr;
        const bool kept_back = wants_line && pool.free() <= pool.size() / kParentShare;
        if (kept_back || !file(*entry, look_.key, 0) || !bring_under(*entry, own)) {
            count_event(judging_, TableEvent::PoolFull);
            return false;
        }
        return true;
    }

    // A new bucket, full but for what wider keys owe, under the numbers that the key has.
    bool bring_under(Entry& entry, const OwnNumbers& own) noexcept {
        if (own.numbers == nullptr) {
            return true;
        }
        const bool owed_for = store_.coarsened(judging_.now.at) || store_.former() != nullptr ||
                              !limit_.moved_from.empty();
        const Units left = remaining(entry.cell(), limit_.limit, tenants_.pool(), judging_.now);
        if (!tenants_.bring_new_under(entry, own, judging_.now)) {
            entry.release();
            tenants_.forget(entry);
            return false;
        }
        if (owed_for && left < most_of(limit_.limit)) {
            Cell cell = tenants_.cell_of(entry);
            leave_at_most(cell, *own.numbers, tenants_.pool(), judging_.now, left);
            tenants_.write(entry, cell, judging_.now);
        }
        look_.numbers = own.numbers;
        return true;
    }

    // A fresh bucket at `entry`, which is empty; less what its parents owe.
    bool file(Entry& entry, const FiledKey& key, std::uint8_t step) noexcept {
        const AnyLimit* numbers = numbers_of(limit_, step);
        Cell cell;
        if (numbers == nullptr ||
            !open_bucket(cell, *numbers, tenants_.pool(), GroupKey{key.hash}, judging_.now)) {
            return false;
        }
        if (store_.coarsened(judging_.now.at)) {
            take_over(cell, *numbers, step);
        }
        if (store_.former() != nullptr && !is_taken_over(key, step)) [[unlikely]] {
            take_over_former(cell, *numbers, key, step);
        }
        if (!limit_.moved_from.empty() && !is_taken_over(key, step)) [[unlikely]] {
            take_over_moved(cell, *numbers, key, step);
        }
        entry.file(cell, key.filed, {limit_.version, step});
        tenants_.came(limit_.slot);
        look_.entry = &entry;
        look_.numbers = numbers;
        return true;
    }

    // A key that gets a place starts with no more than any of its parents has left.
    void take_over(Cell& cell, const AnyLimit& numbers, std::uint8_t step) noexcept {
        std::uint8_t above = 0;
        for (const KeyBytes& key : coarse_keys()) {
            Entry* parent = ++above > step ? store_.parents.find(filed_key(key)) : nullptr;
            if (parent != nullptr) {
                leave_what_is_left(cell, numbers, *parent);
            }
        }
        Entry& whole = store_.rule_entry(limit_.slot);
        if (!whole.empty() && step < rule_step(grouping())) {
            leave_what_is_left(cell, numbers, whole);
        }
    }

    // What it or its parents owe in tables of earlier processes.
    void take_over_former(Cell& cell, const AnyLimit& numbers, const FiledKey& key,
                          std::uint8_t step) noexcept {
        const FormerTables& former = *store_.former();
        const Now now = judging_.now;
        const auto owe = [&](Units used) {
            judging_.core.counters.former_debts.add(used == Units{0} ? 0 : 1);
            owe_what_was_used(cell, numbers, used, tenants_.pool(), now);
        };
        if (step != rule_step(grouping())) {
            owe(former.used(key, step, tenants_, now));
            if (!former.coarsened(now.at)) {
                return;
            }
        }
        std::uint8_t above = 0;
        for (const KeyBytes& wider : coarse_keys()) {
            if (++above > step) {
                owe(former.used(filed_key(wider), above, tenants_, now));
            }
        }
        owe(former.used_by_rule(limit_.slot, tenants_, now));
    }

    [[nodiscard]] BucketAt at(const FiledKey& key, std::uint8_t step) const noexcept {
        return {key, step, step == rule_step(grouping())};
    }

    // While keys move, what several workers have of one adds up: one of them takes over what it
    // owed before.
    [[nodiscard]] bool is_taken_over(const FiledKey& key, std::uint8_t step) const noexcept {
        return limit_.moving == Combine::Sum && store_.peers() != nullptr &&
               store_.peers()->others_have(at(key, step), store_);
    }

    // What it or its parents owe where the packets of these keys have met other workers.
    void take_over_moved(Cell& cell, const AnyLimit& numbers, const FiledKey& key,
                         std::uint8_t step) noexcept {
        const Now now = judging_.now;
        take(cell, numbers, owed_before(store_, at(key, step), now));
        const PeerTables* peers = store_.peers();
        if (peers == nullptr || !peers->coarsened(now.at)) {
            return;
        }
        // In their units: what they owe is not this key's own.
        const auto take_used = [&](const BucketAt& wider) {
            take(cell, numbers, {.used = owed_before(store_, wider, now).used});
        };
        std::uint8_t above = 0;
        for (const KeyBytes& wider : coarse_keys()) {
            if (++above > step) {
                take_used(at(filed_key(wider), above));
            }
        }
        if (step < rule_step(grouping())) {
            take_used(at(FiledKey{GroupKey{}, limit_.slot}, rule_step(grouping())));
        }
    }

    void take(Cell& cell, const AnyLimit& numbers, const Owed& owed) noexcept {
        judging_.core.counters.moved_debts.add(owed.used == Units{0} ? 0 : 1);
        owe(cell, numbers, owed, tenants_.pool(), judging_.now);
    }

    void leave_what_is_left(Cell& cell, const AnyLimit& numbers, Entry& parent) noexcept {
        tenants_.update(parent, judging_.now);
        const AnyLimit* wider = numbers_of(limit_, parent.stamp().step);
        if (wider != nullptr) {
            const Units left = remaining(parent.cell(), *wider, tenants_.pool(), judging_.now);
            leave_at_most(cell, numbers, tenants_.pool(), judging_.now, left);
        }
    }

    bool parent_entry(const FiledKey& key, std::uint8_t step) noexcept {
        look_.key = limit_.shared != 0 ? key : look_.key;
        Entry* entry = store_.parents.find(key);
        if (entry != nullptr) {
            return use(*entry, step);
        }
        entry = store_.parents.make_place(key, tenants_, judging_.now);
        return entry != nullptr && file(*entry, key, step);
    }

    bool whole_rule() noexcept {
        Entry& entry = store_.rule_entry(limit_.slot);
        const std::uint8_t step = rule_step(grouping());
        look_.key = limit_.shared != 0 ? FiledKey{GroupKey{}, limit_.slot} : look_.key;
        if (!entry.empty()) {
            return use(entry, step);
        }
        return file(entry, FiledKey{GroupKey{}, limit_.slot}, step);
    }

    bool use(Entry& entry, std::uint8_t step) noexcept {
        tenants_.update(entry, judging_.now);
        look_.numbers = numbers_of(limit_, step);
        if (look_.numbers == nullptr) {
            return false;
        }
        entry.hold();
        look_.entry = &entry;
        return true;
    }

    Look& look_;
    const LoadedLimit& limit_;
    const LoadedRule& rule_;
    const Judging& judging_;
    BucketStore& store_;
    Tenants& tenants_;
    std::optional<CoarseKeys> coarse_;
};

}  // namespace sluice

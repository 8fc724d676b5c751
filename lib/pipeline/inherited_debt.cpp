#include "lib/pipeline/inherited_debt.hpp"

namespace sluice {

void InheritedDebt::charge_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at) noexcept {
    if (store_.coarsened(context_.now.at)) {
        take_from_wider(cell, numbers, at);
    }
    if (store_.previous() != nullptr && !is_taken_over(at)) [[unlikely]] {
        take_from_previous(cell, numbers, at);
    }
    if (!limit_.migrated_from.empty() && !is_taken_over(at)) [[unlikely]] {
        take_from_workers(cell, numbers, at);
    }
}

// A key that gets a place starts with no more than any of its parents has left.
void InheritedDebt::take_from_wider(Cell& cell, const AnyLimit& numbers,
                                    const BucketAt& at) noexcept {
    std::uint8_t above = 0;
    for (const KeyBytes& key : wider_.networks()) {
        Entry* parent =
            ++above > at.aggregation_level ? store_.parents.find(wider_.table_key(key)) : nullptr;
        if (parent != nullptr) {
            leave_what_is_left(cell, numbers, *parent);
        }
    }
    Entry& whole = store_.rule_entry(limit_.slot);
    if (!whole.empty() && at.aggregation_level < wider_.last_level()) {
        leave_what_is_left(cell, numbers, whole);
    }
}

void InheritedDebt::leave_what_is_left(Cell& cell, const AnyLimit& numbers,
                                       Entry& parent) noexcept {
    registry_.update(parent, context_.now);
    const AnyLimit* wider =
        numbers_at(limit_.limit, limit_.coarser, parent.stamp().aggregation_level);
    if (wider != nullptr) {
        const Units left = remaining(parent.cell(), *wider, registry_.pool(), context_.now);
        leave_at_most(cell, numbers, registry_.pool(), context_.now, left);
    }
}

void InheritedDebt::take_from_previous(Cell& cell, const AnyLimit& numbers,
                                       const BucketAt& at) noexcept {
    const PreviousTables& previous = *store_.previous();
    const Now now = context_.now;
    const auto owe = [&](Units used) {
        context_.core.counters.former_debts.add(used == Units{0} ? 0 : 1);
        owe_what_was_used(cell, numbers, used, registry_.pool(), now);
    };
    if (!at.of_rule) {
        owe(previous.used(at.key, at.aggregation_level, registry_, now));
        if (!previous.coarsened(now.at)) {
            return;
        }
    }
    std::uint8_t above = 0;
    for (const KeyBytes& wider : wider_.networks()) {
        if (++above > at.aggregation_level) {
            owe(previous.used(wider_.table_key(wider), above, registry_, now));
        }
    }
    owe(previous.used_by_rule(limit_.slot, registry_, now));
}

// While keys move, what several workers have of one adds up: one of them takes over what it owed
// before.
bool InheritedDebt::is_taken_over(const BucketAt& at) const noexcept {
    return limit_.migrating_to == Combine::Sum && store_.worker_tables() != nullptr &&
           store_.worker_tables()->others_have(at, store_);
}

void InheritedDebt::take_from_workers(Cell& cell, const AnyLimit& numbers,
                                      const BucketAt& at) noexcept {
    const Now now = context_.now;
    take(cell, numbers, owed_before(store_, at, now));
    const WorkerTables* worker_tables = store_.worker_tables();
    if (worker_tables == nullptr || !worker_tables->coarsened(now.at)) {
        return;
    }
    // In their units: what they owe is not this key's own.
    const auto take_used = [&](const BucketAt& wider) {
        take(cell, numbers, {.used = owed_before(store_, wider, now).used});
    };
    std::uint8_t above = 0;
    for (const KeyBytes& wider : wider_.networks()) {
        if (++above > at.aggregation_level) {
            take_used(wider_.at(wider_.table_key(wider), above));
        }
    }
    if (!at.of_rule) {
        take_used(wider_.at(wider_.rule_key(), wider_.last_level()));
    }
}

void InheritedDebt::take(Cell& cell, const AnyLimit& numbers, const Owed& owed) noexcept {
    context_.core.counters.moved_debts.add(owed.used == Units{0} ? 0 : 1);
    owe(cell, numbers, owed, registry_.pool(), context_.now);
}

}  // namespace sluice

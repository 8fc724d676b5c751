#include "lib/engine/check/inherited_debt.hpp"

namespace sluice {

void InheritedDebt::charge_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at) noexcept {
    take_from_wider(cell, numbers, at);
    charge_own_to(cell, numbers, at);
    take_from_wider_elsewhere(cell, numbers, at);
}

void InheritedDebt::charge_wider_to(Cell& cell, const AnyLimit& numbers,
                                    const BucketAt& at) noexcept {
    take_from_wider(cell, numbers, at);
    take_from_wider_elsewhere(cell, numbers, at);
}

// The debts of the wider keys that may have stood for the bucket there.
void InheritedDebt::take_from_wider_elsewhere(Cell& cell, const AnyLimit& numbers,
                                              const BucketAt& at) noexcept {
    if (!owes_elsewhere(at) || at.of_rule) [[likely]] {
        return;
    }
    if (elsewhere_.is_coarsened()) {
        wider_.for_each_above(at.aggregation_level, [&](const BucketAt& wider) {
            note(elsewhere_.charge_wider_to(cell, numbers, wider, registry_.pool()));
        });
    }
}

void InheritedDebt::charge_own_to(Cell& cell, const AnyLimit& numbers,
                                  const BucketAt& at) noexcept {
    if (owes_elsewhere(at)) [[unlikely]] {
        note(elsewhere_.charge_to(cell, numbers, at, registry_.pool()));
    }
}

// A key that gets a place starts with no more than any of its parents has left.
void InheritedDebt::take_from_wider(Cell& cell, const AnyLimit& numbers,
                                    const BucketAt& at) noexcept {
    if (!store_.coarsened(context_.now.at)) {
        return;
    }
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

// While keys move, what several workers have of one adds up: one of them takes over what it owed
// before.
bool InheritedDebt::is_taken_over(const BucketAt& at) const noexcept {
    return limit_.migrating_to == Combine::Sum && elsewhere_.others_have(at);
}

void InheritedDebt::note(RemoteDebt::Taken taken) noexcept {
    if (context_.ask.is_dry_run()) {
        return;
    }
    context_.core.counters.former_debts.add(taken.in_earlier ? 1 : 0);
    context_.core.counters.moved_debts.add(taken.at_workers ? 1 : 0);
}

}  // namespace sluice

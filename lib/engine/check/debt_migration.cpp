#include "lib/engine/check/debt_migration.hpp"

#include "lib/bucket/table/remote_debt.hpp"
#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/check/own_numbers.hpp"
#include "lib/engine/check/shared_charge.hpp"
#include "lib/engine/check/wider_keys.hpp"

namespace sluice {
namespace {

// The buckets that one packet's key may be charged to, by aggregation level, and who else has them.
class RemoteKey {
public:
    RemoteKey(const TableKey& own, const AskedLimit& asked) noexcept
        : own_{own},
          asked_{asked},
          elsewhere_{asked.context.core.buckets, asked.context.now},
          wider_{asked.limit, asked.rule, asked.context} {}

    [[nodiscard]] BucketAt bucket_at(std::uint8_t aggregation_level) noexcept {
        return aggregation_level == 0 ? BucketAt{own_} : wider_.bucket(aggregation_level);
    }
    // The aggregation level above: not all keys of a rule can be widened as often.
    [[nodiscard]] std::uint8_t above(std::uint8_t aggregation_level) noexcept {
        return aggregation_level < wider_.networks().size()
                   ? static_cast<std::uint8_t>(aggregation_level + 1)
                   : wider_.last_level();
    }

    // Units that others hold, and may go on charging.
    [[nodiscard]] Units held_by_others(const BucketAt& at) const noexcept {
        return is_moving() ? elsewhere_.held_by_others(at) : Units{0};
    }
    // The same of that aggregation level and of all wider ones, which may have stood for the key
    // there.
    [[nodiscard]] Units held_from(std::uint8_t aggregation_level) noexcept {
        Units held = held_by_others(bucket_at(aggregation_level));
        if (elsewhere_.others_coarsened()) {
            wider_.for_each_above(aggregation_level, [&](const BucketAt& wider) {
                if (wider.aggregation_level > aggregation_level) {
                    held = held + held_by_others(wider);
                }
            });
        }
        return held;
    }
    [[nodiscard]] bool arrives(const BucketAt& at) const noexcept { return elsewhere_.arrives(at); }
    // Units that nobody charges any more, if nobody has taken them over either.
    [[nodiscard]] Units left_behind(const BucketAt& at) const noexcept {
        // A key may have a place here, and no line of the pool for one more charge.
        const bool is_here =
            at.aggregation_level == 0 && asked_.context.core.buckets.keys.find(at.key) != nullptr;
        const bool is_taken_over = is_here || (is_moving() && elsewhere_.others_have(at));
        return is_taken_over ? Units{0} : elsewhere_.used(at);
    }
    void end(const BucketAt& at) const noexcept { elsewhere_.end(at); }

private:
    [[nodiscard]] bool is_moving() const noexcept {
        return asked_.limit.migrating_to == Combine::Sum;
    }

    const TableKey& own_;
    const AskedLimit& asked_;
    RemoteDebt elsewhere_;
    WiderKeys wider_;
};

// The debts of the buckets below the one at look.entry: each of them would have been charged in its
// place, had it been there.
class Debts {
public:
    Debts(const LimitCheck& check, const TableKey& own, const AskedLimit& asked) noexcept
        : check_{check}, asked_{asked}, elsewhere_{own, asked} {}

    // False: one of them would refuse the packet.
    [[nodiscard]] bool add_up() noexcept {
        const std::uint8_t end = check_.entry->stamp().aggregation_level;
        for (std::uint8_t aggregation_level = 0; aggregation_level < end;
             aggregation_level = elsewhere_.above(aggregation_level)) {
            const BucketAt at = elsewhere_.bucket_at(aggregation_level);
            // Debts on their way cannot be ended yet, so they are weighed until they have arrived.
            const bool arrives = elsewhere_.arrives(at);
            const Units owed = elsewhere_.left_behind(at);
            const Units held = elsewhere_.held_by_others(at) + (arrives ? owed : Units{0});
            const Units left = arrives ? Units{0} : owed;
            if (held + left == Units{0}) {
                continue;
            }
            const AnyLimit* numbers = numbers_below(aggregation_level);
            if (numbers == nullptr || held + left + demanded() > most_of(*numbers)) {
                return false;
            }
            held_ = held_ + held;
            left_ = left_ + left;
        }
        return true;
    }
    // Units that come along, and all that are weighed.
    [[nodiscard]] Units left() const noexcept { return left_; }
    [[nodiscard]] Units all() const noexcept { return held_ + left_; }

    void end_all() noexcept {
        const std::uint8_t end = check_.entry->stamp().aggregation_level;
        for (std::uint8_t aggregation_level = 0; aggregation_level < end;
             aggregation_level = elsewhere_.above(aggregation_level)) {
            elsewhere_.end(elsewhere_.bucket_at(aggregation_level));
        }
    }

private:
    [[nodiscard]] const AnyLimit* numbers_below(std::uint8_t aggregation_level) const noexcept {
        const OwnNumbers own =
            aggregation_level == 0 ? own_numbers(check_, asked_.limit) : OwnNumbers{};
        return own.numbers != nullptr ? own.numbers : numbers_of(asked_.limit, aggregation_level);
    }

    [[nodiscard]] Units demanded() const noexcept {
        const Units cost = check_.counts_already() ? Units{0} : check_.cost;
        return cost + charged_before(check_, asked_.context).all();
    }

    const LimitCheck& check_;
    const AskedLimit& asked_;
    RemoteKey elsewhere_;
    Units held_{0};
    Units left_{0};
};

// Charged before it is ended: who is killed in between owes it twice. False: nothing was done,
// since there is no way to tell other workers of so much.
bool charge_debts(const LimitCheck& check, Debts& debts, const CheckContext& context) noexcept {
    LimitCheck debt = check;
    debt.cost = debts.left();
    if (needs_value(*debt.numbers)) {
        debt.value = 0;  // so many of which nothing is known
    }
    if (is_shared(*check.entry, context) && !can_note(debt, context)) {
        return false;
    }
    commit(debt, context, true, false);
    check.entry->hold();
    debts.end_all();
    context.core.counters.moved_debts.add(1);
    return true;
}

[[gnu::noinline]] void migrate_debt_slow(LimitCheck& check, const TableKey& own,
                                         const AskedLimit& asked) noexcept {
    Debts debts{check, own, asked};
    if (!debts.add_up()) {
        check.conformance = Conformance::Red;
        return;
    }
    if (debts.all() == Units{0}) {
        return;
    }
    LimitCheck all = check;
    all.cost = check.cost + debts.all();
    all.conformance = ask_bucket(all, asked.context);
    check_others(all, own, asked);
    if (asked.context.ask.is_dry_run()) {
        check.conformance = all.conformance;
        return;
    }
    const bool fits = is_admitted(all.conformance) &&
                      (debts.left() == Units{0} || charge_debts(all, debts, asked.context));
    check.conformance = fits ? ask_bucket(check, asked.context) : Conformance::Red;
}

}  // namespace

void check_others(LimitCheck& check, const TableKey& own, const AskedLimit& asked) noexcept {
    if (!is_admitted(check.conformance) || check.entry == nullptr ||
        asked.limit.migrating_to != Combine::Sum || check.counts_already()) {
        return;
    }
    RemoteKey elsewhere{own, asked};
    const BucketStore& store = asked.context.core.buckets;
    const Units others = elsewhere.held_from(check.entry->stamp().aggregation_level);
    const Units left = remaining(store.registry.cell_of(*check.entry), *check.numbers,
                                 store.registry.pool(), asked.context.now);
    if (others + check.cost + charged_before(check, asked.context).all() > left) {
        check.conformance = Conformance::Red;
    }
}

void migrate_debt(LimitCheck& check, const TableKey& own, const AskedLimit& asked) noexcept {
    const LoadedLimit& limit = asked.limit;
    const bool may_owe = limit.migrating_to == Combine::Sum || !limit.migrated_from.empty() ||
                         asked.context.core.buckets.previous() != nullptr;
    if (may_owe && check.entry != nullptr && is_admitted(check.conformance)) {
        migrate_debt_slow(check, own, asked);
    }
}

}  // namespace sluice

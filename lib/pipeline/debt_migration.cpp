#include "lib/pipeline/debt_migration.hpp"

#include "lib/pipeline/ask_bucket.hpp"
#include "lib/pipeline/own_numbers.hpp"
#include "lib/pipeline/shared_charge.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/table/previous_debt.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

// The buckets that one packet's key may be charged to, by aggregation level, and who else has them.
class KeyElsewhere {
public:
    KeyElsewhere(const TableKey& own, const AskedLimit& asked) noexcept
        : own_{own}, asked_{asked}, store_{asked.context.core.buckets} {}

    [[nodiscard]] BucketAt bucket_at(std::uint8_t aggregation_level) noexcept {
        if (aggregation_level == 0) {
            return {own_};
        }
        if (aggregation_level == last_level()) {
            return {TableKey{GroupKey{}, asked_.limit.slot}, aggregation_level, true};
        }
        return {table_key(wider_keys()[aggregation_level - 1U]), aggregation_level};
    }
    // The aggregation level above: not all keys of a rule can be widened as often.
    [[nodiscard]] std::uint8_t above(std::uint8_t aggregation_level) noexcept {
        return aggregation_level < wider_keys().size()
                   ? static_cast<std::uint8_t>(aggregation_level + 1)
                   : last_level();
    }
    [[nodiscard]] std::uint8_t last_level() const noexcept { return rule_level(grouping()); }

    // What others hold, and may go on charging.
    [[nodiscard]] Units held_by_others(const BucketAt& at) const noexcept {
        return asked_.limit.migrating_to != Combine::Sum || store_.worker_tables() == nullptr
                   ? Units{0}
                   : store_.worker_tables()->used_by_others(at, Combine::Sum, store_,
                                                            asked_.context.now);
    }
    // The same of that aggregation level and of all wider ones, which may have stood for the key
    // there.
    [[nodiscard]] Units held_from(std::uint8_t aggregation_level) noexcept {
        Units held = held_by_others(bucket_at(aggregation_level));
        if (store_.worker_tables() != nullptr &&
            store_.worker_tables()->coarsened(asked_.context.now.at)) {
            while (aggregation_level < last_level()) {
                aggregation_level = above(aggregation_level);
                held = held + held_by_others(bucket_at(aggregation_level));
            }
        }
        return held;
    }
    [[nodiscard]] bool is_on_its_way(const BucketAt& at) const noexcept {
        return store_.worker_tables() != nullptr &&
               store_.worker_tables()->is_on_its_way(at, store_.registry);
    }
    // What nobody charges any more, if nobody has taken it over either.
    [[nodiscard]] Units left_behind(const BucketAt& at) const noexcept {
        // A key may have a place here, and no line of the pool for one more charge.
        const bool is_here =
            at.aggregation_level == 0 && asked_.context.core.buckets.keys.find(at.key) != nullptr;
        const bool is_taken_over = is_here || (asked_.limit.migrating_to == Combine::Sum &&
                                               store_.worker_tables() != nullptr &&
                                               store_.worker_tables()->others_have(at, store_));
        return is_taken_over ? Units{0} : owed_elsewhere(store_, at, asked_.context.now);
    }

private:
    [[nodiscard]] TableKey table_key(const KeyBytes& key) const noexcept {
        return {asked_.context.core.hash(asked_.limit.identity, key.view()), asked_.limit.slot};
    }
    [[nodiscard]] const GroupingKey& grouping() const noexcept {
        return asked_.rule.keys[asked_.limit.key];
    }
    [[nodiscard]] std::span<const KeyBytes> wider_keys() noexcept {
        if (!wider_) {
            const CheckContext& context = asked_.context;
            wider_.emplace(grouping(), asked_.rule.missing_key, context.packet_headers(),
                           context.frame());
        }
        return wider_->keys();
    }

    const TableKey& own_;
    const AskedLimit& asked_;
    const BucketStore& store_;
    std::optional<CoarseKeys> wider_;
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
            // What is on its way cannot be ended yet, so it is weighed until it has arrived.
            const bool arrives = elsewhere_.is_on_its_way(at);
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
    // What comes along, and what is only weighed.
    [[nodiscard]] Units left() const noexcept { return left_; }
    [[nodiscard]] Units all() const noexcept { return held_ + left_; }

    void end_all() noexcept {
        const std::uint8_t end = check_.entry->stamp().aggregation_level;
        for (std::uint8_t aggregation_level = 0; aggregation_level < end;
             aggregation_level = elsewhere_.above(aggregation_level)) {
            end_elsewhere(asked_.context.core.buckets, elsewhere_.bucket_at(aggregation_level));
        }
    }

private:
    [[nodiscard]] const AnyLimit* numbers_below(std::uint8_t aggregation_level) const noexcept {
        const OwnNumbers own =
            aggregation_level == 0 ? own_numbers(check_, asked_.limit) : OwnNumbers{};
        return own.numbers != nullptr ? own.numbers : numbers_of(asked_.limit, aggregation_level);
    }

    [[nodiscard]] Units demanded() const noexcept {
        return check_.cost + charged_before(check_, asked_.context).all();
    }

    const LimitCheck& check_;
    const AskedLimit& asked_;
    KeyElsewhere elsewhere_;
    Units held_{0};
    Units left_{0};
};

// Charged before it is ended: who is killed in between owes it twice. False: nothing was done,
// since there is no way to tell other workers of so much.
bool charge_debts(const LimitCheck& check, Debts& debts, const CheckContext& context) noexcept {
    LimitCheck debt = check;
    debt.cost = debts.left();
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
    weigh_others(all, own, asked);
    const bool fits = is_admitted(all.conformance) &&
                      (debts.left() == Units{0} || charge_debts(all, debts, asked.context));
    check.conformance = fits ? ask_bucket(check, asked.context) : Conformance::Red;
}

}  // namespace

void weigh_others(LimitCheck& check, const TableKey& own, const AskedLimit& asked) noexcept {
    if (!is_admitted(check.conformance) || check.entry == nullptr ||
        asked.limit.migrating_to != Combine::Sum) {
        return;
    }
    KeyElsewhere elsewhere{own, asked};
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

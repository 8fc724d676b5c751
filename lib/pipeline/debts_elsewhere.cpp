#include "lib/pipeline/debts_elsewhere.hpp"

#include "lib/meter/former_debt.hpp"
#include "lib/pipeline/ask_bucket.hpp"
#include "lib/pipeline/placing.hpp"
#include "lib/pipeline/shared_charge.hpp"
#include "lib/rules/coarse_key.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

// The buckets that one packet's key may be charged to, by step, and who else has them.
class KeyElsewhere {
public:
    KeyElsewhere(const FiledKey& own, const AskedLimit& asked) noexcept
        : own_{own}, asked_{asked}, store_{asked.judging.core.buckets} {}

    [[nodiscard]] BucketAt bucket_at(std::uint8_t step) noexcept {
        if (step == 0) {
            return {own_};
        }
        if (step == last_step()) {
            return {FiledKey{GroupKey{}, asked_.limit.slot}, step, true};
        }
        return {filed(wider_keys()[step - 1U]), step};
    }
    // The step above: not all keys of a rule can be widened as often.
    [[nodiscard]] std::uint8_t above(std::uint8_t step) noexcept {
        return step < wider_keys().size() ? static_cast<std::uint8_t>(step + 1) : last_step();
    }
    [[nodiscard]] std::uint8_t last_step() const noexcept { return rule_step(grouping()); }

    // What others hold, and may go on charging.
    [[nodiscard]] Units held_by_others(const BucketAt& at) const noexcept {
        return asked_.limit.moving != Combine::Sum || store_.peers() == nullptr
                   ? Units{0}
                   : store_.peers()->used_by_others(at, Combine::Sum, store_, asked_.judging.now);
    }
    // The same of that step and of all wider ones, which may have stood for the key there.
    [[nodiscard]] Units held_from(std::uint8_t step) noexcept {
        Units held = held_by_others(bucket_at(step));
        if (store_.peers() != nullptr && store_.peers()->coarsened(asked_.judging.now.at)) {
            while (step < last_step()) {
                step = above(step);
                held = held + held_by_others(bucket_at(step));
            }
        }
        return held;
    }
    // What nobody charges any more, if nobody has taken it over either.
    [[nodiscard]] Units left_behind(const BucketAt& at) const noexcept {
        // A key may have a place here, and no line of the pool for one more charge.
        const bool is_here =
            at.step == 0 && asked_.judging.core.buckets.keys.find(at.key) != nullptr;
        const bool is_taken_over =
            is_here || (asked_.limit.moving == Combine::Sum && store_.peers() != nullptr &&
                        store_.peers()->others_have(at, store_));
        return is_taken_over ? Units{0} : owed_elsewhere(store_, at, asked_.judging.now);
    }

private:
    [[nodiscard]] FiledKey filed(const KeyBytes& key) const noexcept {
        return {asked_.judging.core.hash(asked_.limit.identity, key.view()), asked_.limit.slot};
    }
    [[nodiscard]] const GroupingKey& grouping() const noexcept {
        return asked_.rule.keys[asked_.limit.key];
    }
    [[nodiscard]] std::span<const KeyBytes> wider_keys() noexcept {
        if (!wider_) {
            const Judging& judging = asked_.judging;
            wider_.emplace(grouping(), asked_.rule.missing_key, judging.flow(), judging.frame());
        }
        return wider_->keys();
    }

    const FiledKey& own_;
    const AskedLimit& asked_;
    const BucketStore& store_;
    std::optional<CoarseKeys> wider_;
};

// The debts of the buckets below the one at look.entry: each of them would have been charged in its
// place, had it been there.
class Debts {
public:
    Debts(const Look& look, const FiledKey& own, const AskedLimit& asked) noexcept
        : look_{look}, asked_{asked}, elsewhere_{own, asked} {}

    // False: one of them would refuse the packet.
    [[nodiscard]] bool add_up() noexcept {
        const std::uint8_t end = look_.entry->stamp().step;
        for (std::uint8_t step = 0; step < end; step = elsewhere_.above(step)) {
            const BucketAt at = elsewhere_.bucket_at(step);
            const Units held = elsewhere_.held_by_others(at);
            const Units left = elsewhere_.left_behind(at);
            if (held + left == Units{0}) {
                continue;
            }
            const AnyLimit* numbers = numbers_below(step);
            if (numbers == nullptr || held + left + look_.cost > most_of(*numbers)) {
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
        const std::uint8_t end = look_.entry->stamp().step;
        for (std::uint8_t step = 0; step < end; step = elsewhere_.above(step)) {
            end_elsewhere(asked_.judging.core.buckets, elsewhere_.bucket_at(step));
        }
    }

private:
    [[nodiscard]] const AnyLimit* numbers_below(std::uint8_t step) const noexcept {
        const OwnNumbers own = step == 0 ? own_numbers(look_, asked_.limit) : OwnNumbers{};
        return own.numbers != nullptr ? own.numbers : numbers_of(asked_.limit, step);
    }

    const Look& look_;
    const AskedLimit& asked_;
    KeyElsewhere elsewhere_;
    Units held_{0};
    Units left_{0};
};

// Charged before it is ended: who is killed in between owes it twice. False: nothing was done,
// since there is no way to tell other workers of so much.
bool charge_debts(const Look& look, Debts& debts, const Judging& judging) noexcept {
    Look debt = look;
    debt.cost = debts.left();
    if (is_shared(*look.entry, judging) && !can_note(debt, judging)) {
        return false;
    }
    settle(debt, judging, true, false);
    look.entry->hold();
    debts.end_all();
    judging.core.counters.moved_debts.add(1);
    return true;
}

[[gnu::noinline]] void bring_debts_slow(Look& look, const FiledKey& own,
                                        const AskedLimit& asked) noexcept {
    Debts debts{look, own, asked};
    if (!debts.add_up()) {
        look.judgement = Judgement::Red;
        return;
    }
    if (debts.all() == Units{0}) {
        return;
    }
    Look all = look;
    all.cost = look.cost + debts.all();
    all.judgement = ask_bucket(all, asked.judging);
    weigh_others(all, own, asked);
    const bool fits = is_admitted(all.judgement) &&
                      (debts.left() == Units{0} || charge_debts(all, debts, asked.judging));
    look.judgement = fits ? ask_bucket(look, asked.judging) : Judgement::Red;
}

}  // namespace

void weigh_others(Look& look, const FiledKey& own, const AskedLimit& asked) noexcept {
    if (!is_admitted(look.judgement) || look.entry == nullptr ||
        asked.limit.moving != Combine::Sum) {
        return;
    }
    KeyElsewhere elsewhere{own, asked};
    const BucketStore& store = asked.judging.core.buckets;
    const Units others = elsewhere.held_from(look.entry->stamp().step);
    const Units left = remaining(store.tenants.cell_of(*look.entry), *look.numbers,
                                 store.tenants.pool(), asked.judging.now);
    if (others + look.cost > left) {
        look.judgement = Judgement::Red;
    }
}

void bring_debts(Look& look, const FiledKey& own, const AskedLimit& asked) noexcept {
    const LoadedLimit& limit = asked.limit;
    const bool may_owe = limit.moving == Combine::Sum || !limit.moved_from.empty() ||
                         asked.judging.core.buckets.former() != nullptr;
    if (may_owe && look.entry != nullptr && is_admitted(look.judgement)) {
        bring_debts_slow(look, own, asked);
    }
}

}  // namespace sluice

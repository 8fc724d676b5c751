#include "lib/engine/key/key_question.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/lifetime.hpp"
#include "lib/bucket/table/remote_debt.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/packet.hpp"
#include "lib/engine/check/shared_charge.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/engine/key/key_take_over.hpp"
#include "lib/engine/key/penalty_box.hpp"
#include "lib/rules/coarse_key.hpp"

#include <algorithm>

namespace sluice {
namespace {

class Asked {
public:
    Asked(const KeyQuestion& question, const LoadedSet& set, CoreState& core, Now now) noexcept
        : question_{question},
          rule_{set.rules[question.rule]},
          core_{core},
          registry_{core.buckets.registry},
          now_{now},
          keys_{rule_, question.key, question.bytes.view(), core.hash},
          override_{keys_, question.key, now},
          elsewhere_{core.buckets, now} {}

    // By operators: box() tells what its penalty box holds.
    [[nodiscard]] KeyStatus status() const noexcept { return override_.policy().status; }

    [[nodiscard]] std::uint8_t exempt_range() const noexcept { return override_.exempt_range(); }

    KeyBucket answer(std::uint8_t index) noexcept {
        KeyBucket bucket = of_this_box(index);
        const LoadedLimit& limit = rule_.limits[index];
        const OwnNumbers own = override_.own_numbers(index);
        leave_to_others(limit, own.numbers != nullptr ? *own.numbers : limit.limit, bucket);
        return bucket;
    }

    KeyBox box() noexcept {
        if (!rule_.bans()) {
            return {};
        }
        const LoadedLimit& limit = rule_.ban.boxes[question_.key];
        const PenaltyBoxes boxes{keys_, core_, now_};
        const BoxBan ban = boxes.ban_in(limit);
        KeyBox box{.refusals = boxes.refusals_in(limit),
                   .after = most_of(limit.limit),
                   .left = ban.left,
                   .lifted = ban.left != Nanoseconds{0} && lifts_bans() &&
                             (ban.aggregation_level == 0 || lifts_wider()),
                   .aggregation_level = ban.aggregation_level};
        if (lifts_bans()) {
            lift(boxes, limit, ban);
        }
        return box;
    }

private:
    KeyBucket of_this_box(std::uint8_t index) noexcept {
        const LoadedLimit& limit = rule_.limits[index];
        const OwnNumbers own = override_.own_numbers(index);
        const AnyLimit& numbers = own.numbers != nullptr ? *own.numbers : limit.limit;
        KeyBucket bucket{
            .limit = index, .overridden = own.numbers != nullptr, .most = most_of(numbers)};
        bucket.range = override_.range_of(index);
        if (const Limit* gcra = gcra_of(numbers); bucket.overridden && gcra != nullptr) {
            bucket.rate = {Units{gcra->parts()},
                           Nanoseconds{static_cast<std::int64_t>(gcra->period())}};
        }
        Entry* entry = core_.buckets.keys.find(table_key(limit, question_.bytes));
        const bool had_one = entry != nullptr;
        if (had_one) {
            registry_.update(*entry, now_);
            if (limit.overridden && !registry_.bring_under(*entry, own, now_)) {
                // No memory for its own numbers: none of its packets can be judged by it either.
                registry_.forget(*entry);
            }
            entry = entry->empty() ? nullptr : entry;
        }
        if (entry != nullptr) {
            bucket.before = left_in(*entry, numbers);
            if (changes_debt()) {
                end_lease(*entry, table_key(limit, question_.bytes), core_);
            }
            entry = act(*entry, numbers);
        }
        bucket.own = entry != nullptr;
        if (bucket.own) {
            describe(*entry, numbers, bucket);
            act_on_moved(limit);
            return bucket;
        }
        describe_new(limit, bucket);
        if (!had_one) {
            add_carried(limit, numbers, bucket);
            bucket.before = bucket.remaining;
        }
        if (question_.action == KeyAction::Grant && !had_one) {
            if (Entry* taken = take_over(limit, own)) {
                // Debts that moved with the key are in it.
                bucket.own = true;
                bucket.carried = false;
                bucket.aggregation_level = 0;
                describe(*act(*taken, numbers), numbers, bucket);
                return bucket;
            }
        }
        act_on_moved(limit);
        if (question_.action == KeyAction::Reset || question_.action == KeyAction::Grant) {
            give_wider(limit, bucket);
            describe_new(limit, bucket);
        }
        add_carried(limit, numbers, bucket);
        return bucket;
    }

    // Connections that other boxes of the cluster have open, as last heard, are not this one's.
    void leave_to_others(const LoadedLimit& limit, const AnyLimit& numbers,
                         KeyBucket& bucket) const noexcept {
        const Account account{table_key(limit, question_.bytes).hash, limit.slot};
        if (core_.gauges == nullptr || !std::holds_alternative<ConcurrencyLimit>(numbers) ||
            !core_.gauges->is_shared(account)) {
            return;
        }
        const std::uint64_t beside = core_.gauges->beside(account, bucket.most.count(), now_);
        const auto less = [beside](Units units) {
            return Units{units.count() - std::min(units.count(), beside)};
        };
        bucket.before = less(bucket.before);
        bucket.remaining = less(bucket.remaining);
        if (bucket.remaining < cost()) {
            // Theirs leave as those here do.
            bucket.wait = std::max(bucket.wait, longest_debt(numbers));
        }
    }

    [[nodiscard]] bool changes_debt() const noexcept {
        return question_.action == KeyAction::Reset || question_.action == KeyAction::Grant ||
               question_.action == KeyAction::Forgive;
    }
    // Waits are told for what one thing costs in the rule.
    [[nodiscard]] Units cost() const noexcept { return Units{rule_.cost}; }
    // A reset of single limits leaves bans alone.
    [[nodiscard]] bool lifts_bans() const noexcept {
        return question_.action == KeyAction::Unban ||
               (question_.action == KeyAction::Reset && question_.with_ban);
    }
    // A network is banned with all its keys: a reset of one of them does not change that.
    [[nodiscard]] bool lifts_wider() const noexcept { return question_.action == KeyAction::Unban; }
    // Each worker lifts what it holds itself.
    void lift(const PenaltyBoxes& boxes, const LoadedLimit& limit, const BoxBan& ban) noexcept {
        forget_migrated(limit);
        if (ban.left != Nanoseconds{0}) {
            elsewhere_.end({keys_.table_key(limit)});
        }
        if (Entry* own = core_.buckets.keys.find(keys_.table_key(limit))) {
            registry_.forget(*own);
        }
        // A key without a place and without a box of its own is in its network's.
        if (lifts_wider() && boxes.meets_wider(limit)) {
            const CoarseKeys networks{question_.bytes.view()};
            for (const KeyBytes& key : networks.keys()) {
                if (Entry* entry = core_.buckets.parents.find(table_key(limit, key))) {
                    registry_.forget(*entry);
                }
            }
        }
    }
    // A new bucket of the key admits less by what the key owes elsewhere, which its first packet
    // takes over: what that leaves is read of a bucket that is opened for it and closed again. It
    // is over once nothing is owed elsewhere any more.
    void add_carried(const LoadedLimit& limit, const AnyLimit& numbers,
                     KeyBucket& bucket) noexcept {
        const TableKey key = table_key(limit, question_.bytes);
        if (!elsewhere_.is_possible(limit.slot) || elsewhere_.used({key}) == Units{0}) {
            return;
        }
        bucket.carried = true;
        Cell cell;
        if (!open_carried(cell, numbers, key)) {
            return;
        }
        const LinePool& pool = registry_.pool();
        const Nanoseconds owed = elsewhere_.fresh_from({key}) - now_.at;
        const Nanoseconds left = owed > Nanoseconds{0} ? owed : cell.fresh_from - now_.at;
        const auto until = wait(cell, numbers, pool, now_, {cost()});
        bucket.remaining = std::min(bucket.remaining, remaining(cell, numbers, pool, now_));
        bucket.wait = until ? std::max(bucket.wait, std::min(*until, left)) : kNever;
        bucket.fresh = std::max(bucket.fresh, left);
        close_bucket(cell, numbers, registry_.pool());
    }
    // False: there is none, and the pool has no line for one.
    [[nodiscard]] bool open_carried(Cell& cell, const AnyLimit& numbers,
                                    const TableKey& key) noexcept {
        LinePool& pool = registry_.pool();
        const GroupKey group{key.hash};
        if (algorithm_of(numbers) == Algorithm::Concurrency ||
            !open_bucket(cell, numbers, pool, group, now_)) {
            return false;
        }
        (void)elsewhere_.charge_to(cell, numbers, {key}, pool);
        return true;
    }
    // Before a grant: tables that are only read give nothing back. nullptr: it owes nothing there.
    Entry* take_over(const LoadedLimit& limit, const OwnNumbers& own) noexcept {
        const KeyTakeOver key{limit, question_.bytes, core_, now_};
        if (!key.is_possible()) {
            return nullptr;
        }
        Units left = most_of(limit.limit);
        for_each_wider(limit, [&](const Entry& parent, const AnyLimit& wider, std::uint8_t) {
            left = std::min(left, left_in(parent, wider));
        });
        return key.file(own, left, rule_level(rule_.keys[limit.key]));
    }
    // Debt of the key where its packets met until a reload: each worker acts on its own part.
    void forget_migrated(const LoadedLimit& limit) noexcept {
        for_each_migrated(limit, [this](Entry& entry) { registry_.forget(entry); });
    }
    void act_on_moved(const LoadedLimit& limit) noexcept {
        if (question_.action == KeyAction::Reset) {
            forget_migrated(limit);
        } else if (changes_debt()) {
            for_each_migrated(limit, [&](Entry& entry) { (void)act(entry, limit.limit); });
        }
    }
    template <typename Act>
    void for_each_migrated(const LoadedLimit& limit, Act&& act) noexcept {
        for (const MigratedFrom& moved : limit.migrated_from) {
            const TableKey before = with_slot(table_key(limit, question_.bytes), moved.slot);
            if (Entry* entry = core_.buckets.keys.find(before)) {
                registry_.update(*entry, now_);
                act(*entry);
            }
        }
    }
    [[nodiscard]] TableKey table_key(const LoadedLimit& limit, const KeyBytes& key) const noexcept {
        return {core_.hash(limit.identity, key.view()), limit.slot};
    }
    [[nodiscard]] Units left_in(const Entry& entry, const AnyLimit& numbers) const noexcept {
        return remaining(registry_.cell_of(entry), numbers, registry_.pool(), now_);
    }

    // The entry afterwards; nullptr: it is gone.
    Entry* act(Entry& entry, const AnyLimit& numbers) noexcept {
        if (question_.action == KeyAction::Reset) {
            registry_.forget(entry);
            return nullptr;
        }
        if (question_.action == KeyAction::Grant) {
            Cell cell = registry_.cell_of(entry);
            relieve(cell, numbers, registry_.pool(), now_, {question_.units});
            registry_.write(entry, cell, now_);
        } else if (question_.action == KeyAction::Forgive) {
            (void)registry_.forgive_excess(entry, numbers, now_);
        }
        return &entry;
    }

    void describe(const Entry& entry, const AnyLimit& numbers, KeyBucket& bucket) const noexcept {
        bucket.remaining = left_in(entry, numbers);
        bucket.wait = wait_in(entry, numbers);
        bucket.fresh = fresh_in(entry);
    }
    [[nodiscard]] Nanoseconds fresh_in(const Entry& entry) const noexcept {
        return std::max(registry_.fresh_from_of(entry) - now_.at, Nanoseconds{0});
    }
    [[nodiscard]] Nanoseconds wait_in(const Entry& entry, const AnyLimit& numbers) const noexcept {
        return wait(registry_.cell_of(entry), numbers, registry_.pool(), now_, {cost()})
            .value_or(kNever);
    }

    // A bucket that the key would get now is full, less what wider keys owe on its behalf.
    void describe_new(const LoadedLimit& limit, KeyBucket& bucket) noexcept {
        bucket.remaining = bucket.most;
        bucket.wait = cost() > bucket.most ? kNever : Nanoseconds{0};
        bucket.fresh = Nanoseconds{0};
        bucket.aggregation_level = 0;
        for_each_wider(limit, [&](const Entry& parent, const AnyLimit& numbers,
                                  std::uint8_t aggregation_level) {
            bucket.aggregation_level =
                bucket.aggregation_level == 0 ? aggregation_level : bucket.aggregation_level;
            bucket.remaining = std::min(bucket.remaining, left_in(parent, numbers));
            bucket.wait = std::max(bucket.wait, wait_in(parent, numbers));
            bucket.fresh = std::max(bucket.fresh, fresh_in(parent));
        });
    }
    // The debtor of each unit that a wider key owes is not known. So that this key gets what it is
    // promised, each wider one is given back as much as that is short of, and no more: its
    // neighbours may spend it as well, but all of them together no more than this key was to have.
    void give_wider(const LoadedLimit& limit, KeyBucket& bucket) noexcept {
        const bool all = question_.action == KeyAction::Reset;
        const Units missing{bucket.most.count() - bucket.remaining.count()};
        const Units wanted =
            all ? bucket.most
                : Units{bucket.remaining.count() + std::min(question_.units, missing).count()};
        if (all) {
            elsewhere_.end({table_key(limit, question_.bytes)});
        }
        for_each_wider(limit, [&](Entry& parent, const AnyLimit& numbers, std::uint8_t) {
            const Units left = left_in(parent, numbers);
            if (left < wanted) {
                const Units given{wanted.count() - left.count()};
                Cell cell = registry_.cell_of(parent);
                relieve(cell, numbers, registry_.pool(), now_, {given});
                registry_.write(parent, cell, now_);
                bucket.given_wider = std::max(bucket.given_wider, given);
            }
        });
    }
    // Visits the wider keys that owe anything, nearest first: `take` gets the entry, its numbers
    // and the aggregation level.
    template <typename Take>
    void for_each_wider(const LoadedLimit& limit, Take&& take) noexcept {
        if (!core_.buckets.coarsened(now_.at)) {
            return;
        }
        std::uint8_t aggregation_level = 0;
        const auto visit = [&](Entry* parent) {
            ++aggregation_level;
            if (parent == nullptr || parent->empty()) {
                return;
            }
            registry_.update(*parent, now_);
            const AnyLimit* numbers =
                numbers_at(limit.limit, limit.coarser, parent->stamp().aggregation_level);
            if (numbers != nullptr && !parent->idle(now_.at)) {
                take(*parent, *numbers, aggregation_level);
            }
        };
        const CoarseKeys wider{question_.bytes.view()};
        for (const KeyBytes& key : wider.keys()) {
            visit(core_.buckets.parents.find(table_key(limit, key)));
        }
        aggregation_level = static_cast<std::uint8_t>(rule_level(rule_.keys[limit.key]) - 1);
        visit(&core_.buckets.rule_entry(limit.slot));
    }

    const KeyQuestion& question_;
    const LoadedRule& rule_;
    CoreState& core_;
    LimitRegistry& registry_;
    Now now_;
    RuleKeys keys_;
    KeyOverride override_;
    RemoteDebt elsewhere_;
};

}  // namespace

KeyAnswer answer_key(const KeyQuestion& question, const LoadedSet& set, CoreState& core,
                     Now now) noexcept {
    KeyAnswer answer;
    if (question.load != set.load || question.rule >= set.rules.size()) {
        return answer;
    }
    answer.known = true;
    adopt(set, core, now);
    Asked asked{question, set, core, now};
    answer.exempt = asked.status() == KeyStatus::Exempt;
    answer.banned = asked.status() == KeyStatus::Banned;
    answer.exempt_range = answer.exempt ? asked.exempt_range() : std::uint8_t{0};
    answer.box = asked.box();
    const std::vector<LoadedLimit>& limits = set.rules[question.rule].limits;
    for (std::size_t i = 0; i < limits.size() && answer.count < answer.buckets.size(); ++i) {
        if (limits[i].key == question.key && ((question.limits >> i) & 1U) != 0) {
            answer.buckets[answer.count++] = asked.answer(static_cast<std::uint8_t>(i));
        }
    }
    return answer;
}

}  // namespace sluice

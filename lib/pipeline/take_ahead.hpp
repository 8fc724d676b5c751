#pragma once
#include "lib/ledger/charge_ahead.hpp"
#include "lib/ledger/stand.hpp"
#include "lib/load/quick_rule.hpp"
#include "lib/meter/bucket_in.hpp"
#include "lib/meter/take.hpp"
#include "lib/pipeline/scratch.hpp"

#include <algorithm>
#include <cstdint>

// Look and charge in one step where workers share a token bucket, as take() does where they do not.
namespace sluice {

enum class Taken : std::uint8_t {
    All,
    Nothing,  // the bucket has no room
    Unknown,  // nothing either: this worker may not go so far ahead, so the long way is to be taken
};

[[nodiscard, gnu::always_inline]] inline Account account_of(const Look& look) noexcept {
    return {look.key.hash, slot_of(look.key), 0};
}

// The buckets of one rule's keys that a worker charges, and what they are charged by.
class KeyCharges {
public:
    KeyCharges(const QuickRule& rule, Instant now, Ledger& ledger) noexcept
        : rule_{rule}, now_{now}, ahead_{ledger, *rule.limit, rule.max_unsynced, now} {}

    [[nodiscard]] const QuickRule& rule() const noexcept { return rule_; }
    [[nodiscard]] Instant now() const noexcept { return now_; }

    // `charge` charges the look's bucket, which has room for it.
    template <typename Charge>
    [[nodiscard, gnu::always_inline]] Taken operator()(const Look& look, Due due,
                                                       Charge&& charge) const noexcept {
        const AheadCharge what{account_of(look), look.cost, due, *look.entry};
        const bool done = ahead_(what, charge, [&]() -> Stand {
            return {{bucket_in(look.entry->cell(), *rule_.limit)}, rule_.version};
        });
        return done ? Taken::All : Taken::Unknown;
    }

private:
    const QuickRule& rule_;
    Instant now_;
    ChargeAhead ahead_;
};

// Whatever the limit and its cost.
class TakeAhead {
public:
    TakeAhead(const QuickRule& rule, Instant now, Ledger& ledger) noexcept
        : ahead_{rule, now, ledger} {}

    [[nodiscard, gnu::always_inline]] Taken operator()(const Look& look) const noexcept {
        Entry& entry = *look.entry;
        const Limit& limit = *ahead_.rule().limit;
        const Instant now = ahead_.now();
        if (!fits(entry, limit, now, look.cost)) {
            return Taken::Nothing;
        }
        const Due due = due_of(bucket_in(entry.cell(), limit), limit, now, look.cost);
        return ahead_(look, due, [&] { take_fitting(entry, limit, now, look.cost); });
    }

private:
    KeyCharges ahead_;
};

// One unit each of a limit whose time per unit is a whole number of ns, for whoever takes many:
// what does not depend on the bucket is worked out beforehand, as TakeOne has it.
class TakeOneAhead {
public:
    TakeOneAhead(const QuickRule& rule, Instant now, Ledger& ledger) noexcept
        : ahead_{rule, now, ledger},
          at_{now.time_since_epoch().count() << kInstantShift},
          latest_{at_ + word_of(tolerance(*rule.limit, Units{1}))},
          added_{word_of(rule.limit->period())} {
        // due_of(): so much may be owed before, so that half of the burst is left afterwards.
        const std::uint64_t half = rule.limit->full() / 2;
        if (rule.limit->period() <= half) {
            latest_late_ = at_ + word_of(half - rule.limit->period());
        }
    }

    [[nodiscard, gnu::always_inline]] Taken operator()(const Look& look) const noexcept {
        Entry& entry = *look.entry;
        const auto word = static_cast<std::int64_t>(entry.time);
        const std::int64_t fresh_from = word & ~WholeTake::kBelow;
        if (fresh_from > latest_) {
            return Taken::Nothing;
        }
        const Due due = fresh_from <= latest_late_ ? Due::Late : Due::Soon;
        const std::int64_t after = std::max(fresh_from, at_) + added_ + (word & WholeTake::kBelow);
        return ahead_(look, due,
                      [&] { store_word(entry.time, static_cast<std::uint64_t>(after)); });
    }

private:
    [[nodiscard]] static std::int64_t word_of(std::uint64_t ns) noexcept {
        return static_cast<std::int64_t>(ns << kInstantShift);
    }

    KeyCharges ahead_;
    std::int64_t at_;
    std::int64_t latest_;
    std::int64_t latest_late_ = INT64_MIN;
    std::int64_t added_;
};

}  // namespace sluice

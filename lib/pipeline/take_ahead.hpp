#pragma once
#include "lib/ledger/ledger.hpp"
#include "lib/ledger/stand.hpp"
#include "lib/meter/take.hpp"
#include "lib/pipeline/scratch.hpp"
#include "lib/rules/quick_rule.hpp"

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

// Notes what is charged to a bucket that has room for it, and tells its owner.
class ChargeAhead {
public:
    ChargeAhead(const QuickRule& rule, Instant now, Ledger& ledger) noexcept
        : rule_{rule}, now_{now}, ledger_{ledger} {}

    [[nodiscard]] const QuickRule& rule() const noexcept { return rule_; }
    [[nodiscard]] Instant now() const noexcept { return now_; }

    // `charge` charges the copy.
    template <typename Charge>
    [[nodiscard, gnu::always_inline]] Taken operator()(const Look& look, Due due,
                                                       Charge&& charge) const noexcept {
        const Account account = account_of(look);
        if (ledger_.owns(account)) {
            charge();
            return Taken::All;
        }
        const Ledger::Ahead ahead =
            ledger_.go_ahead(account, look.cost.count(), rule_.max_unsynced, now_, due);
        if (ahead.record == kNoRecord) [[unlikely]] {
            return Taken::Unknown;
        }
        charge();
        if (ahead.units != 0) [[unlikely]] {
            const Cell cell = look.entry->cell();
            ledger_.tell(ahead, account, {{cell.fresh_from, cell.rest}, rule_.version}, now_);
        }
        return Taken::All;
    }

private:
    const QuickRule& rule_;
    Instant now_;
    Ledger& ledger_;
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
        const Cell before = entry.cell();
        const Due due = due_of(Gcra{before.fresh_from, before.rest}, limit, now, look.cost);
        return ahead_(look, due, [&] { take_fitting(entry, limit, now, look.cost); });
    }

private:
    ChargeAhead ahead_;
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

    ChargeAhead ahead_;
    std::int64_t at_;
    std::int64_t latest_;
    std::int64_t latest_late_ = INT64_MIN;
    std::int64_t added_;
};

}  // namespace sluice

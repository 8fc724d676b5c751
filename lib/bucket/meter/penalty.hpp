#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/relief.hpp"
#include "lib/bucket/meter/sliding_log.hpp"
#include "lib/bucket/pool/line_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

// A key's place in the penalty box, as any_meter has its meters: what is charged is a refusal, and
// "no" means that the key is banned.
//
//   counting   fresh_from = the latest refusal + within     rest = a line with the log of refusals
//   banned     fresh_from = the end of the ban              rest = kNoLine
//
// The log is exact, and holds `after` - 1 refusals at most: the next one within the time is the
// ban, which needs no memory but the table's entry. So a live ban is kept like any debt, and a full
// pool is no reason to forget one.
namespace sluice {

class PenaltyMeter {
public:
    static constexpr bool kMayHaveNoLine = true;

    explicit PenaltyMeter(const PenaltyLimit& limit) noexcept
        : limit_{limit}, before_last_{log_of(limit, limit.after - 1)} {}

    [[nodiscard]] static bool banned(const Cell& cell, Instant now) noexcept {
        return cell.rest == kNoLine && now < cell.fresh_from;
    }

    bool open(Cell& cell, LinePool& pool, GroupKey /*key*/, Now now) const noexcept {
        cell = {now.at, kNoLine};
        return bans_at_once() || take_log(cell, pool);
    }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand /*demand*/) const noexcept {
        if (banned(cell, now.at)) {
            return Conformance::Red;
        }
        if (bans_at_once()) {
            return Conformance::Green;
        }
        if (cell.rest == kNoLine && !take_log(cell, pool)) {
            return Conformance::NoRoom;
        }
        SlidingLog& log = pool.at<SlidingLog>(cell.rest);
        log.make_way(before_last_, pool, now.at, kOne);
        const bool is_last = !log.admits(before_last_, kOne);
        return is_last || log.make_room(before_last_, pool, now.at) ? Conformance::Green
                                                                    : Conformance::NoRoom;
    }
    // One refusal, whatever the cost: that is what check() was asked about.
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        if (banned(cell, now.at) || spending.conformance == Conformance::Red) {
            return;
        }
        if (!bans_at_once() && cell.rest != kNoLine) {
            SlidingLog& log = pool.at<SlidingLog>(cell.rest);
            log.make_way(before_last_, pool, now.at, kOne);
            if (log.admits(before_last_, kOne)) {
                log.charge(before_last_, pool, now.at, kOne);
                cell.fresh_from = log.fresh_from(before_last_, now.at);
                return;
            }
        }
        give_back_log(cell, pool);
        cell = {now.at + Nanoseconds{limit_.lasts}, kNoLine};
    }
    // Puts into a fresh log the refusals that were noted elsewhere, as of now: all but the one that
    // bans.
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units refusals) const noexcept {
        const Units noted = std::min(refusals, Units{limit_.after - 1});
        if (cell.rest != kNoLine && noted != Units{0}) {
            SlidingLog& log = pool.at<SlidingLog>(cell.rest);
            log.charge(before_last_, pool, now.at, noted);
            cell.fresh_from = log.fresh_from(before_last_, now.at);
        }
    }
    // Forgets the oldest refusals. A ban ends by itself, or is lifted as a whole; and refusals are
    // no debt: none exceed.
    bool relieve(Cell& cell, LinePool& pool, Now now, Relief relief) const noexcept {
        if (cell.rest != kNoLine && relief.units != Units{0}) {
            SlidingLog& log = pool.at<SlidingLog>(cell.rest);
            log.give_back(before_last_, pool, now.at, relief.units);
            cell.fresh_from = log.fresh_from(before_last_, now.at);
        }
        return false;
    }
    // Refusals: as many as ban a fresh key, but for those that are left until this one is banned.
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        if (cell.rest == kNoLine) {
            return banned(cell, now.at) ? limit_.most() : Units{0};
        }
        const LogSlots slots{log_of(limit_, limit_.after)};
        return std::min(Units{limit_.after - 1},
                        pool.template at<SlidingLog>(cell.rest).used(slots, pool, now.at));
    }
    // The rest of the ban.
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& /*pool*/,
                                                  Now now, Demand /*demand*/) const noexcept {
        return banned(cell, now.at) ? cell.fresh_from - now.at : Nanoseconds{0};
    }

    [[nodiscard]] Instant fresh_from(const Cell& cell, const LinePool& pool,
                                     Now now) const noexcept {
        return cell.rest == kNoLine
                   ? cell.fresh_from
                   : pool.at<SlidingLog>(cell.rest).fresh_from(before_last_, now.at);
    }
    static void close(const Cell& cell, LinePool& pool) noexcept {
        pool.at<SlidingLog>(cell.rest).close(pool);
        pool.give_back(cell.rest);
    }
    static void mend(PoolLine line, LinePool& pool, auto&& claim) noexcept {
        pool.at<SlidingLog>(line).mend(pool, claim);
    }
    // A ban keeps its end. Refusals go on to count, under the new numbers; where they are as many
    // as a ban already, the next refusal is it.
    void renumber(Cell& cell, const PenaltyLimit& /*from*/, LinePool& pool,
                  Now changed) const noexcept {
        if (cell.rest == kNoLine) {
            return;
        }
        SlidingLog& log = pool.at<SlidingLog>(cell.rest);
        log.make_way(before_last_, pool, changed.at, Units{0});
        cell.fresh_from = log.fresh_from(before_last_, changed.at);
    }

private:
    static constexpr Units kOne{1};

    [[nodiscard]] static SlidingLogLimit log_of(const PenaltyLimit& limit,
                                                std::uint64_t count) noexcept {
        return {{.count = count, .window = limit.within}};
    }
    [[nodiscard]] bool bans_at_once() const noexcept { return limit_.after == 1; }
    // The log keeps its refusals until the table says that its key is banned.
    static void give_back_log(const Cell& cell, LinePool& pool) noexcept {
        if (cell.rest != kNoLine) {
            SlidingLog(pool.at<SlidingLog>(cell.rest)).close(pool);
            pool.give_back(cell.rest);
        }
    }
    [[nodiscard]] static bool take_log(Cell& cell, LinePool& pool) noexcept {
        cell.rest = pool.take();
        return cell.rest != kNoLine;
    }

    const PenaltyLimit& limit_;
    LogSlots before_last_;  // admits all refusals but the one that bans
};

}  // namespace sluice

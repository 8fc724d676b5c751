#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/tally.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/bucket/pool/record_queue.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// The units charged lately, each until it leaves: what sliding counters and a sliding log have in
// common. `Slots` says what the time is cut into (sub-windows, or single ns), when a slot leaves,
// and how a slot and its units are packed into a record:
//
//   count()                      at most so many units that have not left
//   of(Instant)                  the slot that holds an instant
//   leaves(slot)                 the instant from which its units count no more
//   has_left(slot, of(now))      whether that instant has come
//   Record, pack(), slot_in(), units_in(), set_units()
//
// The newest slot is kept apart, so that units of one slot merge; earlier ones wait in a queue for
// their time to leave. Plain data that fits a pool line; zeroes are a fresh one.
template <typename Slots>
class RecentUnits {
    using Record = typename Slots::Record;
    static constexpr unsigned kDropsAhead = 8;  // more than a charge adds: memory follows use

public:
    // Drops what has left, as far as this cost needs it and a few records more: all at once when
    // everything has left, else at most kDropsAhead records and one for each unit of the cost; and,
    // once, for each unit by which what was used exceeds a count that was lowered.
    void make_way(const Slots& slots, LinePool& pool, Instant now, Units cost) noexcept {
        const std::uint64_t current = slots.of(now);
        if (total_ == 0 || slots.has_left(newest_, current)) {
            queue_.clear(pool);
            total_ = 0;
            newest_units_ = 0;
            return;
        }
        const bool may_fit = cost.count() <= slots.count();
        for (unsigned dropped = 0; dropped < kDropsAhead || (may_fit && !admits(slots, cost));
             ++dropped) {
            if (queue_.empty() || !slots.has_left(slot_of(queue_.front(pool)), current)) {
                return;
            }
            total_ -= Slots::units_in(queue_.front(pool));
            queue_.pop(pool);
        }
    }

    // Prefetches what make_way() looks at first.
    void prefetch_oldest(const LinePool& pool) const noexcept { queue_.prefetch_front(pool); }

    // After make_way() for the same instant and cost.
    [[nodiscard]] bool admits(const Slots& slots, Units cost) const noexcept {
        return cost.count() <= slots.count() && total_ <= slots.count() - cost.count();
    }
    // The part of the cost that fits. After make_way() likewise.
    [[nodiscard]] Units what_fits(const Slots& slots, Units cost) const noexcept {
        return Units{std::min(cost.count(), slots.count() - std::min(total_, slots.count()))};
    }
    // True if a charge at this instant has room; takes a line for it if it needs one.
    [[nodiscard]] bool make_room(const Slots& slots, LinePool& pool, Instant now) noexcept {
        return make_room_in(pool, slots.of(now));
    }

    // Charges a cost that admits() or what_fits() has just allowed. Without room, the newest slot's
    // units are taken as spent now as well: they leave later than they should, never earlier.
    void charge(const Slots& slots, LinePool& pool, Instant now, Units cost) noexcept {
        if (cost.count() != 0) {
            charge_in(pool, slots.of(now), cost);
        }
    }

    // The units that have not left; more than the count where that was lowered.
    [[nodiscard]] Units used(const Slots& slots, const auto& pool, Instant now) const noexcept {
        const std::uint64_t total = total_;  // of another core's, it may change meanwhile
        return Units{total - std::min(total, left_by(slots, pool, now))};
    }

    // The least time after which `cost` fits; nullopt: never.
    [[nodiscard]] std::optional<Nanoseconds> wait(const Slots& slots, const LinePool& pool,
                                                  Instant now, Units cost) const noexcept {
        if (cost.count() > slots.count()) {
            return std::nullopt;
        }
        const std::uint64_t room = slots.count() - cost.count();
        if (total_ <= room) {
            return Nanoseconds{0};
        }
        std::uint64_t used = total_;
        for (auto at = queue_.begin(); !at.at_end(); queue_.step(at, pool)) {
            const Record& record = queue_.at(at, pool);
            used -= Slots::units_in(record);
            if (used <= room) {
                return std::max(slots.leaves(slot_of(record)) - now, Nanoseconds{0});
            }
        }
        return std::max(slots.leaves(newest_) - now, Nanoseconds{0});
    }

    // Gives back what was used, at most `units`: the oldest, which would have left first.
    void give_back(const Slots& slots, LinePool& pool, Instant now, Units units) noexcept {
        const std::uint64_t used = total_ - left_by(slots, pool, now);
        cut_to(used - std::min(used, units.count()), pool);
    }

    // Lets no more be used than the count: the latest. False: no more is.
    [[nodiscard]] bool forgive_excess(const Slots& slots, LinePool& pool, Instant now) noexcept {
        const bool exceeds = used(slots, pool, now).count() > slots.count();
        if (exceeds) {
            cut_to(slots.count(), pool);
        }
        return exceeds;
    }

    // Forgets the oldest units above `most`.
    void cut_to(std::uint64_t most, LinePool& pool) noexcept {
        while (total_ > most && !queue_.empty()) {
            Record& oldest = queue_.front(pool);
            const std::uint64_t units = Slots::units_in(oldest);
            const std::uint64_t excess = std::min(total_ - most, units);
            total_ -= excess;
            if (excess < units) {
                Slots::set_units(oldest, units - excess);
            } else {
                queue_.pop(pool);
            }
        }
        total_ = std::min(total_, most);
        newest_units_ = std::min(newest_units_, total_);
    }

    [[nodiscard]] Instant fresh_from(const Slots& slots, Instant now) const noexcept {
        return total_ == 0 ? now : slots.leaves(newest_);
    }

    void close(LinePool& pool) noexcept { queue_.close(pool); }

    // For workers that add up what each of them has counted (lib/peer/merge).

    void begin(Instant now) noexcept { born_ = now.time_since_epoch().count(); }
    [[nodiscard]] Tally tally(const Slots& slots, const LinePool& pool,
                              Instant now) const noexcept {
        return {total_ - left_by(slots, pool, now), ever_, born_};
    }
    // Adds what another worker has spent: counted from then or from now on, whichever is later, if
    // it counts still.
    void add(const Slots& slots, LinePool& pool, Instant now, const SpentBefore& spent) noexcept {
        make_way(slots, pool, now, Units{0});
        if (slots.leaves(slots.of(spent.at)) <= now) {
            ever_ += spent.units.count();
            return;
        }
        const std::uint64_t slot = slots.of(std::max(now, spent.at));
        (void)make_room_in(pool, slot);
        charge_in(pool, slot, spent.units);
    }
    [[nodiscard]] std::uint64_t newest() const noexcept { return total_ == 0 ? 0 : newest_; }
    // A charge that nobody is told of them: what others spend is not to be taken for them.
    void disown(Units units) noexcept { ever_ -= units.count(); }
    // At least what a total says. What has been spent since the one before is taken as spent now;
    // then the oldest units above the sum are forgotten.
    void raise(const Slots& slots, LinePool& pool, Instant now, const TallyTotal& to) noexcept {
        const std::uint64_t most = to.total.sum + to.more;
        const std::uint64_t ever = to.total.ever + to.more;
        const std::uint64_t slot = std::max(slots.of(now), to.newest);
        if (to.anew || to.total.born != born_) {
            renew(pool, slot, most);
            ever_ = ever;
        } else {
            make_way(slots, pool, now, Units{0});
            const Units meanwhile{std::min(ever - std::min(ever, ever_), most)};
            if (meanwhile.count() != 0) {
                (void)make_room_in(pool, slot);
                charge_in(pool, slot, meanwhile);
            }
            cut_to(most, pool);
            ever_ = std::max(ever_, ever);
        }
        keep_store_order();
        born_ = to.total.born;
    }
    // So many units and nothing else, all of them as spent in that slot or later.
    void renew(LinePool& pool, std::uint64_t slot, std::uint64_t units) noexcept {
        newest_ = total_ == 0 ? slot : std::max(newest_, slot);
        newest_units_ = units;
        keep_store_order();
        queue_.clear(pool);
        total_ = units;
    }
    // Moves units that renew() took as spent now to the earlier slot they were spent in. To be told
    // from the oldest on, and before another slot begins; else they stay what they are.
    void move_back(LinePool& pool, const SubWindow& earlier) noexcept {
        const bool in_order =
            earlier.slot < newest_ && (queue_.empty() || slot_of(queue_.back(pool)) < earlier.slot);
        if (!in_order || earlier.units > newest_units_ || !queue_.make_room(pool)) {
            return;
        }
        queue_.push(pool, Slots::pack(earlier.slot, earlier.units));
        keep_store_order();
        newest_units_ -= earlier.units;
    }
    // The units that still count but for the newest slot, oldest first, several slots in one where
    // there are more of them than places. Returns how many places are filled.
    [[nodiscard]] std::size_t earlier(const Slots& slots, const LinePool& pool, Instant now,
                                      std::span<SubWindow> places) const noexcept {
        std::size_t count = 0;
        for (auto at = queue_.begin(); !at.at_end(); queue_.step(at, pool)) {
            count += slots.leaves(slot_of(queue_.at(at, pool))) > now ? 1 : 0;
        }
        if (count == 0 || places.empty()) {
            return 0;
        }
        const std::size_t together = (count + places.size() - 1) / places.size();
        std::size_t seen = 0;
        for (auto at = queue_.begin(); !at.at_end(); queue_.step(at, pool)) {
            const Record& record = queue_.at(at, pool);
            if (slots.leaves(slot_of(record)) > now) {
                SubWindow& place = places[seen / together];
                const std::uint64_t before = seen % together == 0 ? 0 : place.units;
                place = {slot_of(record), before + Slots::units_in(record)};
                ++seen;
            }
        }
        return (count + together - 1) / together;
    }

    // For memory that another process left, at any instant, as RecordQueue has it.
    template <typename Claim>
    void mend(LinePool& pool, Claim&& claim) noexcept {
        queue_.mend(pool, claim);
        total_ = newest_units_;
        for (auto at = queue_.begin(); !at.at_end(); queue_.step(at, pool)) {
            total_ += Slots::units_in(queue_.at(at, pool));
        }
    }

private:
    [[nodiscard]] std::uint64_t slot_of(const Record& record) const noexcept {
        return Slots::slot_in(record, newest_);
    }

    // The units before `ever_`: who is killed in between takes for new once more what is told of
    // them, where the other way round it would never count them.
    void charge_in(LinePool& pool, std::uint64_t slot, Units cost) noexcept {
        if (total_ == 0) {
            newest_ = slot;
        } else if (slot > newest_) {
            if (queue_.has_room()) {
                queue_.push(pool, Slots::pack(newest_, newest_units_));
                keep_store_order();
                newest_units_ = 0;
                keep_store_order();
            }
            newest_ = slot;
        }
        newest_units_ += cost.count();
        total_ += cost.count();
        keep_store_order();
        ever_ += cost.count();
    }
    [[nodiscard]] bool make_room_in(LinePool& pool, std::uint64_t slot) noexcept {
        return total_ == 0 || slot <= newest_ || queue_.make_room(pool);
    }

    // Units that have left and have not been dropped yet.
    [[nodiscard]] std::uint64_t left_by(const Slots& slots, const auto& pool,
                                        Instant now) const noexcept {
        const std::uint64_t current = slots.of(now);
        if (total_ == 0 || slots.has_left(newest_, current)) {
            return total_;
        }
        std::uint64_t left = 0;
        for (auto at = queue_.begin(); !at.at_end(); queue_.step(at, pool)) {
            const Record& record = queue_.at(at, pool);
            if (!slots.has_left(slot_of(record), current)) {
                break;
            }
            left += Slots::units_in(record);
        }
        return left;
    }

    std::uint64_t total_ = 0;  // in the queue and the newest slot
    std::uint64_t newest_ = 0;
    std::uint64_t newest_units_ = 0;
    std::uint64_t ever_ = 0;  // units since `born_`, and those of other workers that are known of
    std::int64_t born_ = 0;   // ns
    RecordQueue<Record> queue_;
};

}  // namespace sluice

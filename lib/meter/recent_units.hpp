#pragma once
#include "lib/base/units.hpp"
#include "lib/meter/line_pool.hpp"
#include "lib/meter/record_queue.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sluice {

// The units charged lately, each until it leaves: what sliding counters and a sliding log have in
// common. `Slots` says what the time is cut into (sub-windows, or single ns), when a slot leaves,
// and how a slot and its units are packed into a record:
//
//   count()                      at most so many units that have not left
//   of(Instant)                  the slot that holds an instant
//   leaves(slot)                 the instant from which its units count no more
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
    // everything has left, else at most kDropsAhead records and one for each unit of the cost.
    void make_way(const Slots& slots, LinePool& pool, Instant now, Units cost) noexcept {
        if (total_ == 0 || slots.leaves(newest_) <= now) {
            queue_.clear(pool);
            total_ = 0;
            newest_units_ = 0;
            return;
        }
        const bool may_fit = cost.count() <= slots.count();
        for (unsigned dropped = 0; dropped < kDropsAhead || (may_fit && !admits(slots, cost));
             ++dropped) {
            if (queue_.empty() || slots.leaves(slot_of(queue_.front(pool))) > now) {
                return;
            }
            total_ -= Slots::units_in(queue_.front(pool));
            queue_.pop(pool);
        }
    }

    // After make_way() for the same instant and cost.
    [[nodiscard]] bool admits(const Slots& slots, Units cost) const noexcept {
        return cost.count() <= slots.count() && total_ <= slots.count() - cost.count();
    }
    // As much of the cost as fits. After make_way() likewise.
    [[nodiscard]] Units what_fits(const Slots& slots, Units cost) const noexcept {
        return Units{std::min(cost.count(), slots.count() - std::min(total_, slots.count()))};
    }
    // Whether a charge at this instant has room; takes a line for it if it needs one.
    [[nodiscard]] bool make_room(const Slots& slots, LinePool& pool, Instant now) noexcept {
        return total_ == 0 || slots.of(now) <= newest_ || queue_.make_room(pool);
    }

    // What admits() or what_fits() has just said. Without room, the newest slot's units are taken
    // as spent now as well: they leave later than they should, never earlier.
    void charge(const Slots& slots, LinePool& pool, Instant now, Units cost) noexcept {
        if (cost.count() == 0) {
            return;
        }
        const std::uint64_t slot = slots.of(now);
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
    }

    [[nodiscard]] Units remaining(const Slots& slots, const LinePool& pool,
                                  Instant now) const noexcept {
        const std::uint64_t used = total_ - left_by(slots, pool, now);
        return Units{slots.count() - std::min(used, slots.count())};
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

    // Forgets the oldest units above the count. They would have left before all others, so what is
    // refused stays refused.
    void cut_to_count(const Slots& slots, LinePool& pool) noexcept { cut_to(slots.count(), pool); }

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

    // Units that have left and have not been dropped yet.
    [[nodiscard]] std::uint64_t left_by(const Slots& slots, const LinePool& pool,
                                        Instant now) const noexcept {
        if (total_ == 0 || slots.leaves(newest_) <= now) {
            return total_;
        }
        std::uint64_t left = 0;
        for (auto at = queue_.begin(); !at.at_end(); queue_.step(at, pool)) {
            const Record& record = queue_.at(at, pool);
            if (slots.leaves(slot_of(record)) > now) {
                break;
            }
            left += Slots::units_in(record);
        }
        return left;
    }

    std::uint64_t total_ = 0;  // in the queue and the newest slot
    std::uint64_t newest_ = 0;
    std::uint64_t newest_units_ = 0;
    RecordQueue<Record> queue_;
};

}  // namespace sluice

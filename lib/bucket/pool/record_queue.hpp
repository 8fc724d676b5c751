#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

// A first-in first-out queue of small records in a chain of pool lines, so that its memory follows
// what is in it:
//
//   first --> [ next | r r r ] --> [ next | r r r ] --> [ next | r . . ] <-- last
//
// Plain data: it lies in a pool line itself, and zeroes are an empty queue. Its stores are in such
// an order that mend() finds every record, also if the process ends between two of them.
namespace sluice {

template <typename Record>
class RecordQueue {
    struct Line {
        static constexpr std::size_t kRecords = (kLineBytes - alignof(Record)) / sizeof(Record);
        PoolLine next;  // first, as LinePool::give_back_chain() wants it
        std::array<Record, kRecords> records;
    };

public:
    // The position of a walk from the oldest record to the newest.
    class Cursor {
    public:
        [[nodiscard]] bool at_end() const noexcept { return line_ == kNoLine; }

    private:
        friend class RecordQueue;
        PoolLine line_ = kNoLine;
        std::uint32_t at_ = 0;
    };

    [[nodiscard]] bool empty() const noexcept { return lines_ == 0; }

    // Sees to it that the next push has room. False: the pool is full.
    [[nodiscard]] bool make_room(LinePool& pool) noexcept {
        if (has_room()) {
            return true;
        }
        const PoolLine taken = pool.take();
        keep_store_order();
        spare_ = taken;
        return taken != kNoLine;
    }
    [[nodiscard]] bool has_room() const noexcept {
        return spare_ != kNoLine || (!empty() && last_size_ < Line::kRecords);
    }

    // Only when it has room.
    void push(LinePool& pool, const Record& record) noexcept {
        if (empty() || last_size_ == Line::kRecords) {
            append_spare(pool);
        }
        pool.at<Line>(last_).records[last_size_] = record;
        keep_store_order();
        ++last_size_;
    }

    void prefetch_front(const LinePool& pool) const noexcept {
        if (!empty()) {
            prefetch0(&pool.at<Line>(first_).records[first_at_]);
        }
    }

    // Only when it is not empty.
    [[nodiscard]] Record& front(LinePool& pool) const noexcept {
        return pool.at<Line>(first_).records[first_at_];
    }
    [[nodiscard]] const Record& back(const LinePool& pool) const noexcept {
        return pool.at<Line>(last_).records[last_size_ - 1U];
    }
    void pop(LinePool& pool) noexcept {
        ++first_at_;
        const bool emptied = first_ == last_ && first_at_ == last_size_;
        if (!emptied && first_at_ < Line::kRecords) {
            return;
        }
        const PoolLine done = first_;
        const PoolLine next = emptied ? kNoLine : pool.at<Line>(done).next;
        --lines_;
        first_at_ = 0;
        keep_store_order();
        first_ = next;
        last_ = emptied ? kNoLine : last_;
        keep_store_order();
        pool.give_back(done);
    }
    // All at once, however many there are.
    void clear(LinePool& pool) noexcept {
        const RecordQueue was = *this;
        lines_ = 0;
        keep_store_order();
        *this = RecordQueue{};
        spare_ = was.spare_;
        keep_store_order();
        if (!was.empty()) {
            pool.give_back_chain(was.first_, was.last_, was.lines_);
        }
    }
    // Also gives back the line held for the next push.
    void close(LinePool& pool) noexcept {
        clear(pool);
        if (spare_ != kNoLine) {
            pool.give_back(spare_);
            spare_ = kNoLine;
        }
    }

    // For memory that another process left, at any instant: makes the queue whole again. Calls
    // claim(line) for each of its lines; the first that is refused ends the queue.
    template <typename Claim>
    void mend(LinePool& pool, Claim&& claim) noexcept {
        first_at_ = first_at_ < Line::kRecords ? first_at_ : std::uint16_t{0};
        last_size_ = std::min<std::uint16_t>(last_size_, Line::kRecords);
        PoolLine before = kNoLine;
        PoolLine dropped = kNoLine;
        PoolLine at = lines_ == 0 ? kNoLine : first_;
        lines_ = 0;
        for (; at != kNoLine && claim(at); at = pool.at<Line>(at).next) {
            ++lines_;
            if (at == last_) {
                break;
            }
            before = at;
        }
        if (lines_ == 0) {
            forget_all();
        } else if (at != last_) {
            last_ = before;
            last_size_ = Line::kRecords;
        } else {
            dropped = trim(pool, before);
        }
        if (spare_ != kNoLine && spare_ != dropped) {
            spare_ = claim(spare_) ? spare_ : dropped;
        } else {
            spare_ = dropped;
        }
    }

    [[nodiscard]] Cursor begin() const noexcept {
        Cursor cursor;
        cursor.line_ = first_;
        cursor.at_ = first_at_;
        return cursor;
    }
    [[nodiscard]] const Record& at(const Cursor& cursor, const auto& pool) const noexcept {
        // In bounds also for another core's queue, read while that core changes it.
        const std::size_t at = std::min<std::size_t>(cursor.at_, Line::kRecords - 1);
        return pool.template at<Line>(cursor.line_).records[at];
    }
    void step(Cursor& cursor, const auto& pool) const noexcept {
        ++cursor.at_;
        if (cursor.line_ == last_ && cursor.at_ == last_size_) {
            cursor.line_ = kNoLine;
        } else if (cursor.at_ >= Line::kRecords) {
            cursor.line_ = pool.template at<Line>(cursor.line_).next;
            cursor.at_ = 0;
        }
    }

private:
    void append_spare(LinePool& pool) noexcept {
        const bool first = empty();
        if (first) {
            first_ = spare_;
            first_at_ = 0;
        } else {
            pool.at<Line>(last_).next = spare_;
        }
        keep_store_order();
        // Until its size is right as well, the new line is taken for full of empty records.
        last_ = spare_;
        keep_store_order();
        last_size_ = 0;
        keep_store_order();
        ++lines_;
        spare_ = kNoLine;
    }

    void forget_all() noexcept {
        first_ = last_ = kNoLine;
        first_at_ = last_size_ = 0;
    }

    // Without the empty records that a last line ends in which had just been appended. A line that
    // has none but those is left out, and returned.
    PoolLine trim(LinePool& pool, PoolLine before) noexcept {
        const Record none{};
        const auto& records = pool.at<Line>(last_).records;
        while (last_size_ != 0 &&
               std::memcmp(&records[last_size_ - 1U], &none, sizeof(none)) == 0) {
            --last_size_;
        }
        if (last_size_ > (first_ == last_ ? first_at_ : 0)) {
            return kNoLine;
        }
        const PoolLine dropped = last_;
        --lines_;
        if (before == kNoLine) {
            forget_all();
        } else {
            last_ = before;
            last_size_ = Line::kRecords;
        }
        return dropped;
    }

    PoolLine first_ = kNoLine;
    PoolLine last_ = kNoLine;
    PoolLine spare_ = kNoLine;    // held for the next push
    std::uint32_t lines_ = 0;     // in the chain
    std::uint16_t first_at_ = 0;  // of the oldest record in its line
    std::uint16_t last_size_ = 0;
};

}  // namespace sluice

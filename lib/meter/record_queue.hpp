#pragma once
#include "lib/meter/line_pool.hpp"

#include <array>
#include <cstdint>

// A first-in first-out queue of small records in a chain of pool lines, so that its memory follows
// what is in it:
//
//   first --> [ next | r r r ] --> [ next | r r r ] --> [ next | r . . ] <-- last
//
// Plain data: it lies in a pool line itself, and zeroes are an empty queue.
namespace sluice {

template <typename Record>
class RecordQueue {
    struct Line {
        static constexpr std::size_t kRecords = (kLineBytes - alignof(Record)) / sizeof(Record);
        PoolLine next;  // first, as LinePool::give_back_chain() wants it
        std::array<Record, kRecords> records;
    };

public:
    // Where a walk from the oldest record to the newest has come to.
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
        spare_ = pool.take();
        return spare_ != kNoLine;
    }
    [[nodiscard]] bool has_room() const noexcept {
        return spare_ != kNoLine || (!empty() && last_size_ < Line::kRecords);
    }

    // Only when it has room.
    void push(LinePool& pool, const Record& record) noexcept {
        if (empty() || last_size_ == Line::kRecords) {
            append_spare(pool);
        }
        pool.at<Line>(last_).records[last_size_++] = record;
    }

    // Only when it is not empty.
    [[nodiscard]] Record& front(LinePool& pool) const noexcept {
        return pool.at<Line>(first_).records[first_at_];
    }
    void pop(LinePool& pool) noexcept {
        ++first_at_;
        const bool emptied = first_ == last_ && first_at_ == last_size_;
        if (!emptied && first_at_ < Line::kRecords) {
            return;
        }
        const PoolLine done = first_;
        first_ = emptied ? kNoLine : pool.at<Line>(done).next;
        last_ = emptied ? kNoLine : last_;
        first_at_ = 0;
        --lines_;
        pool.give_back(done);
    }
    // All at once, however many there are.
    void clear(LinePool& pool) noexcept {
        if (!empty()) {
            pool.give_back_chain(first_, last_, lines_);
        }
        const PoolLine spare = spare_;
        *this = RecordQueue{};
        spare_ = spare;
    }
    // Also gives back the line held for the next push.
    void close(LinePool& pool) noexcept {
        clear(pool);
        if (spare_ != kNoLine) {
            pool.give_back(spare_);
            spare_ = kNoLine;
        }
    }

    [[nodiscard]] Cursor begin() const noexcept {
        Cursor cursor;
        cursor.line_ = first_;
        cursor.at_ = first_at_;
        return cursor;
    }
    [[nodiscard]] const Record& at(const Cursor& cursor, const LinePool& pool) const noexcept {
        return pool.at<Line>(cursor.line_).records[cursor.at_];
    }
    void step(Cursor& cursor, const LinePool& pool) const noexcept {
        ++cursor.at_;
        if (cursor.line_ == last_ && cursor.at_ == last_size_) {
            cursor.line_ = kNoLine;
        } else if (cursor.at_ == Line::kRecords) {
            cursor.line_ = pool.at<Line>(cursor.line_).next;
            cursor.at_ = 0;
        }
    }

private:
    void append_spare(LinePool& pool) noexcept {
        if (empty()) {
            first_ = spare_;
            first_at_ = 0;
        } else {
            pool.at<Line>(last_).next = spare_;
        }
        last_ = spare_;
        last_size_ = 0;
        ++lines_;
        spare_ = kNoLine;
    }

    PoolLine first_ = kNoLine;
    PoolLine last_ = kNoLine;
    PoolLine spare_ = kNoLine;    // held for the next push
    std::uint32_t lines_ = 0;     // in the chain
    std::uint16_t first_at_ = 0;  // of the oldest record in its line
    std::uint16_t last_size_ = 0;
};

}  // namespace sluice

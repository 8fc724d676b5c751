#pragma once
#include "lib/base/check.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/share/word.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace sluice {

// Progress of one end of the rings between two threads, in one line: how much it has written to
// those it writes, and how much it has read of those it reads. The lower halves of counts, which
// both ends keep whole.
struct alignas(64) RingMarks {
    static constexpr std::size_t kRings = 8;  // each way

    std::array<std::atomic<std::uint32_t>, kRings> written{};
    std::array<std::atomic<std::uint32_t>, kRings> read{};

    [[gnu::always_inline]] void prefetch() const noexcept { prefetch0(this); }
};
static_assert(sizeof(RingMarks) == 64);

// The count near `near` with that lower half: no end of a ring is further from the other than the
// ring is long, on either side.
[[nodiscard]] constexpr std::uint64_t whole_count(std::uint32_t half, std::uint64_t near) noexcept {
    const auto beyond = static_cast<std::int32_t>(half - static_cast<std::uint32_t>(near));
    return near + static_cast<std::uint64_t>(std::int64_t{beyond});
}

// Memory of one record, whatever its type.
struct alignas(64) RingLine {
    std::array<std::byte, 64> bytes;
};

// The memory of a ring, a power of two of lines, and the marks by which its ends go.
struct RingPlace {
    std::span<RingLine> lines;
    RingMarks& writer;
    RingMarks& reader;
    std::size_t ring = 0;  // of those that the marks are of
};

// Records from one thread to one other, in order, without waiting, whose writer can still read what
// it wrote after the reader is done with it, until it retires it:
//
//        retired()      read              written()
//   --------|=============|==================|-------->
//             done, kept     on their way
//
// The reader looks at records where they lie and marks how many it is done with: a thread that is
// stopped in between finds them again. Records are seen when they are published, many at a time.
template <typename Record>
class KeptRing {
public:
    // The lines outlive the ring.
    explicit KeptRing(const RingPlace& place)
        : mask_{place.lines.size() - 1},
          slots_{reinterpret_cast<Slot*>(place.lines.data())},
          written_{place.writer.written[place.ring]},
          read_{place.reader.read[place.ring]} {
        SLUICE_CHECK(std::has_single_bit(place.lines.size()));
    }

    // The writer's. The next record to fill, whatever it holds; nullptr: the ring is full.
    [[nodiscard]] Record* next() noexcept {
        return filled_ - retired_ > mask_ ? nullptr : &slots_[filled_ & mask_].record;
    }
    // Commits the record that next() gave. The reader sees it once it is published.
    void commit() noexcept {
        // The line of one that comes soon is in the reader's cache.
        prefetch_to_write(&slots_[(++filled_ + kAhead) & mask_]);
    }
    void publish() noexcept {
        if (published_ != filled_) {
            published_ = filled_;
            written_.store(static_cast<std::uint32_t>(filled_), std::memory_order_release);
        }
    }
    // A record that the reader sees at once, for a writer that keeps none. False: the ring is full.
    [[nodiscard]] bool put(const Record& record) noexcept {
        if (filled_ - retired_ > mask_) {
            retire(acknowledged());
            if (filled_ - retired_ > mask_) {
                return false;
            }
        }
        *next() = record;
        commit();
        publish();
        return true;
    }
    // How many can be written before it is.
    [[nodiscard]] std::size_t room() const noexcept {
        return mask_ + 1 - static_cast<std::size_t>(filled_ - retired_);
    }

    // How many records have ever been written, published or not.
    [[nodiscard]] std::uint64_t written() const noexcept { return filled_; }
    // How many of them the reader is done with. What it wrote elsewhere before, is seen afterwards.
    [[nodiscard]] std::uint64_t acknowledged() const noexcept {
        return whole_count(read_.load(std::memory_order_acquire), retired_);
    }
    [[nodiscard]] std::uint64_t retired() const noexcept { return retired_; }
    // A record by its number: from retired() on, below written().
    [[nodiscard]] const Record& kept(std::uint64_t number) const noexcept {
        return slots_[number & mask_].record;
    }
    // Records below `number`, which the reader is done with, are needed no more.
    void retire(std::uint64_t number) noexcept { retired_ = number; }

    // The reader's. How many records wait for it, at most `most`.
    [[nodiscard]] std::size_t waiting(std::size_t most) noexcept {
        const std::uint64_t count =
            whole_count(written_.load(std::memory_order_acquire), taken_) - taken_;
        return count < most ? static_cast<std::size_t>(count) : most;
    }
    // The i-th of those that wait, and its number.
    [[nodiscard]] const Record& peek(std::size_t i) const noexcept {
        return slots_[(taken_ + i) & mask_].record;
    }
    [[gnu::always_inline]] void prefetch(std::size_t i) const noexcept { prefetch0(&peek(i)); }
    [[nodiscard]] std::uint64_t first_waiting() const noexcept { return taken_; }
    // The first `count` of them are done with.
    void done(std::size_t count) noexcept {
        if (count != 0) {
            taken_ += count;
            read_.store(static_cast<std::uint32_t>(taken_), std::memory_order_release);
        }
    }
    // Hands over what has been written when it is called, oldest first, and is done with it.
    template <typename Fn>
    void drain(Fn&& fn) {
        const std::size_t count = waiting(SIZE_MAX);
        for (std::size_t i = 0; i < count; ++i) {
            fn(peek(i));
        }
        done(count);
    }

private:
    static constexpr std::size_t kLine = 64;
    static constexpr std::size_t kAhead = 8;

    static_assert(std::is_trivially_copyable_v<Record> && alignof(Record) <= alignof(RingLine));
    struct alignas(RingLine) Slot {
        Record record;
    };
    static_assert(sizeof(Slot) == sizeof(RingLine), "a record takes a line");

    std::size_t mask_;
    Slot* slots_;
    std::atomic<std::uint32_t>& written_;
    std::atomic<std::uint32_t>& read_;
    // The writer's.
    alignas(kLine) std::uint64_t filled_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t retired_ = 0;
    // The reader's.
    alignas(kLine) std::uint64_t taken_ = 0;
};

}  // namespace sluice

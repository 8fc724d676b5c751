#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/share/word.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice {

// Progress of one end of the rings between two threads, in one line: how much it has written to
// those it writes, and how much it has read of those it reads.
struct alignas(64) RingMarks {
    static constexpr std::size_t kRings = 2;  // each way

    std::array<std::atomic<std::uint64_t>, kRings> written{};
    std::array<std::atomic<std::uint64_t>, kRings> read{};

    [[gnu::always_inline]] void prefetch() const noexcept { prefetch0(this); }
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
    // `size` is a power of two; `which` of the marks that writer and reader exchange.
    KeptRing(std::size_t size, RingMarks& writer, RingMarks& reader, std::size_t which)
        : mask_{size - 1},
          records_{std::make_unique_for_overwrite<Record[]>(size)},
          written_{writer.written[which]},
          read_{reader.read[which]} {}

    // The writer's. The next record to fill; nullptr: the ring is full.
    [[nodiscard]] Record* next() noexcept {
        return filled_ - retired_ > mask_ ? nullptr : &records_[filled_ & mask_];
    }
    // Commits the record that next() gave. The reader sees it once it is published.
    void commit() noexcept {
        // The line of one that comes soon is in the reader's cache.
        prefetch_to_write(&records_[(++filled_ + kAhead) & mask_]);
    }
    void publish() noexcept {
        if (published_ != filled_) {
            published_ = filled_;
            written_.store(filled_, std::memory_order_release);
        }
    }
    // How many can be written before it is.
    [[nodiscard]] std::size_t room() const noexcept {
        return mask_ + 1 - static_cast<std::size_t>(filled_ - retired_);
    }

    // How many records have ever been written, published or not.
    [[nodiscard]] std::uint64_t written() const noexcept { return filled_; }
    // How many of them the reader is done with. What it wrote elsewhere before, is seen afterwards.
    [[nodiscard]] std::uint64_t acknowledged() const noexcept {
        return read_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t retired() const noexcept { return retired_; }
    // A record by its number: from retired() on, below written().
    [[nodiscard]] const Record& kept(std::uint64_t number) const noexcept {
        return records_[number & mask_];
    }
    // Records below `number`, which the reader is done with, are needed no more.
    void retire(std::uint64_t number) noexcept { retired_ = number; }

    // The reader's. How many records wait for it, at most `most`.
    [[nodiscard]] std::size_t waiting(std::size_t most) noexcept {
        const std::uint64_t count = written_.load(std::memory_order_acquire) - taken_;
        return count < most ? static_cast<std::size_t>(count) : most;
    }
    // The i-th of those that wait, and its number.
    [[nodiscard]] const Record& peek(std::size_t i) const noexcept {
        return records_[(taken_ + i) & mask_];
    }
    [[gnu::always_inline]] void prefetch(std::size_t i) const noexcept { prefetch0(&peek(i)); }
    [[nodiscard]] std::uint64_t first_waiting() const noexcept { return taken_; }
    // The first `count` of them are done with.
    void done(std::size_t count) noexcept {
        if (count != 0) {
            taken_ += count;
            read_.store(taken_, std::memory_order_release);
        }
    }

private:
    static constexpr std::size_t kLine = 64;
    static constexpr std::size_t kAhead = 8;

    std::size_t mask_;
    std::unique_ptr<Record[]> records_;
    std::atomic<std::uint64_t>& written_;
    std::atomic<std::uint64_t>& read_;
    // The writer's.
    alignas(kLine) std::uint64_t filled_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t retired_ = 0;
    // The reader's.
    alignas(kLine) std::uint64_t taken_ = 0;
};

}  // namespace sluice

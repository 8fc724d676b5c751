#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice {

// Records from one thread to one other, in order, without waiting: the writer fills a record where
// it lies, and does without when the reader has not kept up. (A Lamport queue; each end keeps a
// copy of the other's place, so that lines cross only when the copy is used up.)
template <typename Record>
class RecordRing {
public:
    // `size` is a power of two.
    explicit RecordRing(std::size_t size)
        : mask_{size - 1}, records_{std::make_unique_for_overwrite<Record[]>(size)} {}

    // The writer's. The next record to fill; nullptr: the ring is full.
    [[nodiscard]] Record* next() noexcept {
        const std::uint64_t at = written_.load(std::memory_order_relaxed);
        if (at - seen_read_ > mask_) {
            seen_read_ = read_.load(std::memory_order_acquire);
            if (at - seen_read_ > mask_) {
                return nullptr;
            }
        }
        return &records_[at & mask_];
    }
    // Commits the record that next() gave.
    void commit() noexcept {
        written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    // The reader's. Hands over what has been written when it is called, oldest first, `most` at
    // most.
    template <typename Fn>
    void drain(Fn&& fn, std::size_t most = SIZE_MAX) {
        const std::uint64_t end = written_.load(std::memory_order_acquire);
        for (std::uint64_t at = read_.load(std::memory_order_relaxed); at != end && most != 0;
             ++at, --most) {
            fn(static_cast<const Record&>(records_[at & mask_]));
            read_.store(at + 1, std::memory_order_release);
        }
    }

private:
    static constexpr std::size_t kLine = 64;

    std::size_t mask_;
    std::unique_ptr<Record[]> records_;
    alignas(kLine) std::atomic<std::uint64_t> written_{0};
    std::uint64_t seen_read_ = 0;
    alignas(kLine) std::atomic<std::uint64_t> read_{0};
};

}  // namespace sluice

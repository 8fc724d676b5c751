#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice {

// Records from one thread to one other, in order, without waiting, whose writer can still read what
// it wrote after the reader is done with it, until it retires it:
//
//        retired()      read              written()
//   --------|=============|==================|-------->
//             done, kept     on their way
//
// The reader looks at records where they lie and says how many it is done with: whoever is stopped
// in between finds them again.
template <typename Record>
class KeptRing {
public:
    // `size` is a power of two.
    explicit KeptRing(std::size_t size)
        : mask_{size - 1}, records_{std::make_unique_for_overwrite<Record[]>(size)} {}

    // The writer's. The next record to fill; nullptr: the ring is full.
    [[nodiscard]] Record* next() noexcept {
        const std::uint64_t at = written();
        return at - retired_ > mask_ ? nullptr : &records_[at & mask_];
    }
    // How many can be written before it is.
    [[nodiscard]] std::size_t room() const noexcept {
        return mask_ + 1 - static_cast<std::size_t>(written() - retired_);
    }
    // What next() gave is filled.
    void commit() noexcept { written_.store(written() + 1, std::memory_order_release); }

    // How many records have ever been written.
    [[nodiscard]] std::uint64_t written() const noexcept {
        return written_.load(std::memory_order_relaxed);
    }
    // How many of them the reader is done with. What it wrote elsewhere before, is seen afterwards.
    [[nodiscard]] std::uint64_t acknowledged() const noexcept {
        return read_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t retired() const noexcept { return retired_; }
    // A record by its number: from retired() on, below written().
    [[nodiscard]] const Record& kept(std::uint64_t number) const noexcept {
        return records_[number & mask_];
    }
    // Those below `number`, which the reader is done with, are needed no more.
    void retire(std::uint64_t number) noexcept { retired_ = number; }

    // The reader's. How many records wait for it, at most `most`.
    [[nodiscard]] std::size_t waiting(std::size_t most) const noexcept {
        const std::uint64_t count =
            written_.load(std::memory_order_acquire) - read_.load(std::memory_order_relaxed);
        return count < most ? static_cast<std::size_t>(count) : most;
    }
    // The i-th of those that wait, and its number.
    [[nodiscard]] const Record& peek(std::size_t i) const noexcept {
        return records_[(read_.load(std::memory_order_relaxed) + i) & mask_];
    }
    [[nodiscard]] std::uint64_t first_waiting() const noexcept {
        return read_.load(std::memory_order_relaxed);
    }
    // The first `count` of them are done with.
    void done(std::size_t count) noexcept {
        read_.store(first_waiting() + count, std::memory_order_release);
    }

private:
    static constexpr std::size_t kLine = 64;

    std::size_t mask_;
    std::unique_ptr<Record[]> records_;
    alignas(kLine) std::atomic<std::uint64_t> written_{0};
    std::uint64_t retired_ = 0;
    alignas(kLine) std::atomic<std::uint64_t> read_{0};
};

}  // namespace sluice

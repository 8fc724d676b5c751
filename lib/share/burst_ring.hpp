#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Pointers from one thread to one other, in order and many at a time. A full ring takes no more:
// neither end waits. (As RecordRing; each end keeps a copy of the other's place, so that lines
// cross only when the copy is used up.)
template <typename T, std::size_t kSize>
class BurstRing {
    static_assert((kSize & (kSize - 1)) == 0, "a power of two");

public:
    // The writer's. How many of them found room; the first ones did.
    [[nodiscard]] unsigned put(T* const* items, unsigned count) noexcept {
        const std::uint64_t at = written_.load(std::memory_order_relaxed);
        if (at - seen_read_ + count > kSize) {
            seen_read_ = read_.load(std::memory_order_acquire);
        }
        const auto fits =
            static_cast<unsigned>(std::min<std::uint64_t>(count, kSize - (at - seen_read_)));
        for (unsigned i = 0; i < fits; ++i) {
            items_[(at + i) % kSize] = items[i];
        }
        written_.store(at + fits, std::memory_order_release);
        return fits;
    }

    // The reader's. How many there were, `most` at the most.
    [[nodiscard]] unsigned take(T** items, unsigned most) noexcept {
        const std::uint64_t at = read_.load(std::memory_order_relaxed);
        if (seen_written_ - at < most) {
            seen_written_ = written_.load(std::memory_order_acquire);
        }
        const auto there = static_cast<unsigned>(std::min<std::uint64_t>(most, seen_written_ - at));
        if (there == 0) {
            return 0;
        }
        for (unsigned i = 0; i < there; ++i) {
            items[i] = items_[(at + i) % kSize];
        }
        read_.store(at + there, std::memory_order_release);
        return there;
    }

private:
    static constexpr std::size_t kLine = 64;

    alignas(kLine) std::atomic<std::uint64_t> written_{0};
    std::uint64_t seen_read_ = 0;
    alignas(kLine) std::atomic<std::uint64_t> read_{0};
    std::uint64_t seen_written_ = 0;
    alignas(kLine) std::array<T*, kSize> items_;
};

}  // namespace sluice

#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

// A small value that one thread changes now and then and any thread reads whole, without a lock or
// a loop: readers share its lines, which nobody writes while it stays as it is. A value keeps its
// place until kKept others have been set, by when no reader may be at it any more: a reader copies
// it within one call, and its writer sets at most a few a second.
template <typename T>
    requires std::is_trivially_copyable_v<T>
class Latest {
public:
    explicit Latest(const T& first) noexcept { values_[0] = first; }

    [[nodiscard]] T get() const noexcept {
        return values_[number_.load(std::memory_order_acquire) % kKept];
    }
    // Called by the one writer.
    void set(const T& next) noexcept {
        const std::uint64_t number = number_.load(std::memory_order_relaxed) + 1;
        values_[number % kKept] = next;
        number_.store(number, std::memory_order_release);
    }

private:
    static constexpr std::size_t kKept = 256;

    alignas(64) std::atomic<std::uint64_t> number_{0};
    alignas(64) std::array<T, kKept> values_{};
};

}  // namespace sluice

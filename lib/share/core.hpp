#pragma once
#include "lib/base/check.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

// Rights to touch what cores share. Two types carry the cross-core story:
//
//   CoreToken   the right to act as one core; one exists per worker, it cannot be copied
//   Counter     written by its owner, read by anyone
namespace sluice {

inline constexpr std::size_t kMaxCores = 64;
inline constexpr std::size_t kCacheLine = 64;

class CoreToken {
public:
    CoreToken(CoreToken&& other) noexcept : index_{std::exchange(other.index_, kMaxCores)} {}
    CoreToken(const CoreToken&) = delete;
    CoreToken& operator=(const CoreToken&) = delete;
    CoreToken& operator=(CoreToken&&) = delete;
    ~CoreToken() = default;

    [[nodiscard]] std::size_t index() const noexcept { return index_; }

private:
    friend class CoreRoster;
    explicit CoreToken(std::size_t index) noexcept : index_{index} {}
    std::size_t index_;
};

// Hands out each core once, at start-up.
class CoreRoster {
public:
    [[nodiscard]] CoreToken enlist() noexcept {
        SLUICE_CHECK(next_ < kMaxCores);
        return CoreToken{next_++};
    }

private:
    std::size_t next_{0};
};

// add() is a plain load and store: with one writer there is no lost update to guard against, so it
// costs no lock prefix. Relaxed, because most counts order nothing else.
class Counter {
public:
    [[gnu::always_inline]] void add(std::uint64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t read() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }
    // For a count that orders others: a reader that gets this value sees afterwards all that its
    // writer had seen or done before. Plain moves on the machine, too.
    void set_release(std::uint64_t value) noexcept {
        value_.store(value, std::memory_order_release);
    }
    [[nodiscard]] std::uint64_t read_acquire() const noexcept {
        return value_.load(std::memory_order_acquire);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A count of what is rare and may happen on any core: add() has a lock prefix.
class SharedCounter {
public:
    void add(std::uint64_t n) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t read() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

// A flag one side raises and the others look at: stop, panic.
class Signal {
public:
    void raise(bool on) noexcept { on_.store(on, std::memory_order_release); }
    [[nodiscard]] bool raised() const noexcept { return on_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> on_{false};
};

}  // namespace sluice

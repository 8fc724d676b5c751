#pragma once
#include "lib/base/check.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace sluice {

// Proof that every worker has crossed a burst boundary since the swap.
// Only the board that watches the workers can make one.
class GracePeriod {
    friend class QuiesceBoard;
    GracePeriod() = default;
};

// An old snapshot that some worker may still be reading. It can be freed only with proof.
template <typename T>
class [[nodiscard]] Retired {
public:
    explicit Retired(const T* old) noexcept : old_{old} {}
    Retired(Retired&& other) noexcept : old_{std::exchange(other.old_, nullptr)} {}
    Retired& operator=(Retired&& other) noexcept {
        SLUICE_CHECK(old_ == nullptr);
        old_ = std::exchange(other.old_, nullptr);
        return *this;
    }
    ~Retired() { SLUICE_CHECK(old_ == nullptr); }

    void reclaim(const GracePeriod&) && noexcept { delete std::exchange(old_, nullptr); }

private:
    const T* old_;
};

// One writer (control), many readers (workers). T is never changed once published.
template <typename T>
class Published {
public:
    explicit Published(std::unique_ptr<const T> first) noexcept : current_{first.release()} {}
    ~Published() { delete current_.load(std::memory_order_relaxed); }
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;

    // Worker: once, at the top of a burst. The reference is good until the burst ends.
    [[nodiscard]] const T& adopt() const noexcept {
        return *current_.load(std::memory_order_acquire);
    }

    // Control thread only.
    [[nodiscard]] Retired<T> publish(std::unique_ptr<const T> next) noexcept {
        return Retired<T>{current_.exchange(next.release(), std::memory_order_acq_rel)};
    }

private:
    std::atomic<const T*> current_;
};

}  // namespace sluice

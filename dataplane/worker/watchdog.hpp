#pragma once
#include <chrono>
#include <cstdint>

namespace sluice {

// Watches one worker's heartbeat, a counter that grows with every burst.
class Watchdog {
public:
    explicit Watchdog(std::chrono::nanoseconds stall) noexcept : stall_{stall} {}

    // True once, when the worker is seen to have stalled.
    [[nodiscard]] bool look(std::uint64_t heartbeat, std::chrono::milliseconds now) noexcept {
        if (heartbeat != last_ || !begun_) {
            begun_ = true;
            last_ = heartbeat;
            seen_ = now;
            stalled_ = false;
            return false;
        }
        if (stalled_ || now - seen_ < stall_) {
            return false;
        }
        stalled_ = true;
        ++stalls_;
        return true;
    }
    // How long the worker has stood still, once it counts as stalled.
    [[nodiscard]] std::chrono::milliseconds stalled_for(
        std::chrono::milliseconds now) const noexcept {
        return stalled_ ? now - seen_ : std::chrono::milliseconds{0};
    }
    [[nodiscard]] std::uint64_t stalls() const noexcept { return stalls_; }

private:
    std::chrono::nanoseconds stall_;
    std::uint64_t last_ = 0;
    std::chrono::milliseconds seen_{};
    std::uint64_t stalls_ = 0;
    bool begun_ = false;
    bool stalled_ = false;
};

}  // namespace sluice

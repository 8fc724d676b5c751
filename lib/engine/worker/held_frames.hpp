#pragma once
#include "lib/base/units.hpp"
#include "lib/respond/shape/timing_wheel.hpp"
#include "lib/share/core.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// A packet that departs later, and the lane that it came by.
template <typename Io>
struct HeldFrame {
    typename Io::Frame* frame;
    Io* lane;
};

// The packets that one worker holds until their departures: a share of the buffers, which the
// receive queues can do without. They are this worker's alone, and are sent or counted by it.
template <typename Io>
class HeldFrames {
public:
    using Held = HeldFrame<Io>;

    // `budget`: of buffers.
    explicit HeldFrames(std::uint32_t budget) : budget_{budget}, wheel_{budget} {}

    [[nodiscard]] bool empty() const noexcept { return wheel_.empty(); }
    [[nodiscard]] std::uint32_t size() const noexcept { return wheel_.size(); }
    [[nodiscard]] std::uint32_t budget() const noexcept { return budget_; }
    // How many more packets there is room for. One in several buffers may take more than is left.
    [[nodiscard]] std::uint32_t room() const noexcept {
        return buffers_ < budget_ ? std::min(budget_ - buffers_, budget_ - wheel_.size()) : 0;
    }

    // Time never goes back. False: there is no room.
    [[nodiscard]] bool hold(const Held& held, Instant now, Instant due) noexcept {
        if (!wheel_.insert(held, now, due)) {
            return false;
        }
        buffers_ += Io::buffers_of(*held.frame);
        now_held_.set(wheel_.size());
        return true;
    }
    // In the order of their departures; how many.
    [[nodiscard]] std::size_t take_due(Instant now, std::span<Held> out) noexcept {
        return taken(out.first(wheel_.take_due(now, out)));
    }
    [[nodiscard]] std::size_t take_any(std::span<Held> out) noexcept {
        return taken(out.first(wheel_.take_any(out)));
    }

    // Anyone may read it.
    [[nodiscard]] std::uint64_t now_held() const noexcept { return now_held_.read(); }

private:
    [[nodiscard]] std::size_t taken(std::span<const Held> frames) noexcept {
        for (const Held& held : frames) {
            buffers_ -= Io::buffers_of(*held.frame);
        }
        now_held_.set(wheel_.size());
        return frames.size();
    }

    std::uint32_t budget_;
    std::uint32_t buffers_ = 0;
    TimingWheel<Held> wheel_;
    Counter now_held_;
};

}  // namespace sluice

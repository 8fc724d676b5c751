#pragma once
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/limit.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <cstdint>
#include <map>

// What all workers together have admitted for one key, in wider integers than any of them, by
// someone who knows of every charge at once.
namespace sluice {

class ExactBucket {
public:
    // In 1/parts ns, after the charge.
    Wide charge(const Limit& limit, Instant now, std::uint64_t units) {
        debt_ = debt_at(limit, now) + static_cast<Wide>(units) * limit.period();
        at_ = now;
        return debt_;
    }
    [[nodiscard]] Wide debt_at(const Limit& limit, Instant now) const {
        const Wide passed = static_cast<Wide>((now - at_).count()) * limit.parts();
        return debt_ > passed ? debt_ - passed : 0;
    }

private:
    Wide debt_ = 0;
    Instant at_{};
};

// Of windows, all that there ever were.
class ExactWindows {
public:
    void charge(std::int64_t epoch, std::uint64_t units) { units_[epoch] += units; }
    [[nodiscard]] std::uint64_t in(std::int64_t epoch) const {
        const auto at = units_.find(epoch);
        return at == units_.end() ? 0 : at->second;
    }
    [[nodiscard]] const std::map<std::int64_t, std::uint64_t>& units() const { return units_; }
    // What a sliding window counts at `now`, times its length.
    [[nodiscard]] Wide slid(const WindowNumbers& numbers, std::int64_t epoch, Instant now) const {
        const std::int64_t into = now.time_since_epoch().count() - epoch * numbers.window;
        const auto left = static_cast<Wide>(numbers.window - (into > 0 ? into : 0));
        return in(epoch - 1) * left + in(epoch) * static_cast<Wide>(numbers.window);
    }

private:
    std::map<std::int64_t, std::uint64_t> units_;
};

}  // namespace sluice

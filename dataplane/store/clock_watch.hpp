#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// The box's windows are not those of the store while its clock is wrong: from an answer that says
// so until 10 s after the last, and for as long as the clocks differ. Clocks that differ are no
// reason by themselves: the store's may be the wrong one, which it lets no window depend on.
class ClockWatch {
public:
    static constexpr Nanoseconds kApartFor{10'000'000'000};  // after the last such answer
    static constexpr std::int64_t kOffUs = 1'000'000;  // the store lets windows be ahead by it

    // `answers`: so many of them have said so; `off_us`: the store's clock less the box's.
    [[nodiscard]] bool is_apart(std::uint64_t answers, std::int64_t off_us,
                                Nanoseconds now) noexcept {
        if (answers != seen_) {
            is_apart_ = true;
            at_ = now;
        }
        seen_ = answers;
        const bool is_off = off_us > kOffUs || off_us < -kOffUs;
        is_apart_ = is_apart_ && (is_off || now - at_ < kApartFor);
        return is_apart_;
    }

private:
    bool is_apart_ = false;
    std::uint64_t seen_ = 0;
    Nanoseconds at_{};
};

}  // namespace sluice

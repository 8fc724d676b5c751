#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sluice::pktgen {

// Delays in nanoseconds by size: 128 steps to each power of two, so a quantile is at most 0.8 % too
// large. What is longer than 2^40 ns (18 minutes) counts as that. Its size is fixed.
class DelayHistogram {
public:
    void add(std::uint64_t nanoseconds) noexcept {
        ++counts_[index_of(std::min(nanoseconds, kLongest))];
        ++count_;
        longest_ = std::max(longest_, nanoseconds);
        shortest_ = std::min(shortest_, nanoseconds);
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }
    [[nodiscard]] std::uint64_t shortest() const noexcept { return count_ == 0 ? 0 : shortest_; }

    // The smallest delay, rounded up to its step, that at least this share of all did not exceed.
    [[nodiscard]] std::uint64_t quantile(double share) const noexcept {
        // 0.07 of 100 are 7, whatever a double makes of it.
        constexpr double kExact = 1 - 1e-12;
        const auto wanted =
            static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_) * kExact));
        std::uint64_t seen = 0;
        for (std::size_t at = 0; at < counts_.size(); ++at) {
            seen += counts_[at];
            if (seen >= std::max<std::uint64_t>(wanted, 1)) {
                return std::min(last_of(at), longest_);
            }
        }
        return 0;
    }

private:
    static constexpr unsigned kStepBits = 7;
    static constexpr std::uint64_t kLongest = (std::uint64_t{1} << 40) - 1;
    static constexpr std::size_t kSteps = std::size_t{1} << kStepBits;

    // Up to 255 each value has its own; beyond, the eight leading bits tell.
    [[nodiscard]] static std::size_t index_of(std::uint64_t value) noexcept {
        const auto width = static_cast<unsigned>(std::bit_width(value));
        const unsigned shift = width > kStepBits + 1 ? width - kStepBits - 1 : 0;
        return shift * kSteps + static_cast<std::size_t>(value >> shift);
    }
    [[nodiscard]] static std::uint64_t last_of(std::size_t index) noexcept {
        if (index < 2 * kSteps) {
            return index;
        }
        const std::size_t shift = index / kSteps - 1;
        return ((static_cast<std::uint64_t>(index - shift * kSteps) + 1) << shift) - 1;
    }

    std::array<std::uint64_t, (40 - kStepBits + 1) * kSteps> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t longest_ = 0;
    std::uint64_t shortest_ = UINT64_MAX;
};

}  // namespace sluice::pktgen

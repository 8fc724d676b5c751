#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace sluice::pktgen {

// Numbered frames as they arrive: each once, again, or after one that was sent later (RFC
// 4737, 3.3). Duplicates are told apart within the latest 65,536 numbers; what is older counts as
// `too_old`.
class ArrivalOrder {
public:
    void take(std::uint64_t number) noexcept {
        if (number >= next_) {
            forget_up_to(number);
            next_ = number + 1;
        } else if (next_ - number > kWindow) {
            ++too_old_;
            ++reordered_;
            return;
        } else if (seen_[number % kWindow]) {
            ++duplicates_;
            return;
        } else {
            ++reordered_;
        }
        seen_[number % kWindow] = true;
        ++unique_;
    }

    [[nodiscard]] std::uint64_t unique() const noexcept { return unique_ + too_old_; }
    [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_; }
    [[nodiscard]] std::uint64_t duplicates() const noexcept { return duplicates_; }
    [[nodiscard]] std::uint64_t too_old() const noexcept { return too_old_; }

private:
    static constexpr std::size_t kWindow = 1 << 16;

    void forget_up_to(std::uint64_t number) noexcept {
        if (number - next_ >= kWindow) {
            seen_.reset();
            return;
        }
        for (std::uint64_t gone = next_; gone <= number; ++gone) {
            seen_[gone % kWindow] = false;
        }
    }

    std::bitset<kWindow> seen_;
    std::uint64_t next_ = 0;
    std::uint64_t unique_ = 0;
    std::uint64_t reordered_ = 0;
    std::uint64_t duplicates_ = 0;
    std::uint64_t too_old_ = 0;
};

}  // namespace sluice::pktgen

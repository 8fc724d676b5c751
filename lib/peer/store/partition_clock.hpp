#pragma once
#include <algorithm>
#include <cstdint>

namespace sluice {

// A box's knowledge of a partition's clock: the most that it is ahead of the box's monotonic clock,
// for certain. Whenever it was told, the store's had been there before the answer came, so the
// reckoning never runs ahead of it, and lags by the shortest round trip.
class PartitionClock {
public:
    void tell(std::uint64_t born, std::uint64_t now_us, std::uint64_t received_us) noexcept {
        adopt(born, static_cast<std::int64_t>(now_us - received_us));
    }
    // A reading of another process of the machine.
    void adopt(std::uint64_t born, std::int64_t ahead_us) noexcept {
        ahead_ = born == born_ ? std::max(ahead_, ahead_us) : ahead_us;
        born_ = born;
    }
    // 0: it was never told.
    [[nodiscard]] std::uint64_t reckon(std::uint64_t sent_us) const noexcept {
        return born_ == 0 ? 0 : sent_us + static_cast<std::uint64_t>(ahead_);
    }
    [[nodiscard]] std::uint64_t born() const noexcept { return born_; }
    [[nodiscard]] std::int64_t ahead_us() const noexcept { return ahead_; }

private:
    std::uint64_t born_ = 0;
    std::int64_t ahead_ = 0;
};

}  // namespace sluice

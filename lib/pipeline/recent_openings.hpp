#pragma once
#include "lib/packet/row_mask.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The connections of the latest SYNs: of all in a burst that is being keyed, and in the one before
// it, which is decided after that (run_overlapped()).
class RecentOpenings {
public:
    void add(std::uint64_t digest) noexcept { digests_[next_++ % digests_.size()] = digest; }
    [[nodiscard]] bool has(std::uint64_t digest) const noexcept {
        return std::find(digests_.begin(), digests_.end(), digest) != digests_.end();
    }

private:
    std::array<std::uint64_t, 2 * kMaxBurst> digests_{};
    std::size_t next_ = 0;
};

}  // namespace sluice

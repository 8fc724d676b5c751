#pragma once
#include "lib/packet/row_mask.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

class Burst;

// The connections of SYNs and SYN-ACKs that no bucket has been asked about yet: of the burst that
// is being keyed, and of the one before it, which is decided after that (run_overlapped()).
class RecentOpenings {
public:
    void add(const Burst& burst, std::uint64_t digest) noexcept {
        openings_[next_++ % openings_.size()] = {&burst, digest};
    }
    // The burst has been decided.
    void forget(const Burst& burst) noexcept {
        for (Opening& opening : openings_) {
            opening = opening.burst == &burst ? Opening{} : opening;
        }
    }
    [[nodiscard]] bool has(std::uint64_t digest) const noexcept {
        return std::any_of(openings_.begin(), openings_.end(), [&](const Opening& opening) {
            return opening.burst != nullptr && opening.digest == digest;
        });
    }

private:
    struct Opening {
        const Burst* burst = nullptr;
        std::uint64_t digest = 0;
    };
    std::array<Opening, 2 * kMaxBurst> openings_{};
    std::size_t next_ = 0;
};

}  // namespace sluice

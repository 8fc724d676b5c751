#pragma once
#include "lib/ledger/message.hpp"
#include "lib/share/kept_ring.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// From one worker to one owner: amounts there, totals back.
struct AmountLane {
    explicit AmountLane(std::size_t size) : amounts{size}, totals{size} {}

    KeptRing<Amount> amounts;
    KeptRing<Total> totals;
};

// One lane for each ordered pair of workers.
class AmountLanes {
public:
    AmountLanes(std::size_t workers, std::size_t ring_size) : workers_{workers} {
        for (std::size_t i = 0; i < workers * workers; ++i) {
            const bool own = i / workers == i % workers;
            lanes_.push_back(own ? nullptr : std::make_unique<AmountLane>(ring_size));
        }
    }

    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
    [[nodiscard]] AmountLane& between(std::size_t sender, std::size_t owner) noexcept {
        return *lanes_[sender * workers_ + owner];
    }

private:
    std::size_t workers_;
    std::vector<std::unique_ptr<AmountLane>> lanes_;
};

// Messages a lane holds: much for few workers, and for many no more memory than for few.
[[nodiscard]] constexpr std::size_t lane_size(std::size_t workers) noexcept {
    std::size_t size = 2048;
    while (size > 64 && size * workers > 8192) {
        size /= 2;
    }
    return size;
}

}  // namespace sluice

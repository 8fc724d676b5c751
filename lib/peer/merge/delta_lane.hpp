#pragma once
#include "lib/peer/merge/message.hpp"
#include "lib/share/kept_ring.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// From one worker to one owner: amounts there, totals back. What both tell of it lies with what
// they tell of the lane between them the other way round.
struct DeltaLane {
    DeltaLane(std::size_t size, RingMarks& sender, RingMarks& owner)
        : deltas{size, sender, owner, 0}, totals{size, owner, sender, 1} {}

    KeptRing<Delta> deltas;
    KeptRing<Total> totals;
};

// One lane for each ordered pair of workers.
class DeltaLanes {
public:
    DeltaLanes(std::size_t workers, std::size_t ring_size)
        : workers_{workers}, marks_{std::make_unique<RingMarks[]>(workers * workers)} {
        for (std::size_t i = 0; i < workers * workers; ++i) {
            const std::size_t sender = i / workers;
            const std::size_t owner = i % workers;
            lanes_.push_back(sender == owner ? nullptr
                                             : std::make_unique<DeltaLane>(
                                                   ring_size, marks_between(sender, owner),
                                                   marks_between(owner, sender)));
        }
    }

    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
    [[nodiscard]] DeltaLane& between(std::size_t sender, std::size_t owner) noexcept {
        return *lanes_[sender * workers_ + owner];
    }
    // What one of them tells the other, of both lanes between them.
    [[nodiscard]] RingMarks& marks_between(std::size_t from, std::size_t to) noexcept {
        return marks_[from * workers_ + to];
    }

private:
    std::size_t workers_;
    std::unique_ptr<RingMarks[]> marks_;
    std::vector<std::unique_ptr<DeltaLane>> lanes_;
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

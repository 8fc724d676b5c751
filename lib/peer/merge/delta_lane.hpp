#pragma once
#include "lib/peer/link/links.hpp"
#include "lib/peer/merge/message.hpp"
#include "lib/share/kept_ring.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// From one worker to one owner: amounts there, totals back.
struct DeltaLane {
    DeltaLane(Links& links, std::size_t sender, std::size_t owner)
        : deltas{links.place(sender, owner, LinkRing::Amounts)},
          totals{links.place(owner, sender, LinkRing::Totals)} {}

    KeptRing<Delta> deltas;
    KeptRing<Total> totals;
};

// One lane for each ordered pair of workers, over their links, which outlive it.
class DeltaLanes {
public:
    explicit DeltaLanes(Links& links) : links_{&links} {
        for (std::size_t sender = 0; sender < workers(); ++sender) {
            for (std::size_t owner = 0; owner < workers(); ++owner) {
                lanes_.push_back(
                    sender == owner ? nullptr : std::make_unique<DeltaLane>(links, sender, owner));
            }
        }
    }

    [[nodiscard]] std::size_t workers() const noexcept { return links_->workers(); }
    [[nodiscard]] DeltaLane& between(std::size_t sender, std::size_t owner) noexcept {
        return *lanes_[sender * workers() + owner];
    }
    // What one of them tells the other, of both lanes between them.
    [[nodiscard]] RingMarks& marks_between(std::size_t from, std::size_t to) noexcept {
        return links_->marks_between(from, to);
    }

private:
    Links* links_;
    std::vector<std::unique_ptr<DeltaLane>> lanes_;
};

}  // namespace sluice

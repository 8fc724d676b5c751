#pragma once
#include "lib/bucket/meter/connection_segment.hpp"
#include "lib/peer/link/links.hpp"
#include "lib/share/kept_ring.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// One lane for each ordered pair of workers, for what packets say of connections that another
// worker counts as open. What finds no room is lost: such a connection ends by its idle time at the
// latest. Over their links, which outlive it.
class ConnectionLanes {
public:
    using Ring = KeptRing<ConnectionSegment>;

    explicit ConnectionLanes(Links& links) : workers_{links.workers()} {
        for (std::size_t from = 0; from < workers_; ++from) {
            for (std::size_t to = 0; to < workers_; ++to) {
                lanes_.push_back(from == to ? nullptr
                                            : std::make_unique<Ring>(
                                                  links.place(from, to, LinkRing::Connections)));
            }
        }
    }

    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
    [[nodiscard]] Ring& between(std::size_t from, std::size_t to) noexcept {
        return *lanes_[from * workers_ + to];
    }

private:
    std::size_t workers_;
    std::vector<std::unique_ptr<Ring>> lanes_;
};

}  // namespace sluice

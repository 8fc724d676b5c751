#pragma once
#include "lib/bucket/meter/connection_segment.hpp"
#include "lib/share/record_ring.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// One lane for each ordered pair of workers, for what packets say of connections that another
// worker counts as open. What finds no room is lost: such a connection ends by its idle time at the
// latest.
class ConnectionLanes {
public:
    using Ring = RecordRing<ConnectionSegment>;

    explicit ConnectionLanes(std::size_t workers) : workers_{workers} {
        const std::size_t size = ring_size(workers);
        for (std::size_t i = 0; i < workers * workers && workers > 1; ++i) {
            lanes_.push_back(i / workers == i % workers ? nullptr : std::make_unique<Ring>(size));
        }
    }

    [[nodiscard]] Ring& between(std::size_t from, std::size_t to) noexcept {
        return *lanes_[from * workers_ + to];
    }

private:
    // Much for few workers, and for many no more memory than for few.
    [[nodiscard]] static std::size_t ring_size(std::size_t workers) noexcept {
        std::size_t size = 1024;
        while (size > 64 && size * workers > 8192) {
            size /= 2;
        }
        return size;
    }

    std::size_t workers_;
    std::vector<std::unique_ptr<Ring>> lanes_;
};

}  // namespace sluice

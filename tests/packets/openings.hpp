#pragma once
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <vector>

namespace sluice::test {

// The connections of a table of packets that have begun.
class Openings {
public:
    // The frame's connection needs a SYN before it: the frame is its first with bytes.
    [[nodiscard]] bool needs(const Frame& frame) {
        const bool begins = frame.is_segment() && (frame.opens() || frame.has_payload()) &&
                            std::ranges::none_of(
                                begun_, [&](const Frame& first) { return first.goes_with(frame); });
        if (begins) {
            begun_.push_back(frame);
        }
        return begins && !frame.opens();
    }

private:
    std::vector<Frame> begun_;
};

}  // namespace sluice::test

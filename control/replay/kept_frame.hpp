#pragma once
#include "lib/base/bytes.hpp"
#include "lib/capture/frame.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

// A frame with memory of its own, so that it outlives the next read.
class KeptFrame {
public:
    void keep(const CapturedFrame& frame) {
        frame_ = frame;
        bytes_.assign(frame.bytes.begin(), frame.bytes.end());
        frame_.bytes = bytes_;
    }
    [[nodiscard]] const CapturedFrame& frame() const noexcept { return frame_; }
    [[nodiscard]] MutableBytes bytes() noexcept { return bytes_; }

private:
    CapturedFrame frame_;
    std::vector<std::byte> bytes_;
};

}  // namespace sluice

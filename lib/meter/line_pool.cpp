#include "lib/meter/line_pool.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {

LinePool::LinePool(std::size_t lines)
    : size_{std::min(lines, kMostLines)}, free_{size_}, memory_{(size_ + 1) * kLineBytes} {}

LineIndex LinePool::take() noexcept {
    if (free_ == 0) {
        return kNoLine;
    }
    --free_;
    if (returned_ == kNoLine) {
        return untouched_++;  // zeroed by the kernel
    }
    const LineIndex line = returned_;
    returned_ = at<LineIndex>(line);
    std::memset(address(line), 0, kLineBytes);
    return line;
}

void LinePool::give_back(LineIndex line) noexcept {
    at<LineIndex>(line) = returned_;
    returned_ = line;
    ++free_;
}

}  // namespace sluice

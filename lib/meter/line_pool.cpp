#include "lib/meter/line_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace sluice {

void LinePool::Unmap::operator()(Line* lines) const noexcept {
    munmap(lines, size);
}

LinePool::LinePool(std::size_t lines) : size_{std::min(lines, kMostLines)}, free_{size_} {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t bytes = (size_ + 1) * kLineBytes;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::abort();
    }
    if (bytes >= kHugePage) {
        // A hint: without huge pages it only costs TLB misses.
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    }
    lines_ = std::unique_ptr<Line[], Unmap>{static_cast<Line*>(memory), Unmap{bytes}};
}

PoolLine LinePool::take() noexcept {
    if (free_ == 0) {
        return kNoLine;
    }
    --free_;
    if (given_back_ == kNoLine) {
        return untouched_++;  // fresh pages are zeroed
    }
    const PoolLine line = given_back_;
    given_back_ = at<PoolLine>(line);
    std::memset(lines_[line].bytes, 0, kLineBytes);
    return line;
}

void LinePool::give_back_chain(PoolLine first, PoolLine last, std::uint32_t count) noexcept {
    at<PoolLine>(last) = given_back_;
    given_back_ = first;
    free_ += count;
}

}  // namespace sluice

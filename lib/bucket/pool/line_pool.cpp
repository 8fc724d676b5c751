#include "lib/bucket/pool/line_pool.hpp"

#include "lib/share/word.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace sluice {

void LinePool::Unmap::operator()(Line* lines) const noexcept {
    if (from == Source::Pages) {
        munmap(lines, size);
    } else if (from == Source::Heap) {
        std::free(lines);
    }
}

// A few lines have no pages of their own.
LinePool::Lines LinePool::make_lines(std::size_t bytes) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    constexpr std::size_t kSmall = std::size_t{64} << 10;
    const Source from = bytes <= kSmall ? Source::Heap : Source::Pages;
    void* const memory = from == Source::Heap ? std::aligned_alloc(kLineBytes, bytes)
                                              : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == nullptr || memory == MAP_FAILED) {
        std::abort();
    }
    if (bytes >= kHugePage) {
        // A hint: without huge pages it only costs TLB misses.
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    }
    return Lines{static_cast<Line*>(memory), Unmap{bytes, from}};
}

LinePool::LinePool(std::size_t lines)
    : lines_{make_lines(bytes_for(std::min(lines, kMostLines)))},
      size_{std::min(lines, kMostLines)},
      free_{size_} {}

LinePool::LinePool(void* memory, std::size_t lines) noexcept
    : lines_{static_cast<Line*>(memory), Unmap{0, Source::Caller}},
      size_{std::min(lines, kMostLines)},
      free_{size_} {}

void LinePool::recover(const std::vector<bool>& used) noexcept {
    free_ = size_;
    given_back_ = kNoLine;
    untouched_ = 1;
    PoolLine last = kNoLine;
    for (std::size_t line = 1; line < used.size(); ++line) {
        if (used[line]) {
            last = static_cast<PoolLine>(line);
            --free_;
        }
    }
    for (untouched_ = 1; untouched_ <= last; ++untouched_) {
        if (!used[untouched_]) {
            at<PoolLine>(untouched_) = given_back_;
            given_back_ = untouched_;
        }
    }
}

PoolLine LinePool::take_any() noexcept {
    if (free_ == 0) {
        return kNoLine;
    }
    --free_;
    PoolLine line = untouched_;
    if (given_back_ == kNoLine) {
        ++untouched_;
    } else {
        line = given_back_;
        given_back_ = at<PoolLine>(line);
    }
    // Also where no line was ever taken: an earlier process may have been there.
    std::memset(lines_[line].bytes, 0, kLineBytes);
    keep_store_order();
    return line;
}

void LinePool::give_back_chain(PoolLine first, PoolLine last, std::uint32_t count) noexcept {
    at<PoolLine>(last) = given_back_;
    given_back_ = first;
    free_ += count;
}

}  // namespace sluice

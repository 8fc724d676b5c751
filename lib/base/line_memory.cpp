#include "lib/base/line_memory.hpp"

#include "lib/base/page_use.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/mman.h>

namespace sluice {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kAlignment = 128;  // of pairs of lines
constexpr std::size_t kSmall = 16 * kSmallPage;

bool pages_as_they_come = false;

std::size_t round_up(std::size_t bytes, std::size_t page) noexcept {
    return (bytes + page - 1) / page * page;
}

void* map(std::size_t bytes, int flags) noexcept {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

void use_pages_as_they_come() noexcept {
    pages_as_they_come = true;
}

std::size_t LineMemory::taken_for(std::size_t bytes) noexcept {
    return round_up(bytes, bytes >= kHugePage ? kHugePage : kSmallPage);
}

LineMemory::LineMemory(std::size_t bytes) : bytes_{bytes} {
    if (bytes <= kSmall) {
        const std::size_t size = std::max(round_up(bytes, kAlignment), kAlignment);
        data_ = std::aligned_alloc(kAlignment, size);
        if (data_ == nullptr) {
            std::abort();
        }
        std::memset(data_, 0, size);
        from_heap_ = true;
        return;
    }
    if (bytes >= kHugePage && !pages_as_they_come) {
        mapped_ = taken_for(bytes);
        data_ = map(mapped_, MAP_HUGETLB | MAP_POPULATE);
        page_size_ = data_ != nullptr ? kHugePage : kSmallPage;
    }
    if (data_ != nullptr) {
        return;
    }
    mapped_ = taken_for(bytes);
    data_ = map(mapped_, 0);
    if (data_ == nullptr) {
        std::abort();
    }
    if (pages_as_they_come) {
        return;
    }
    if (bytes >= kHugePage) {
        // A hint: without it the table only costs more TLB misses.
        page_size_ = ::madvise(data_, mapped_, MADV_HUGEPAGE) == 0 ? kHugePage : kSmallPage;
    }
    // Now, not under the first packets.
    for (std::size_t at = 0; at < mapped_; at += kSmallPage) {
        static_cast<volatile std::byte*>(data_)[at] = std::byte{0};
    }
}

LineMemory::~LineMemory() {
    if (from_heap_) {
        std::free(data_);
    } else if (data_ != nullptr && mapped_ != 0) {
        (void)::munmap(data_, mapped_);
    }
}

LineMemory::LineMemory(LineMemory&& other) noexcept
    : data_{std::exchange(other.data_, nullptr)},
      bytes_{other.bytes_},
      mapped_{other.mapped_},
      from_heap_{other.from_heap_},
      page_size_{other.page_size_} {}

}  // namespace sluice

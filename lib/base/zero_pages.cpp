#include "lib/base/zero_pages.hpp"

#include "lib/base/log.hpp"

#include <cstdlib>

#include <sys/mman.h>

namespace sluice {

void* map_zero_pages(std::size_t bytes) noexcept {
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        log_error("out of memory");
        std::abort();
    }
    return pages;
}

void unmap_zero_pages(void* pages, std::size_t bytes) noexcept {
    (void)::munmap(pages, bytes);
}

}  // namespace sluice

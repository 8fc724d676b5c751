#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>

namespace sluice {

// Zeroed memory straight from the kernel, of which only pages that are touched are ever there.
// Aborts if there is no memory.
[[nodiscard]] void* map_zero_pages(std::size_t bytes) noexcept;
void unmap_zero_pages(void* pages, std::size_t bytes) noexcept;

struct UnmapZeroPages {
    std::size_t bytes = 0;
    void operator()(void* pages) const noexcept { unmap_zero_pages(pages, bytes); }
};

// An array, mostly unused, of things that begin as zero bytes.
template <typename T>
using ZeroArray = std::unique_ptr<T[], UnmapZeroPages>;

template <typename T>
[[nodiscard]] ZeroArray<T> zero_array(std::size_t count) noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    return ZeroArray<T>{static_cast<T*>(map_zero_pages(count * sizeof(T))), {count * sizeof(T)}};
}

}  // namespace sluice

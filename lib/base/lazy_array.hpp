#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace sluice {

struct FreeMemory {
    void operator()(void* memory) const noexcept { std::free(memory); }
};
// Zeroed memory of which the kernel gives what is touched. T's constructor would do no more than
// zero it, and its destructor nothing.
template <typename T>
using LazyArray = std::unique_ptr<T[], FreeMemory>;
template <typename T>
[[nodiscard]] LazyArray<T> lazy_array(std::size_t count) noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    void* const memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) {
        std::abort();
    }
    return LazyArray<T>{static_cast<T*>(memory)};
}

}  // namespace sluice

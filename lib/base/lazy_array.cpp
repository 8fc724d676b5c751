#include "lib/base/lazy_array.hpp"

#include "lib/base/log.hpp"

#include <cstdint>
#include <limits>

namespace sluice::detail {

void* array_memory(std::size_t count, std::size_t size, ArrayBytes bytes) noexcept {
    void* memory = nullptr;
    if (count <= (std::numeric_limits<std::size_t>::max() - kArrayAlign) / size) {
        const std::size_t all = count * size + kArrayAlign;
        memory = bytes == ArrayBytes::Zero ? std::calloc(all, 1) : std::malloc(all);
    }
    if (memory == nullptr) {
        log_error("there is no memory for an array that is made at the start");
        std::abort();
    }
    static_assert(alignof(std::max_align_t) >= sizeof(void*));
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(memory) % kArrayAlign;
    void* const array = static_cast<std::byte*>(memory) + (kArrayAlign - beyond);
    static_cast<void**>(array)[-1] = memory;
    return array;
}

}  // namespace sluice::detail

#include "lib/l7/stream/kept_memory.hpp"

#include "lib/base/check.hpp"

namespace sluice {

KeptMemory& no_kept_memory() noexcept {
    static KeptMemory none;
    return none;
}

LineMemory KeptMemory::take(std::size_t bytes) {
    if (!is_kept()) {
        return LineMemory{bytes};
    }
    const std::size_t taken = taken_for(bytes);
    SLUICE_CHECK(taken <= bytes_);
    LineMemory memory{data_, bytes, page_size_};
    data_ += taken;
    bytes_ -= taken;
    return memory;
}

}  // namespace sluice

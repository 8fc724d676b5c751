#pragma once

namespace sluice {

// To be called by a function that does nothing but prefetch, unless it is always inlined: GCC takes
// it for one without effect, and drops the calls.
[[gnu::always_inline]] inline void keep_prefetches() noexcept {
    asm volatile("");
}

}  // namespace sluice

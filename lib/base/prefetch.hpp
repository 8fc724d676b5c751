#pragma once

// Prefetches that stay where they are written, under DPDK's names. GCC takes a function that does
// nothing but call __builtin_prefetch for one without effect, and drops the calls of it.
namespace sluice {

// Prefetches the cache line of an address into all levels. It never faults, whatever the address.
[[gnu::always_inline]] inline void prefetch0(const void* address) noexcept {
    __builtin_prefetch(address, 0, 3);
    asm volatile("");
}

// The same into all levels but the first. A core has few fill buffers for its first cache, and one
// prefetch more waits: what is not needed for some hundred ns goes to the second.
[[gnu::always_inline]] inline void prefetch1(const void* address) noexcept {
    __builtin_prefetch(address, 0, 2);
    asm volatile("");
}

}  // namespace sluice

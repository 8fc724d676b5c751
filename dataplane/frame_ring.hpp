#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include <rte_ring.h>

struct rte_mbuf;

namespace sluice {

// Frames from one worker to one other, in order. A full one takes no more: nobody waits.
class FrameRing {
public:
    static constexpr unsigned kSize = 1024;  // one place of them stays empty

    FrameRing() : ring_{allocate()} {
        if (!ring_ ||
            rte_ring_init(ring_.get(), "frames", kSize, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
            throw_away();
        }
    }

    // The writer's. How many of them found room; the first ones did.
    [[nodiscard]] unsigned put(rte_mbuf* const* frames, unsigned count) noexcept {
        return rte_ring_sp_enqueue_burst(ring_.get(), reinterpret_cast<void* const*>(frames), count,
                                         nullptr);
    }
    // The reader's.
    [[nodiscard]] unsigned take(rte_mbuf** frames, unsigned most) noexcept {
        return rte_ring_sc_dequeue_burst(ring_.get(), reinterpret_cast<void**>(frames), most,
                                         nullptr);
    }

private:
    struct Free {
        void operator()(rte_ring* ring) const noexcept { std::free(ring); }
    };
    // Of our own, since DPDK has names for a few thousand rings only.
    static rte_ring* allocate() {
        const auto size = static_cast<std::size_t>(rte_ring_get_memsize(kSize));
        return static_cast<rte_ring*>(std::aligned_alloc(RTE_CACHE_LINE_SIZE, size));
    }
    [[noreturn]] static void throw_away() { std::abort(); }  // kSize is right, so no memory

    std::unique_ptr<rte_ring, Free> ring_;
};

}  // namespace sluice

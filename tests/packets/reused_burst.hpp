#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/worker/worker_setup.hpp"

#include <memory>
#include <vector>

namespace sluice::test {

// Bursts are large, and a worker has one for all that comes. One whose case has ended is for the
// next case of the same thread, unless a parser of units has been plugged in, which stays in. A
// case that fails only behind others has read rows of an earlier burst.
struct KeepBurst {
    void operator()(Burst* burst) const {
        std::unique_ptr<Burst> ended{burst};
        if (ended->unit_parser() == nullptr) {
            kept().push_back(std::move(ended));
        }
    }
    static std::vector<std::unique_ptr<Burst>>& kept() {
        static thread_local std::vector<std::unique_ptr<Burst>> bursts;
        return bursts;
    }
};
using ReusedBurst = std::unique_ptr<Burst, KeepBurst>;

// Empty, with no parser of units.
inline ReusedBurst empty_burst() {
    auto& kept = KeepBurst::kept();
    if (kept.empty()) {
        return ReusedBurst{std::make_unique<Burst>().release()};
    }
    ReusedBurst burst{kept.back().release()};
    kept.pop_back();
    burst->clear();
    return burst;
}

// Those of a worker, likewise: the next one plugs its own parser in.
inline std::shared_ptr<BurstPair> reused_bursts() {
    static thread_local std::vector<std::unique_ptr<BurstPair>> kept;
    if (kept.empty()) {
        kept.push_back(std::make_unique<BurstPair>());
    }
    std::shared_ptr<BurstPair> bursts{kept.back().release(),
                                      [](BurstPair* ended) { kept.emplace_back(ended); }};
    kept.pop_back();
    return bursts;
}

}  // namespace sluice::test

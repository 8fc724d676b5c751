#pragma once
#include "dataplane/io/frame_ring.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/stage/steer_burst.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct rte_mbuf;

namespace sluice {

// One worker's way to the owners of keys. A packet is handed over once: what has come over such a
// ring is judged by whom it has come to, whatever his rules say. What a ring has no room for is
// dropped and counted, or goes on without its limits at owners where its rules' on_full is open. A
// packet of a service is changed where it is forwarded as its own worker has found.
class OwnerHandover {
public:
    OwnerHandover(std::size_t self, std::size_t workers);

    // Takes what belongs to others out of a burst that has been matched, and puts it into the rings
    // of its lane, by worker.
    void run(Burst& burst, const LoadedSet& set, const CoreState& core,
             std::span<FrameRing* const> to) noexcept;

private:
    // What is on its way to one owner, of one burst.
    struct Outbox {
        std::array<rte_mbuf*, kMaxBurst> frames;
        std::array<std::uint8_t, kMaxBurst> rows;
        unsigned count = 0;
    };
    // The touched outboxes, a bit for each worker.
    [[nodiscard]] std::uint64_t sort(const Burst& burst, const BurstOwners& owners) noexcept;
    void refuse(Burst& burst, std::uint8_t row, const LoadedSet& set, const CoreState& core,
                BurstSplit& split) const noexcept;

    std::size_t self_;
    std::size_t workers_;
    std::vector<Outbox> outboxes_;  // by worker
};

}  // namespace sluice

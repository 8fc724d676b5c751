#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/stage/steer_burst.hpp"
#include "lib/engine/worker/packet_io.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// One worker's way to the owners of keys. A packet is handed over once: what has come over such a
// ring is judged by whom it has come to, whatever his rules say. What a ring has no room for is
// dropped and counted, or goes on without its limits at owners where its rules' on_full is open. A
// packet of a service is changed where it is forwarded as its own worker has found.
template <PacketIo Io>
class OwnerHandover {
public:
    using Frame = typename Io::Frame;
    using Ring = typename Io::Ring;

    OwnerHandover(std::size_t self, std::size_t workers)
        : self_{self}, workers_{workers}, outboxes_(workers) {}

    // Takes what belongs to others out of a burst that has been matched, and puts it into the rings
    // of its lane, by worker.
    void run(Burst& burst, const LoadedSet& set, const CoreState& core,
             std::span<Ring* const> to) noexcept {
        BurstOwners owners;
        if (!find_owners(burst, set, core, workers_, owners)) {
            return;
        }
        BurstSplit split;
        for (std::uint64_t left = sort(burst, owners); left != 0; left &= left - 1) {
            const auto owner = static_cast<std::size_t>(std::countr_zero(left));
            Outbox& outbox = outboxes_[owner];
            const unsigned put = to[owner]->put(outbox.frames.data(), outbox.count);
            core.counters.handed_over.add(put);
            for (unsigned i = 0; i < put; ++i) {
                split.gone |= std::uint32_t{1} << outbox.rows[i];
            }
            for (unsigned i = put; i < outbox.count; ++i) {
                refuse(burst, outbox.rows[i], set, core, split);
            }
            outbox.count = 0;
        }
        split_burst(burst, split, set);
    }

private:
    // The packets of one burst that are on their way to one owner.
    struct Outbox {
        std::array<Frame*, kMaxBurst> frames;
        std::array<std::uint8_t, kMaxBurst> rows;
        unsigned count = 0;
    };

    // The touched outboxes, a bit for each worker.
    [[nodiscard]] std::uint64_t sort(const Burst& burst, const BurstOwners& owners) noexcept {
        std::uint64_t touched = 0;
        std::uint8_t row = 0;
        for (const Packet& packet : burst.packets()) {
            const std::uint8_t owner = owners[row];
            if (owner != kStays && owner != self_) {
                Outbox& outbox = outboxes_[owner];
                auto* const frame = static_cast<Frame*>(packet.buffer);
                Io::note(*frame, burst.normalization(row));
                outbox.frames[outbox.count] = frame;
                outbox.rows[outbox.count++] = row;
                touched |= std::uint64_t{1} << owner;
            }
            ++row;
        }
        return touched;
    }

    void refuse(Burst& burst, std::uint8_t row, const LoadedSet& set, const CoreState& core,
                BurstSplit& split) const noexcept {
        WorkerCounters& counters = core.counters;
        if (may_go_on(burst, row, set)) {
            split.unowned |= std::uint32_t{1} << row;
            counters.by_table_event[static_cast<std::size_t>(TableEvent::OwnerOpen)].add(1);
            return;
        }
        split.gone |= std::uint32_t{1} << row;
        Io::free(*static_cast<Frame*>(burst.packets()[row].buffer));
        counters.by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(1);
        counters.bytes_by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(
            burst.frame(row).wire_size);
        counters.by_reason[static_cast<std::size_t>(Reason::RingFull)].add(1);
    }

    std::size_t self_;
    std::size_t workers_;
    std::vector<Outbox> outboxes_;  // by worker
};

}  // namespace sluice

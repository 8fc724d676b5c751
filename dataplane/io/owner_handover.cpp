#include "dataplane/io/owner_handover.hpp"

#include "dataplane/io/frame_note.hpp"

#include <bit>

#include <rte_mbuf.h>

namespace sluice {

OwnerHandover::OwnerHandover(std::size_t self, std::size_t workers)
    : self_{self}, workers_{workers}, outboxes_(workers) {
    register_frame_notes();
}

std::uint64_t OwnerHandover::sort(const Burst& burst, const BurstOwners& owners) noexcept {
    std::uint64_t touched = 0;
    std::uint8_t row = 0;
    for (const Packet& packet : burst.packets()) {
        const std::uint8_t owner = owners[row];
        if (owner != kStays && owner != self_) {
            Outbox& outbox = outboxes_[owner];
            auto* const frame = static_cast<rte_mbuf*>(packet.buffer);
            note_changes(*frame, burst.normalization(row));
            outbox.frames[outbox.count] = frame;
            outbox.rows[outbox.count++] = row;
            touched |= std::uint64_t{1} << owner;
        }
        ++row;
    }
    return touched;
}

void OwnerHandover::run(Burst& burst, const LoadedSet& set, const CoreState& core,
                        std::span<FrameRing* const> to) noexcept {
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

void OwnerHandover::refuse(Burst& burst, std::uint8_t row, const LoadedSet& set,
                           const CoreState& core, BurstSplit& split) const noexcept {
    WorkerCounters& counters = core.counters;
    if (may_go_on(burst, row, set)) {
        split.unowned |= std::uint32_t{1} << row;
        counters.by_table_event[static_cast<std::size_t>(TableEvent::OwnerOpen)].add(1);
        return;
    }
    split.gone |= std::uint32_t{1} << row;
    rte_pktmbuf_free(static_cast<rte_mbuf*>(burst.packets()[row].buffer));
    counters.by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(1);
    counters.bytes_by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(
        burst.frame(row).wire_size);
    counters.by_reason[static_cast<std::size_t>(Reason::RingFull)].add(1);
}

}  // namespace sluice

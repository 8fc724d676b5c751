#include "dataplane/io/handover.hpp"

#include "dataplane/io/frame_head.hpp"
#include "dataplane/io/receive_frames.hpp"

#include <bit>
#include <utility>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

namespace sluice {

LaneHandover::LaneHandover(const Lane& lane, const SoftwareRss& rss_mapping, HandoverEnds ends,
                           WorkerCounters& counters)
    : lane_{lane},
      rss_{rss_mapping},
      ends_{std::move(ends)},
      counters_{counters},
      outboxes_(ends_.to.size()) {}

LaneHandover::Came LaneHandover::receive(rte_mbuf** frames) noexcept {
    const std::size_t port = ends_.to.empty() ? 0 : 1;
    const std::size_t sources = ends_.from.size() + port;
    for (std::size_t asked = 0; asked < sources; ++asked) {
        const std::size_t source = next_;
        next_ = next_ + 1 == sources ? 0 : next_ + 1;
        Came came;
        if (source < ends_.from.size()) {
            came.ours = static_cast<std::uint16_t>(ends_.from[source]->take(frames, kMaxBurst));
            came.all = came.ours;
            for (std::uint16_t i = 0; i < came.ours; ++i) {
                rte_prefetch0(frames[i]);
            }
        } else {
            came = receive_from_port(frames);
        }
        if (came.all != 0) {
            return came;
        }
    }
    return {};
}

LaneHandover::Came LaneHandover::receive_from_port(rte_mbuf** ours) noexcept {
    std::array<rte_mbuf*, kMaxBurst> came;
    const std::uint16_t count = receive_frames(lane_, came.data(), kMaxBurst);
    for (std::uint16_t i = 0; i < count; ++i) {
        rte_prefetch0(rte_pktmbuf_mtod(came[i], const void*));
    }
    std::uint64_t touched = 0;  // workers; kMaxCores of them have a bit each
    std::uint16_t kept = 0;
    for (std::uint16_t i = 0; i < count; ++i) {
        FrameHead head;
        const std::size_t worker = rss_.worker_of(head.view_of(came[i]));
        if (ends_.to[worker] == nullptr) {
            ours[kept++] = came[i];
            continue;
        }
        Outbox& outbox = outboxes_[worker];
        outbox.frames[outbox.count++] = came[i];
        touched |= std::uint64_t{1} << worker;
    }
    for (; touched != 0; touched &= touched - 1) {
        flush(static_cast<std::size_t>(std::countr_zero(touched)));
    }
    return {kept, count};
}

void LaneHandover::flush(std::size_t worker) noexcept {
    Outbox& outbox = outboxes_[worker];
    const unsigned put = ends_.to[worker]->put(outbox.frames.data(), outbox.count);
    const unsigned left = outbox.count - put;
    counters_.handed_over.add(put);
    if (left != 0) [[unlikely]] {
        std::uint64_t bytes = 0;
        for (unsigned i = put; i < outbox.count; ++i) {
            bytes += outbox.frames[i]->pkt_len;
        }
        rte_pktmbuf_free_bulk(outbox.frames.data() + put, left);
        counters_.by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(left);
        counters_.bytes_by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(bytes);
        counters_.by_reason[static_cast<std::size_t>(Reason::RingFull)].add(left);
    }
    outbox.count = 0;
}

}  // namespace sluice

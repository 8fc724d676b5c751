#pragma once
#include "dataplane/io/frame_head.hpp"
#include "dataplane/io/frame_note.hpp"
#include "dataplane/io/frame_ring.hpp"
#include "dataplane/io/handover.hpp"
#include "dataplane/io/lane.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "dataplane/tx_side.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/engine/worker/packet_io.hpp"
#include "lib/respond/action.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <rte_mbuf.h>

struct rte_mempool;

namespace sluice {

// How much of a frame is made contiguous where rules ask for texts: any frame that a port may
// receive (the largest MTU that a pool has room for, and what stands around it), and what a scan
// reads behind its end.
inline constexpr std::size_t kWholeSize = 10'240;

// Ways of a lane beside its queues.
struct LaneWays {
    LaneHandover* handover = nullptr;  // nullptr where the port gives every worker its own frames
    HandoverEnds owned{};              // frames for the owners of their keys
};

// The queues of one lane, of mbufs (PacketIo). A burst that was received must be sent before the
// one after the next is received into.
class DpdkIo {
public:
    using Frame = rte_mbuf;
    using Ring = FrameRing;
    using Proxy = TxProxy;

    DpdkIo(const Lane& lane, const TxSides& sides, rte_mempool* pool, LaneWays ways = {}) noexcept
        : lane_{lane}, sides_{sides}, pool_{pool}, ways_{std::move(ways)} {}

    // Fills `burst` from the receive queue; its rows' buffers are the mbufs. 0 when nothing came.
    // Of what is handed over it may hold less than came, or nothing.
    std::size_t receive(Burst& burst, Reach reach = Reach::Headers) noexcept;

    // The same from the workers that have handed frames to this one as the owner of their keys.
    std::size_t receive_owned(Burst& burst, Reach reach) noexcept;
    // The same of frames that came from this lane, and have waited since.
    void receive_held(Burst& burst, std::span<rte_mbuf* const> frames, Reach reach) noexcept {
        fill(burst, frames, reach);
    }
    // The rings to owners, by worker.
    [[nodiscard]] std::span<FrameRing* const> owners() const noexcept { return ways_.owned.to; }

    // Carries out what was decided under the rule set with these actions, and counts every frame
    // under the one verdict and reason that it had in the end; those that depart later are counted
    // then.
    void send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
              const SendContext<DpdkIo>& context = {}) noexcept;
    // Sends frames of this lane whose departure has come.
    void depart(std::span<rte_mbuf*> frames, WorkerCounters& counters) const noexcept;
    // The buffers that its port receives into.
    [[nodiscard]] std::uint32_t buffers() const noexcept;

    [[nodiscard]] static std::uint32_t buffers_of(const rte_mbuf& frame) noexcept {
        return frame.nb_segs;
    }
    static void note(rte_mbuf& frame, const Normalization& changes) noexcept {
        note_changes(frame, changes);
    }
    static void free(rte_mbuf& frame) noexcept { rte_pktmbuf_free(&frame); }

private:
    void fill(Burst& burst, std::span<rte_mbuf* const> frames, Reach reach) noexcept;
    [[nodiscard]] FrameView view_of(rte_mbuf* frame, std::size_t row) noexcept;
    [[nodiscard]] FrameView whole_view_of(rte_mbuf* frame, std::size_t row) noexcept;

    const Lane& lane_;
    TxSides sides_;
    rte_mempool* pool_;
    LaneWays ways_;
    std::size_t next_ = 0;  // whose frames for this owner are taken first
    // Heads that were made contiguous, of the last two bursts.
    std::array<std::array<FrameHead, kMaxBurst>, 2> heads_;
    // The same for whole frames. Its pages are touched when a frame in segments comes.
    std::unique_ptr<std::byte[]> wholes_ =
        std::make_unique_for_overwrite<std::byte[]>(2 * kMaxBurst * kWholeSize);
    std::size_t newest_ = 0;
};

}  // namespace sluice

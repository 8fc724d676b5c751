#pragma once
#include "lib/engine/worker/packet_io.hpp"
#include "lib/share/burst_ring.hpp"
#include "tests/bench/mill_burst.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sluice::bench {

// A lane of a worker over the frames of a mill (PacketIo): every round there is a whole burst, and
// all frames go back. `Watch` is called with each burst that leaves, and the actions of the rules
// that decided it.
template <typename Watch>
class MillIo {
public:
    using Frame = rte_mbuf;
    using Ring = BurstRing<rte_mbuf, 64>;
    struct Proxy {
        std::size_t send() noexcept { return 0; }
    };

    // `mill` outlives it.
    MillIo(PacketMill& mill, Watch watch) : mill_{&mill}, watch_{std::move(watch)} {}

    std::size_t receive(Burst& burst, Reach /*reach*/) noexcept {
        take_burst(*mill_, burst);
        return burst.size();
    }
    // There is no other worker.
    std::size_t receive_owned(Burst& /*burst*/, Reach /*reach*/) noexcept { return 0; }
    void receive_held(Burst& /*burst*/, std::span<rte_mbuf* const> /*frames*/,
                      Reach /*reach*/) noexcept {}
    [[nodiscard]] std::span<Ring* const> owners() const noexcept { return {}; }

    void send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
              const SendContext<MillIo>& /*context*/) noexcept {
        give_burst(*mill_, burst, counters);
        watch_(std::as_const(burst), actions);
    }
    void depart(std::span<rte_mbuf*> /*frames*/, WorkerCounters& /*counters*/) noexcept {}
    // Nothing is held for later.
    [[nodiscard]] std::uint32_t buffers() const noexcept { return 0; }

    [[nodiscard]] static std::uint32_t buffers_of(const rte_mbuf& frame) noexcept {
        return frame.nb_segs;
    }
    static void note(rte_mbuf& /*frame*/, const Normalization& /*changes*/) noexcept {}
    static void free(rte_mbuf& /*frame*/) noexcept {}

private:
    PacketMill* mill_;
    Watch watch_;
};

}  // namespace sluice::bench

#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/engine/worker/packet_io.hpp"
#include "lib/share/burst_ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

// A frame in memory, and where it came in. Who shows it to a worker keeps it until it has left.
struct MemoryFrame {
    FrameView view;
    Direction dir = Direction::In;
    std::uint64_t port = 0;   // port_name() of the pair
    Normalization changes{};  // as the worker that handed it over has found
    bool freed = false;       // its worker has dropped it on the way to another one
    void* owner = nullptr;    // whatever who shows it wants to find by it
};

inline constexpr std::size_t kMemoryRing = 1024;
using MemoryRing = BurstRing<MemoryFrame, kMemoryRing>;

// Rings by which one worker's lane hands frames to owners of keys, and gets those that it owns.
struct MemoryEnds {
    std::vector<MemoryRing*> to;    // by worker, nullptr for oneself; empty: it hands over nothing
    std::vector<MemoryRing*> from;  // what others hand to it
};

// A lane over frames in memory (PacketIo), of both directions and any pair: whatever its owner puts
// in comes in that order. What becomes of decided bursts is `Out`'s, whose send() and depart() are
// the lane's.
template <typename Out>
class MemoryIo {
public:
    using Frame = MemoryFrame;
    using Ring = MemoryRing;
    // Every lane sends for itself.
    struct Proxy {
        std::size_t send() noexcept { return 0; }
    };

    // Frames that come next are taken out of `incoming`, the first ones first. `buffers`: as many
    // as a port would have, which bound what is held for later. All outlive the lane.
    MemoryIo(std::deque<MemoryFrame*>& incoming, Out& out, std::uint32_t buffers = 0,
             MemoryEnds ends = {})
        : incoming_{&incoming}, out_{&out}, buffers_{buffers}, ends_{std::move(ends)} {}

    std::size_t receive(Burst& burst, Reach /*reach*/) noexcept {
        std::array<MemoryFrame*, kMaxBurst> frames;
        std::size_t count = 0;
        for (; count < kMaxBurst && !incoming_->empty(); ++count) {
            frames[count] = incoming_->front();
            incoming_->pop_front();
        }
        fill(burst, std::span{frames}.first(count));
        return count;
    }
    std::size_t receive_owned(Burst& burst, Reach /*reach*/) noexcept {
        std::array<MemoryFrame*, kMaxBurst> frames;
        unsigned count = 0;
        for (MemoryRing* ring : ends_.from) {
            count += ring->take(frames.data() + count, static_cast<unsigned>(kMaxBurst) - count);
        }
        fill(burst, std::span{frames}.first(count));
        for (unsigned row = 0; row < count; ++row) {
            if (frames[row]->changes.any()) {
                burst.normalize(row, frames[row]->changes);
            }
        }
        return count;
    }
    void receive_held(Burst& burst, std::span<MemoryFrame* const> frames,
                      Reach /*reach*/) noexcept {
        fill(burst, frames);
    }
    [[nodiscard]] std::span<MemoryRing* const> owners() const noexcept { return ends_.to; }

    void send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
              const SendContext<MemoryIo>& context) noexcept {
        out_->send(burst, actions, counters, context, *this);
    }
    void depart(std::span<MemoryFrame*> frames, WorkerCounters& counters) noexcept {
        out_->depart(frames, counters);
    }
    [[nodiscard]] std::uint32_t buffers() const noexcept { return buffers_; }

    [[nodiscard]] static std::uint32_t buffers_of(const MemoryFrame& /*frame*/) noexcept {
        return 1;
    }
    static void note(MemoryFrame& frame, const Normalization& changes) noexcept {
        frame.changes = changes;
    }
    static void free(MemoryFrame& frame) noexcept { frame.freed = true; }

private:
    static void fill(Burst& burst, std::span<MemoryFrame* const> frames) noexcept {
        burst.clear();
        for (MemoryFrame* frame : frames) {
            (void)burst.add(frame->view, frame->dir, frame->port, frame);
        }
    }

    std::deque<MemoryFrame*>* incoming_;
    Out* out_;
    std::uint32_t buffers_;
    MemoryEnds ends_;
};

}  // namespace sluice

#pragma once
#include "dataplane/io/frame_head.hpp"
#include "dataplane/tx_side.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/respond/act/sink.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

struct rte_mbuf;
struct rte_mempool;

namespace sluice {

class DpdkIo;

// The place for a burst's delayed packets, and the instant at which it was judged.
struct DelayContext {
    HeldFrames<DpdkIo>* frames;
    Instant now;
    DpdkIo* lane;
};

// The outlet of act_burst() for a burst that a lane has received: its two ports.
//
//   packets          --forward--> destination's side     (source's side)  <--emit-- made frames
//   made frames      --emit-----^
//
// What is forwarded or made is sent by finish(), made frames behind those that go on. Each packet
// is counted once, under the verdict and reason that it has in the end; made frames are no packets
// of anyone and are counted under neither. What is held is counted when it departs.
class LaneSink {
public:
    // The rows' buffers are mbufs; copies and made frames come from `pool`.
    // Without `delay` what is delayed goes on at once.
    LaneSink(Burst& burst, const TxSides& sides, rte_mempool* pool,
             const DelayContext* delay = nullptr) noexcept
        : packets_{burst.packets().data()},
          burst_{burst},
          sides_{sides},
          pool_{pool},
          delay_{delay} {}

    void forward(std::size_t row) noexcept {
        rte_mbuf* const frame = frame_of(row);
        if (fits(sides_.destination.takes, frame)) [[likely]] {
            out_[out_count_++] = frame;
            forwarded_ |= row_bit(row);
            return;
        }
        packets_[row].decision = dropped_for(Reason::TooLong);
        drop(row);
    }
    void drop(std::size_t row) noexcept { dropped_[drop_count_++] = frame_of(row); }

    [[nodiscard]] Instant now() const noexcept {
        return delay_ != nullptr ? delay_->now : Instant{};
    }
    void hold(std::size_t row, Instant until) noexcept;

    // A frame that others hold is copied first. Headers that lie in several segments are gathered
    // for `write` and put back.
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t row, Write&& write) noexcept {
        HeaderScratch room;
        const std::optional<MutableBytes> head = open_head(row, room);
        if (!head) {
            return false;
        }
        write(*head);
        close_head(row, *head);
        return true;
    }

    // False also for a frame that the port cannot send.
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t /*row*/, Toward side, std::size_t size,
                            Write&& write) noexcept {
        rte_mbuf* frame = nullptr;
        const std::optional<MutableBytes> bytes = make_frame(side, size, frame);
        if (!bytes) {
            return false;
        }
        write(*bytes);
        queue_made(side, frame);
        return true;
    }

    // Sends and frees what the burst has become, and counts it.
    void finish(WorkerCounters& counters) noexcept;

private:
    using HeaderScratch = std::array<std::byte, kHeadSize>;
    // On their way to one side.
    struct Made {
        std::array<rte_mbuf*, kMaxBurst> frames;
        std::uint16_t count = 0;
    };

    [[nodiscard]] rte_mbuf* frame_of(std::size_t row) const noexcept {
        return static_cast<rte_mbuf*>(packets_[row].buffer);
    }
    [[nodiscard]] std::optional<MutableBytes> open_head(std::size_t row,
                                                        HeaderScratch& room) noexcept;
    void close_head(std::size_t row, ByteView head) noexcept;
    [[nodiscard]] std::optional<MutableBytes> make_frame(Toward side, std::size_t size,
                                                         rte_mbuf*& frame) noexcept;
    void queue_made(Toward side, rte_mbuf* frame) noexcept;
    void send_made(Toward side) noexcept;
    void send_forwarded() noexcept;
    void hand_to_sender() noexcept;
    // Drops frames that were forwarded and have not gone, from that number on.
    void drop_unsent(unsigned sent, Reason reason) noexcept;
    void count(RowMask rows, WorkerCounters& counters) const noexcept;

    Packet* packets_;
    Burst& burst_;
    const TxSides& sides_;
    rte_mempool* pool_;
    const DelayContext* delay_;
    RowMask held_ = 0;
    RowMask forwarded_ = 0;  // the rows of `out_`, in the same order
    // The first `count` of each are read.
    std::array<rte_mbuf*, kMaxBurst> out_;
    std::uint16_t out_count_ = 0;
    std::uint16_t drop_count_ = 0;
    std::array<rte_mbuf*, kMaxBurst> dropped_;
    std::array<Made, 2> made_;  // by Toward
};
static_assert(HoldingSink<LaneSink>);

}  // namespace sluice

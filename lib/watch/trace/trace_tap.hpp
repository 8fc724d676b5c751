#pragma once
#include "lib/base/units.hpp"
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"
#include "lib/watch/trace/trace_record.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A worker's end of one trace: room for a bounded number of packets a second, on their way to the
// one thread that reads. What finds no room is counted, and nobody waits.
class TraceTap {
public:
    static constexpr std::size_t kRingSize = 256;
    // Per worker: what a reader ten times a second takes out of the ring with room to spare.
    static constexpr std::uint32_t kMostPerSecond = 1000;

    explicit TraceTap(std::size_t size = kRingSize) : ring_{size} {}

    // The worker's. Whether next() would give a record.
    [[nodiscard]] bool has_room(Instant now) noexcept {
        return (now >= share_until_ || share_ != 0) && ring_.next() != nullptr;
    }
    // A record to fill, which commit() hands over; nullptr (counted): there is none.
    [[nodiscard]] TraceRecord* next(Instant now) noexcept {
        if (now >= share_until_) {
            share_until_ = now + kShareLasts;
            share_ = kMostPerSecond / kSharesPerSecond;
        }
        if (share_ == 0) {
            left_out_.add(1);
            return nullptr;
        }
        TraceRecord* const record = ring_.next();
        if (record == nullptr) {
            left_out_.add(1);
            return nullptr;
        }
        --share_;
        return record;
    }
    void commit() noexcept { ring_.commit(); }

    // The reader's.
    [[nodiscard]] RecordRing<TraceRecord>& ring() noexcept { return ring_; }
    // Packets that the trace was about, and that found no room.
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_.read(); }

private:
    static constexpr std::uint32_t kSharesPerSecond = 10;
    static constexpr Nanoseconds kShareLasts =
        Nanoseconds{std::chrono::seconds{1}} / kSharesPerSecond;

    RecordRing<TraceRecord> ring_;
    Counter left_out_;
    Instant share_until_{};
    std::uint32_t share_ = 0;
};

}  // namespace sluice

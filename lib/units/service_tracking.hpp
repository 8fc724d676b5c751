#pragma once
#include "lib/conn/connection_budget.hpp"
#include "lib/conn/track/connection_tracker.hpp"
#include "lib/conn/track/port_checksums.hpp"
#include "lib/pipeline/burst_units.hpp"
#include "lib/units/service_slots.hpp"

#include <array>
#include <cstdint>

namespace sluice {

// The connections of declared services: which rows of a burst belong to one, and which of them its
// server would not take. One per worker.
class ServiceTracking {
public:
    // Allocates all that it will ever use.
    explicit ServiceTracking(const ConnectionBudget& budget);
    [[nodiscard]] static std::uint64_t memory_of(const ConnectionBudget& budget) noexcept;

    // A reader that tells of a segment whose connection nobody knows whether a unit begins in it,
    // or goes on.
    struct Following {
        bool (*follows)(void* reader, const UnitColumns& burst, std::size_t row,
                        ServiceProtocol protocol) noexcept;
        void* reader;
    };
    // See UnitFinder::Track.
    void track(const TrackedColumns& burst, RowMask rows, const Following& follow,
               ServiceRowsOutcome& outcome) noexcept;
    // The box has sent a RST: where its number is the next one, the connection has ended.
    void note_reset(const MadeReset& reset, Instant now) noexcept;

    // What follows on it is not read any more.
    void note_upgrade(const AgreedUpgrade& upgrade) noexcept;

    [[nodiscard]] const TrackCounters& counters() const noexcept { return tracker_.counters(); }

private:
    void adopt(const TrackedColumns& burst) noexcept;
    void track_segment(const TrackedColumns& burst, std::size_t row, std::uint16_t slot,
                       const Following& follow, ServiceRowsOutcome& outcome) noexcept;
    void take_datagram(const TrackedColumns& burst, std::size_t row, std::size_t index,
                       ServiceRowsOutcome& outcome) noexcept;
    [[nodiscard]] bool is_wrong(const UnitColumns& burst, std::size_t row,
                                std::uint16_t slot) noexcept;
    void take_verdict(const TrackVerdict& verdict, const TrackedColumns& burst, std::size_t row,
                      ServiceRowsOutcome& outcome) const noexcept;

    ConnectionTracker tracker_;
    ServiceSlots slots_;
    std::array<TrackPolicy, kMaxServices> policies_;  // by slot
    // By slot, of what comes from clients.
    std::array<PortChecksums, kMaxServices> checksums_;
    std::array<Checksums, kMaxServices> checksum_policies_{};
    std::uint64_t load_ = 0;
    std::uint64_t unread_bursts_ = 0;
    Instant tended_ = Instant::min();
};

}  // namespace sluice

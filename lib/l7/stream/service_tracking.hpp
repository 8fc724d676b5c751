#pragma once
#include "lib/l7/stream/checksum_trust.hpp"
#include "lib/l7/stream/service_datagrams.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/service_slots.hpp"
#include "lib/l7/stream/stream_units.hpp"
#include "lib/l7/stream/track/connection_tracker.hpp"
#include "lib/l7/stream/track/port_checksums.hpp"
#include "lib/l7/stream/tracked_columns.hpp"
#include "lib/l7/stream/unit_budget.hpp"
#include "lib/l7/stream/unit_finder.hpp"
#include "lib/l7/stream/unit_source.hpp"

#include <array>
#include <cstdint>

namespace sluice {

// The source that a client's connection is accounted to: the same number in every process.
[[nodiscard]] std::uint32_t source_of_client(const UnitColumns& burst, std::size_t row) noexcept;

// The connections of declared services: which rows of a burst belong to one, and which of them its
// server would not take. One per worker.
class ServiceTracking {
public:
    // Allocates all that it will ever use, but for memory that may outlive the process; then
    // take_over() follows.
    explicit ServiceTracking(const UnitBudget& budget, KeptMemory& memory = no_kept_memory());
    [[nodiscard]] static std::uint64_t kept_of(const UnitBudget& budget) noexcept;
    // See ConnectionTracker.
    void take_over(Instant now);
    [[nodiscard]] static std::uint64_t memory_of(const UnitBudget& budget) noexcept;

    // A reader that tells what the bytes are of a segment whose connection nobody watched from its
    // beginning.
    struct Following {
        ClientBytes (*follows)(void* reader, const UnitColumns& burst, std::size_t row,
                               const StreamUnits::Amid& place) noexcept;
        void* reader;
    };
    // See UnitFinder::Track.
    void track(const TrackedColumns& burst, RowMask rows, const Following& follow,
               ServiceRowsOutcome& outcome) noexcept;
    // See UnitFinder::MeetAgain.
    void meet_again(const TrackedColumns& burst, ServiceRowsOutcome& outcome) noexcept;
    // The box has sent a RST: where its number is the next one, the connection has ended.
    void note_reset(const MadeReset& reset, Instant now) noexcept;

    // Trust in the checksums of a service as the set in force has it, also before a packet has come
    // under that set; anyone may ask.
    [[nodiscard]] ServiceChecksums checksums_of(const Service& service) const noexcept;

    [[nodiscard]] ServiceDatagrams& datagrams() noexcept { return datagrams_; }
    [[nodiscard]] const ServiceDatagrams& datagrams() const noexcept { return datagrams_; }

    // Bytes that follow on the connection are not read any more.
    void note_upgrade(const AgreedUpgrade& upgrade) noexcept;

    [[nodiscard]] const TrackCounters& counters() const noexcept { return tracker_.counters(); }

private:
    void adopt(const TrackedColumns& burst) noexcept;
    void keep_names() noexcept;
    void track_segment(const TrackedColumns& burst, std::size_t row, std::uint16_t slot,
                       const Following& follow, ServiceRowsOutcome& outcome) noexcept;
    void take_fragment(const TrackedColumns& burst, std::size_t row, std::uint16_t slot,
                       ServiceRowsOutcome& outcome) noexcept;
    void take_datagram(const TrackedColumns& burst, std::size_t row, std::size_t index,
                       ServiceRowsOutcome& outcome) noexcept;
    // The service is new, enforces since a moment ago, or packets passed that nobody read.
    [[nodiscard]] bool has_begun_lately(std::uint16_t slot, Instant now) const noexcept;
    [[nodiscard]] bool is_wrong_datagram(const UnitColumns& burst, std::size_t row,
                                         std::uint16_t slot) noexcept;
    void look_at_checksum(const UnitColumns& burst, std::size_t row, std::uint16_t slot,
                          TrackedSegment& segment) noexcept;
    void note_proofs(const TrackVerdict& verdict) noexcept;
    void note_changed(const PortChecksums& checksums, std::uint16_t slot) noexcept;
    void publish(std::uint16_t slot) noexcept;
    [[nodiscard]] std::uint64_t connection_of(const TrackVerdict& verdict,
                                              const ConnectionEnds& ends) const noexcept;
    void take_verdict(const TrackVerdict& verdict, const TrackedColumns& burst, std::size_t row,
                      ServiceRowsOutcome& outcome) const noexcept;

    LineMemory kept_names_;  // what connections that outlive the process call their services
    bool is_kept_;
    ConnectionTracker tracker_;
    ServiceDatagrams datagrams_;
    ServiceSlots slots_;
    std::array<TrackPolicy, kMaxServices> policies_;   // by slot
    std::array<std::uint32_t, kMaxServices> modes_{};  // by slot: how often it began to enforce
    // By slot, of what comes from clients and from servers.
    std::array<PortChecksums, kMaxServices> checksums_;
    std::array<PortChecksums, kMaxServices> server_checksums_;
    std::array<Counter, kMaxServices> published_{};  // whose they are, and both states; 0: nobody's
    std::array<Checksums, kMaxServices> checksum_policies_{};
    bool reads_datagrams_ = false;  // some service is of UDP
    std::uint64_t load_ = 0;
    std::uint64_t untracked_bursts_ = 0;
    Instant tended_ = Instant::min();
};

}  // namespace sluice

#pragma once
#include "lib/l7/quic/quic_units.hpp"
#include "lib/l7/stream/fragment_follower.hpp"
#include "lib/l7/stream/fragment_memory.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/service_tracking.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/stream_units.hpp"
#include "lib/l7/stream/tracked_columns.hpp"
#include "lib/l7/stream/unit_budget.hpp"
#include "lib/l7/stream/unit_finder.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"

namespace sluice {

// The parsers of layer 7 that are plugged into a worker's bursts, live, in replay and in explain,
// and what they keep between packets. A protocol more is a reader beside the others here.
class UnitParser {
public:
    // Made before the process gives up its privileges. Aborts if there is no memory, or if OpenSSL
    // has no AES.
    // Connections of services may lie in memory that outlives the process, kept_of(budget) bytes of
    // it; then take_over() follows.
    explicit UnitParser(const UnitBudget& budget, KeptMemory memory = {});
    [[nodiscard]] static std::uint64_t kept_of(const UnitBudget& budget) noexcept;
    // Connections of services that an earlier process has left go on. Before the first burst.
    void take_over(Instant now);
    UnitParser(const UnitParser&) = delete;
    UnitParser& operator=(const UnitParser&) = delete;

    // See HttpUnits.
    void note_doubts_by(DoubtFinder doubts_of) noexcept {
        streams_.note_doubts_by(doubts_of);
        service_streams_.note_doubts_by(doubts_of);
    }

    // For Burst::find_units_by(); it points to this parser.
    [[nodiscard]] UnitFinder finder() noexcept;
    // For CoreState::fragments; the same. Empty where each fragment is judged by its own headers.
    [[nodiscard]] FragmentFollower fragments() noexcept { return fragments_.follower(); }

    [[nodiscard]] const ConnectionCounters& connections() const noexcept {
        return streams_.counters();
    }
    [[nodiscard]] const QuicGauges& quic() const noexcept { return quic_.gauges(); }

    // Counters of services' streams, and of their trackers.
    [[nodiscard]] const ConnectionCounters& service_connections() const noexcept {
        return service_streams_.counters();
    }
    // See ServiceTracking.
    [[nodiscard]] ServiceChecksums checksums_of(const Service& service) const noexcept {
        return tracking_.checksums_of(service);
    }
    [[nodiscard]] const TrackCounters& tracked() const noexcept { return tracking_.counters(); }

private:
    static void track(void* parser, const TrackedColumns& burst, RowMask rows,
                      ServiceRowsOutcome& outcome) noexcept;
    static void meet_again(void* parser, const TrackedColumns& burst,
                           ServiceRowsOutcome& outcome) noexcept;
    static void note_reset(void* parser, const MadeReset& reset, Instant now) noexcept;
    static void note_upgrade(void* parser, const AgreedUpgrade& upgrade) noexcept;
    void read_quic_answers(const UnitColumns& burst, RowMask rows) noexcept;
    [[nodiscard]] static ClientBytes follows(void* parser, const UnitColumns& burst,
                                             std::size_t row,
                                             const StreamUnits::Amid& place) noexcept;
    [[nodiscard]] StreamUnits::Relevance relevance_of(const UnitColumns& burst, std::size_t row,
                                                      ByteView payload,
                                                      std::uint64_t& note) noexcept;
    [[nodiscard]] StreamUnits& streams_of(bool service) noexcept {
        return service ? service_streams_ : streams_;
    }
    [[nodiscard]] static RowMask select(void* parser, const UnitColumns& burst, RowMask rows,
                                        RowNotes& notes) noexcept;
    void find_datagram(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept;
    void find_in_fragments(const UnitSource& packet, UnitSink& units) noexcept;
    static void find(void* parser, const UnitSource& packet, UnitSink& units) noexcept;
    static void settle(void* parser, const StickyBytes& bytes, UnitOutcome fate) noexcept;
    [[nodiscard]] static bool refused(void* parser, const StickyBytes& bytes) noexcept;

    StreamUnits streams_;
    StreamUnits service_streams_;
    ServiceTracking tracking_;
    QuicUnits quic_;
    FragmentMemory fragments_;
};

// Units of datagrams that are told from their own bytes alone: nothing is kept between packets.
[[nodiscard]] UnitFinder lone_unit_finder() noexcept;

}  // namespace sluice

#pragma once
#include "lib/l7/http1/http_units.hpp"
#include "lib/l7/http1/voided_lines.hpp"
#include "lib/l7/proxy/proxy_headers.hpp"
#include "lib/l7/stream/connection_table.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/track/track_verdict.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/l7/tls/tls_units.hpp"

#include <memory>

namespace sluice {

// Segments of TCP to units: what a segment completes in order, each unit once, however often its
// bytes are sent. One per worker.
class StreamUnits {
public:
    // Allocates all that it will ever use. Streams of services and others are read by readers of
    // their own.
    // In memory that may outlive the process take_over() follows.
    StreamUnits(const ConnectionBudget& budget, OnAmbiguous on_ambiguous, ReadingStance stance,
                KeptMemory& memory = no_kept_memory());
    // See HttpUnits.
    void note_doubts_by(DoubtFinder doubts_of) noexcept { http_.note_doubts_by(doubts_of); }
    // See ConnectionTable.
    void take_over(Instant now) {
        table_.take_over(now, &HttpUnits::can_be_body);
        proxies_.take_over();
        voided_.take_over();
    }

    // The rows whose segments can matter by their headers alone.
    [[nodiscard]] static RowMask possible(const UnitColumns& burst, RowMask rows) noexcept;
    // Once per burst, which has these segments or none, before select().
    void begin_burst(Instant now, RowMask rows) noexcept;
    // The segment's relevance by what is known of its connection, and by how its payload begins.
    // Notes its connection, and asks for the memory of what is known of it. Connections of rows
    // that were selected before it in the burst will be known when it is read.
    enum class Relevance : std::uint8_t {
        Nothing,
        Lookup,   // its connection may be known
        Reading,  // something that is read may begin in it
    };
    [[nodiscard]] Relevance select(const UnitColumns& burst, std::size_t row, ByteView payload,
                                   std::uint64_t& note) noexcept;
    // select() for a service's segment, whose connection the tracker follows.
    [[nodiscard]] Relevance select_service(const ServicePacket& packet, ByteView payload,
                                           std::uint64_t& note) noexcept;
    // A segment of a connection whose beginning was not seen.
    struct Amid {
        std::uint64_t connection = 0;
        std::uint32_t seq = 0;
        ServiceProtocol protocol{};
        bool is_taken_up = false;  // its bytes are read from there on
        bool is_late = false;      // behind the time of grace
    };
    // The kind of a client's bytes. A hello is Begin whether it is whole or not; bytes of DNS may
    // hold the rest of a message and a query behind it, so they are half a one behind the grace.
    [[nodiscard]] ClientBytes bytes_of(ByteView payload, const Amid& place) noexcept;
    void find(ByteView payload, const UnitSource& packet, UnitSink& units) noexcept;

    // A packet's verdict sticks to its units (UnitFinder).
    void settle(const StickyBytes& bytes, UnitOutcome fate) noexcept;
    [[nodiscard]] bool refused(const StickyBytes& bytes) const noexcept;

    [[nodiscard]] const ConnectionCounters& counters() const noexcept { return table_.counters(); }

private:
    class Segment;
    [[nodiscard]] std::uint8_t carrier() const noexcept {
        return stance_ == ReadingStance::Service ? kServiceCarrier : kStreamCarrier;
    }
    [[nodiscard]] bool may_begin(const UnitColumns& burst, std::size_t row,
                                 ByteView payload) const noexcept;

    [[nodiscard]] StreamReading read(ByteView bytes, const StreamContext& context,
                                     UnitSink& units) noexcept;
    [[nodiscard]] StreamReading read_service(ByteView bytes, const StreamContext& context,
                                             UnitSink& units) noexcept;

    void note_unseen(const UnitSource& packet) noexcept;

    // Bytes of a segment that a head's scratch has room for behind the head.
    static constexpr std::size_t kMaxSegment = std::size_t{64} << 10;
    [[nodiscard]] MutableBytes scratch() noexcept {
        return {scratch_.get(), head_bytes_ + kMaxSegment};
    }

    ReadingStance stance_;
    std::size_t head_bytes_;
    Instant tended_;
    std::uint64_t met_ = 0;  // connections of the burst's selected rows: six bits of each digest
    bool expires_ = false;   // more has timed out than was forgotten when the burst began
    ConnectionTable table_;
    std::uint64_t load_ = 0;  // of the latest packet; and
    std::uint64_t unread_bursts_ = 0;
    std::unique_ptr<std::byte[]> scratch_;  // heads of several segments
    ProxyHeaders proxies_;                  // of services
    VoidedLines voided_;
    HttpUnits http_;
    TlsUnits tls_;
};

}  // namespace sluice

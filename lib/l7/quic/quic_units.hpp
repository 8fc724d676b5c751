#pragma once
#include "lib/l7/quic/initial_reader.hpp"
#include "lib/l7/quic/quic_hellos.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// Written by the worker alone, read by anyone.
struct QuicGauges {
    Counter hellos;       // that anything is remembered of, now
    Counter half_hellos;  // now
};

// Datagrams of QUIC: versions 1 and 2 on every port, what all versions have in common where a port
// is 443. Each that begins with a long header has the fields of its first packet. The one that
// completes a ClientHello is a handshake, once for a connection however often its Initial is sent
// and also after a Retry; it has the hello's fields. One per worker.
//
// A server forgets connections, and takes the same Initial for a new one afterwards. So a repeat is
// one for as long as its server has not answered, and what comes behind an answer is judged as a
// new hello (QuicHellos).
//
// Initials are decrypted only where a rule reads a hello or counts handshakes, in datagrams that a
// server would take, and within the worker's time for it. Of an enforced service what cannot be
// judged is dropped: Initials beyond that time, malformed ones, and those that may go on
// with a hello whose beginning was given up. An Initial under other keys than its id's goes where
// the hello of its endpoints went; where there is none it is dropped of a service, and passes
// elsewhere: it is a server's, or of a connection whose hello was judged, or no endpoint takes it.
//
// A service's hello belongs to its id at its server, whichever path it comes by; its parts come by
// one. A repeat is one on its own path alone.
class QuicUnits {
public:
    // InitialOpener::make() belongs before the process gives up its privileges.
    QuicUnits(const QuicBudget& budget, InitialOpener opener)
        : hellos_{budget}, time_{budget.percent}, reader_{std::move(opener)} {}

    // True if find() may find anything.
    [[nodiscard]] static bool may_begin(ByteView datagram) noexcept;
    void find(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept;

    // Answers of servers matter that come in by this direction: hellos of a service have come by
    // the other one.
    [[nodiscard]] bool expects_answers(Direction direction) const noexcept {
        return expects_answers_[static_cast<std::size_t>(direction)];
    }
    // A datagram that may begin QUIC, of a direction that expects answers.
    void on_answer(ByteView datagram, const PacketHeaders& headers, const KeyHasher& hash,
                   Instant now) noexcept;

    // A packet's verdict sticks to its connection (UnitFinder), whatever bytes are named.
    void settle(const StickyBytes& bytes, bool forwarded) noexcept {
        hellos_.settle(bytes.connection, forwarded);
    }
    [[nodiscard]] bool refused(const StickyBytes& bytes) const noexcept {
        return blocks(hellos_.verdict_of(bytes.connection));
    }

    [[nodiscard]] const QuicGauges& gauges() const noexcept { return gauges_; }

private:
    class Datagram;
    void note_packet(const UnitSource& packet) noexcept;
    // A handshake may be under way whose hello passed before this parser was shown packets, or
    // before its service was one that enforces.
    [[nodiscard]] bool may_have_missed_hello(const UnitSource& packet) const noexcept {
        return packet.service.may_miss_some ||
               (shown_since_ && packet.now - *shown_since_ < QuicHellos::kRepeatedFor);
    }

    QuicHellos hellos_;
    OpeningTime time_;
    InitialReader reader_;
    ClientHello hello_;
    QuicGauges gauges_;
    std::array<bool, 2> expects_answers_{};  // by Direction
    std::uint64_t load_ = 0;
    std::uint64_t unread_bursts_ = 0;
    std::optional<Instant> shown_since_;  // without a gap; none: from the start
};

}  // namespace sluice

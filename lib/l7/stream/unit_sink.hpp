#pragma once
#include "lib/l7/stream/found_units.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/unit_kind.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The place where a parser of a later layer puts its finds.
class UnitSink {
public:
    UnitSink(FoundUnits& units, std::size_t row, const ServicePacket& service) noexcept
        : units_{units}, row_{row}, service_{service} {}

    // The next unit of the packet, to be given its texts; nullptr: the packet has too many. One of
    // kind Per::Packet is the packet itself with texts of a later layer: it is the only one then.
    [[nodiscard]] UnitTexts* add(Per kind) noexcept;
    // The unit that was added last, as another server reads it: judged as one more, and what the
    // readings of one unit have in common is counted once. It begins with the texts of the first
    // reading.
    [[nodiscard]] UnitTexts* add_other_reading() noexcept;
    // The unit that was added last is such a request, as far as its answer is framed by that.
    void note_asked(AskedRequest request) noexcept;
    // Notes ambiguous or malformed shapes in a request of the packet, for people.
    void note_doubts(HeadShapes shapes, DoubtOutcome outcome) noexcept;
    void note_doubts(const RequestDoubts& doubts) noexcept;
    // More than are judged.
    void note_too_many_readings() noexcept;
    // The packet belongs to an enforced service, and is changed so where it is forwarded.
    [[nodiscard]] Normalization& normalize() noexcept;
    // For texts that the frame does not hold: what the packet's share has left, and its first
    // bytes as a text.
    [[nodiscard]] std::span<std::byte> room() noexcept;
    [[nodiscard]] ByteView keep(std::size_t size) noexcept;
    // There is no room for a text of the packet.
    void refuse() noexcept;
    // The packet repeats what was refused: it is dropped where an enforcing rule is
    // concerned.
    void drop_repeat() noexcept;
    // The packet cannot be read: the first reason stands. In an enforced service it is
    // dropped, in one that monitors it is counted as what would be, and elsewhere it passes.
    void drop(Reason reason) noexcept;
    // There was no room for what came before: more of the packet changes nothing.
    [[nodiscard]] bool is_refused() const noexcept;
    // The packet's verdict is to stick to these bytes: UnitFinder::settle() is told.
    void remember(const StickyBytes& bytes) noexcept;
    // The packet's verdict sticks to a datagram in fragments; behind its own remember(), if any.
    void remember_datagram(std::uint64_t datagram, std::uint8_t carrier) noexcept;
    // The packet repeats these bytes, whose verdict will be known when it is the packet's turn:
    // UnitFinder::refused() is asked then.
    void follow(const StickyBytes& bytes) noexcept;
    void stick(const Stickiness& of) noexcept;
    // The packet's connection begins with a PROXY protocol header, which names this client; of no
    // version: the header was not seen.
    void note_client(const VersionedAddress& client) noexcept;
    // An answer to what came before the packet's units may still be on its way to their sender.
    void note_awaits() noexcept;
    // The id that the connection of the packet's hello began with.
    void note_quic_dcid(const ConnectionId& id) noexcept;
    // An event of the packet, for people.
    void count(UnitEvent event, std::uint32_t times = 1) noexcept;

private:
    void note_drop(Reason reason) noexcept;

    FoundUnits& units_;
    std::size_t row_;
    const ServicePacket& service_;
};

}  // namespace sluice

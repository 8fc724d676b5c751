#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/l7/http1/asked_requests.hpp"
#include "lib/l7/http1/request_doubts.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/l7/stream/text_arena.hpp"
#include "lib/l7/stream/unit_capacity.hpp"
#include "lib/l7/stream/unit_event.hpp"
#include "lib/l7/stream/unit_kind.hpp"
#include "lib/packet/text_field.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// One unit of a packet.
struct FoundUnit {
    Per kind = Per::Request;
    bool is_other_reading = false;  // of the unit before it
    AskedRequest asked;             // of HTTP
    UnitTexts texts;
};

// Units that parsers of later layers found in a burst, by row, and their remarks about its packets.
// UnitSink writes it, BurstUnits (lib/engine/burst) reads it.
struct FoundUnits {
    static constexpr std::size_t kMostUnits = kMaxBurst + kMaxFurther;

    // Units that the packet that is looked at may have. Rows behind it keep their shares.
    [[nodiscard]] std::size_t most_now() const noexcept {
        const std::size_t rows = 1 + kMaxFurther - further_count - (kUnitShare - 1) * rows_left;
        return std::min({most, rows, kMostUnits - unit_count});
    }
    // A unit of the packet that is looked at.
    [[nodiscard]] FoundUnit& unit_at(std::size_t row, std::size_t number) noexcept {
        return units[first_unit[row] + number];
    }
    // A new burst.
    void clear() noexcept;

    ServiceRowsOutcome services;
    std::size_t most = kMaxUnits;   // of a packet, under the rule set
    std::size_t rows_left = 0;      // to be read behind it
    std::size_t further_count = 0;  // rows of further bursts that are in use
    RowMask crowded_out = 0;        // their units had no room beside those of others
    RowMask unjudgeable = 0;
    RowMask unreadable = 0;
    RowMask would_refuse = 0;
    RowMask following = 0;
    RowMask remembered = 0;
    RowMask awaiting = 0;
    RowMask proxied = 0;
    std::array<VersionedAddress, kMaxBurst> clients{};  // of rows that are proxied
    std::array<Reason, kMaxBurst> why{};
    std::array<Reason, kMaxBurst> would_why{};
    std::array<StickyBytes, kMaxBurst> followed{};
    std::array<StickyBytes, kMaxBurst> sticky{};
    std::array<ConnectionId, kMaxBurst> quic_dcids{};
    TextArena arena;
    bool refused = false;  // the packet that is looked at
    std::array<std::uint8_t, kMaxBurst> counts{};
    std::array<std::uint32_t, kUnitEventCount> events{};
    std::array<std::uint8_t, kUnitEventCount> which_events{};  // those that are not 0
    std::size_t counted_events = 0;
    RequestDoubts doubts;  // of the burst's requests
    // A packet's lie one behind the other, those of the packet that was read first before all.
    std::array<std::uint16_t, kMaxBurst> first_unit{};
    std::size_t unit_count = 0;  // of the packets that have been read
    LazyArray<FoundUnit> units = uninitialized_array<FoundUnit>(kMostUnits);
};

}  // namespace sluice

#pragma once
#include "lib/base/units.hpp"
#include "lib/l7/stream/sticky_bytes.hpp"
#include "lib/packet/row_mask.hpp"
#include "lib/packet/text_field.hpp"

#include <array>
#include <cstdint>

namespace sluice {

class UnitSink;
struct AgreedUpgrade;
struct MadeReset;
struct ServiceRowsOutcome;
struct TrackedColumns;
struct UnitColumns;
struct UnitSource;

// A number that a parser notes of each row.
using RowNotes = std::array<std::uint64_t, kMaxBurst>;

// A parser of later layers, as a worker's bursts call it. It neither allocates nor waits.
struct UnitFinder {
    // The rows of these whose packets can have units by their headers. All others are never parsed,
    // and nothing of them is remembered.
    using Possible = RowMask (*)(const UnitColumns& burst, RowMask rows) noexcept;
    // The rows that Find is called for, of those that a rule is concerned with: by their
    // connections, by rows before them in the burst and by the first bytes of their payloads.
    // Their lines are prefetched.
    using Select = RowMask (*)(void* parser, const UnitColumns& burst, RowMask rows,
                               RowNotes& notes) noexcept;
    // Follows the connections of services, whose packets may be among these rows, in their order.
    using Track = void (*)(void* parser, const TrackedColumns& burst, RowMask rows,
                           ServiceRowsOutcome& outcome) noexcept;
    // Rows that waited were followed when they came, and keep their numbers of services; rows whose
    // services are gone lose them.
    using MeetAgain = void (*)(void* parser, const TrackedColumns& burst,
                               ServiceRowsOutcome& outcome) noexcept;
    // The box has sent a RST, which may end such a connection.
    using NoteReset = void (*)(void* parser, const MadeReset& reset, Instant now) noexcept;
    // The server of such a connection has agreed to another protocol.
    using NoteUpgrade = void (*)(void* parser, const AgreedUpgrade& upgrade) noexcept;
    // Adds the units that this packet completes, in their order in it.
    using Find = void (*)(void* parser, const UnitSource& packet, UnitSink& units) noexcept;
    // Tells the fate of the packet that these bytes were judged in.
    using Settle = void (*)(void* parser, const StickyBytes& bytes, UnitOutcome fate) noexcept;
    // True if the packet that these bytes were judged in was kept back.
    using Refused = bool (*)(void* parser, const StickyBytes& bytes) noexcept;
    Possible possible = nullptr;         // nullptr: all are
    Select select = nullptr;             // nullptr: all are, and nothing is noted
    Track track = nullptr;               // nullptr: nobody follows services
    MeetAgain meet_again = nullptr;      // needed by who has `track`
    NoteReset note_reset = nullptr;      // likewise
    NoteUpgrade note_upgrade = nullptr;  // likewise
    Find find = nullptr;
    Settle settle = nullptr;    // needed by who calls UnitSink::remember()
    Refused refused = nullptr;  // needed by who calls UnitSink::follow()
    void* parser = nullptr;     // what it keeps between packets
    TextFieldSet texts;         // that its units can have
};

}  // namespace sluice

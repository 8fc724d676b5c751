#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/color_limit.hpp"
#include "lib/bucket/meter/connection_segment.hpp"

#include <cstdint>

// Values that pass between a table, a meter and whoever asks.
namespace sluice {

// The part of a table's entry that is a key's bucket.
struct Cell {
    // The instant from which the bucket equals a fresh one and may be forgotten.
    Instant fresh_from{};
    // GCRA: by how many 1/parts ns the TAT lies below fresh_from. Others: its line in the pool.
    std::uint32_t rest = 0;
};

enum class Conformance : std::uint8_t {
    Green,   // admitted
    Yellow,  // admitted; colour meters only
    Red,     // refused
    NoRoom,  // the pool has no line to note the charge in: as if the table were full
};

// A demand on a bucket: a cost, the colour the packet came with, and for limits of open connections
// which one it may open (nullptr: one of which nothing is known), for those of different values
// which one it shows (ShownValue; 0: nothing is known of it).
struct Demand {
    Units cost;
    Color color = Color::Green;
    const ConnectionStart* connection = nullptr;
    std::uint32_t value = 0;
};

// The demand on a bucket: a cost, what check() said of it (of what is Red, as much is taken as
// there is), and the connection and the value as Demand has them.
struct Spending {
    Units cost;
    Conformance conformance = Conformance::Green;
    const ConnectionStart* connection = nullptr;
    std::uint32_t value = 0;
};

}  // namespace sluice

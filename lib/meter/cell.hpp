#pragma once
#include "lib/base/units.hpp"
#include "lib/meter/color_limit.hpp"

#include <cstdint>

// What passes between a table, a meter and whoever asks.
namespace sluice {

// What a table's entry holds for a key.
struct Cell {
    // From when on the bucket equals a fresh one and may be forgotten.
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

// What is asked of a bucket: a cost, and the colour the packet came with.
struct Demand {
    Units cost;
    Color color = Color::Green;
};

// What is taken from a bucket: a cost, and what check() said of it (Green or Yellow).
struct Spending {
    Units cost;
    Conformance conformance = Conformance::Green;
};

}  // namespace sluice

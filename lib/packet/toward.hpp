#pragma once
#include <cstdint>

namespace sluice {

// The side of the box by which a made frame leaves: the one that the packet it is made for goes to,
// or the one that the packet came from.
enum class Toward : std::uint8_t { Destination, Source };

}  // namespace sluice

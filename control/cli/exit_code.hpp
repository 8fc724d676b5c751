#pragma once
#include <cstdint>

namespace sluice {

// What scripts can tell apart.
enum class ExitCode : std::uint8_t {
    Done = 0,
    Refused = 1,   // refused or invalid
    Usage = 2,     // wrong usage
    Unreached = 3  // no daemon or no dataplane
};

}  // namespace sluice

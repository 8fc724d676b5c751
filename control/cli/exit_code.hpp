#pragma once
#include <cstdint>

namespace sluice {

// Outcomes that scripts can tell apart.
enum class ExitCode : std::uint8_t {
    Done = 0,
    Refused = 1,      // refused or invalid
    Different = 1,    // `diff --exit-code`: there is a difference
    Usage = 2,        // wrong usage
    Unreached = 3,    // no daemon or no dataplane
    NotCompared = 4,  // `diff --exit-code`: refused or invalid
    NothingFound = 4  // `find`: no findings, but for rules that would count what is sought
};

}  // namespace sluice

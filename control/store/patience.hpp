#pragma once
#include <cstdint>

namespace sluice {

// Deadlines and pauses towards the servers that the store is reached by.
inline constexpr std::uint64_t kDeadlineUs =
    1'000'000;                                        // without an answer a connection is given up
inline constexpr std::uint64_t kFirstGapUs = 50'000;  // between two dials, growing
inline constexpr std::uint64_t kLongestGapUs = 1'000'000;
inline constexpr std::uint64_t kSteadyUs =
    3'000'000;  // of a connection, behind which gaps begin anew

}  // namespace sluice

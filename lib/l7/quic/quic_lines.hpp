#pragma once
#include "lib/l7/stream/line_state.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Kinds of lines of QuicHellos, in the words of lib/l7/stream.
inline constexpr StreamPhase kHalfHello = StreamPhase::Head;
inline constexpr StreamPhase kJudgedHello = StreamPhase::UntilClose;
inline constexpr StreamPhase kGivenUpHello = StreamPhase::Forgotten;

// State of a judged line: the key of its twin; of an id's, the line of the path that its
// parts came by, and how often bytes of it came again; of a hello's, that its Retry was seen. It
// was charged when its line was touched last.
struct JudgedHello {
    std::uint64_t twin = 0;
    ConnectionIndex path = kNoConnection;
    bool retried = false;
    std::uint8_t repeats = 0;
    std::uint16_t gaps = 0;  // of the table, when it was charged
};

// Places in the state of a half or given-up line. Its parts do not pass; its path counts it, which
// is half.
inline constexpr std::size_t kLacksBeginning = 0;
inline constexpr std::size_t kOnPath = 1;
// Parts of the half hello may have passed.
inline constexpr std::size_t kHasPassed = 2;

}  // namespace sluice

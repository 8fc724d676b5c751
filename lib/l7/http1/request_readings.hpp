#pragma once
#include "lib/l7/http1/other_reading.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"

#include <cstdint>

namespace sluice {

// Other readings of a request, at most: every target that servers make of one. What a request has
// beyond them, in combinations that no honest client sends, is not judged: the request is
// ambiguous.
inline constexpr std::size_t kMostOtherReadings = OtherTargets::kMost;

// The doubts that are judged: about the path alone, where servers agree on all else, or all.
enum class ReadingsOf : std::uint8_t { Paths, All };

// Adds the other readings of the request that was added last, which has_stated_readings(): of its
// target all other ones, of its method, of its host, of its repeated headers and of its repeated
// cookies the other one each, in all combinations, as far as rules read them. A server takes either
// the first or the last of every header, or looks at each; so of cookies, and of these also, of the
// first line the last, or of the last line the first.
void add_other_readings(const RequestHead& head, const UnitSource& packet, ReadingsOf which,
                        UnitSink& units) noexcept;

}  // namespace sluice

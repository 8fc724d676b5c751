#pragma once
#include "lib/pipeline/burst_units.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// One direction of a connection of TCP or UDP, by who sends to whom, on which pair and from which
// side of it: a keyed digest.
[[nodiscard]] std::uint64_t digest_of(const UnitSource& packet) noexcept;
[[nodiscard]] std::uint64_t digest_of(const UnitColumns& burst, std::size_t row) noexcept;

// Half heads are accounted to addresses of IPv4 and networks of 64 bits of IPv6.
[[nodiscard]] std::uint64_t source_of(const UnitSource& packet) noexcept;

}  // namespace sluice

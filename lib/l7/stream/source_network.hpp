#pragma once
#include "lib/l7/stream/unit_source.hpp"

#include <cstdint>

namespace sluice {

// Half heads are accounted to addresses of IPv4 and networks of 64 bits of IPv6.
[[nodiscard]] std::uint64_t source_of(const UnitSource& packet) noexcept;

}  // namespace sluice

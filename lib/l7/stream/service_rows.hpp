#pragma once
#include "lib/l7/stream/loaded_services.hpp"
#include "lib/match/rule_matches.hpp"
#include "lib/packet/header_columns.hpp"

#include <array>
#include <cstdint>

namespace sluice {

inline constexpr std::uint16_t kNoServiceIndex = 0xFFFF;
static_assert(kMaxServices < kNoServiceIndex);

// By row: the index of the service that the packet would reach as a client's; kNoServiceIndex:
// none.
using ServiceRows = std::array<std::uint16_t, kMaxBurst>;

// Finds the services of `rows`, all of them well-formed: of several the first. Rows that are not
// asked for have none. `scratch` is overwritten. Rows with a service are returned.
RowMask find_services(const HeaderColumns& columns, RowMask rows, const LoadedServices& services,
                      RuleMatches& scratch, ServiceRows& found) noexcept;

}  // namespace sluice

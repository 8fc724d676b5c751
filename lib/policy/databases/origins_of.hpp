#pragma once
#include "lib/base/result.hpp"
#include "lib/match/geo_parts.hpp"
#include "lib/policy/databases/mmdb_networks.hpp"

namespace sluice {

// One table of what two databases have; nullptr: there is none. TooMany: they have more together
// than can be held. `asked` is left empty.
[[nodiscard]] Result<GeoParts> origins_of(const DatabaseNetworks* countries,
                                          const DatabaseNetworks* systems);

}  // namespace sluice

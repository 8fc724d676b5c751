#pragma once
#include "lib/base/result.hpp"
#include "lib/match/geo_table.hpp"

#include <memory>

namespace sluice {

// The origins of addresses, and their look-up table; nullptr: no rule uses origins.
struct MappedOrigins {
    std::shared_ptr<const GeoParts> parts;
    std::shared_ptr<const GeoTable> map;
};

// Makes the table of sound parts: find_fault() says so. Parts that equal those `before` share their
// table, and its memory. TooMany: it would take too much memory.
[[nodiscard]] Result<MappedOrigins> make_geo_table(std::shared_ptr<const GeoParts> parts,
                                                   const MappedOrigins& before);

}  // namespace sluice

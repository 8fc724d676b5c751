#pragma once
#include "lib/base/result.hpp"
#include "lib/match/origin_map.hpp"

#include <memory>

namespace sluice {

// Where addresses come from, and the table that tells it packets; nullptr: no rule asks.
struct MappedOrigins {
    std::shared_ptr<const OriginParts> parts;
    std::shared_ptr<const OriginMap> map;
};

// Makes the table of sound parts: find_fault() says so. Parts that equal those `before` share their
// table, and its memory. TooMany: it would take too much memory.
[[nodiscard]] Result<MappedOrigins> map_origins(std::shared_ptr<const OriginParts> parts,
                                                const MappedOrigins& before);

}  // namespace sluice

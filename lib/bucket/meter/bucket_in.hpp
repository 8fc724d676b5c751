#pragma once
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/limit.hpp"

namespace sluice {

// The token or leaky bucket in a cell. Where a unit takes a whole number of ns there are no parts
// of one, and what stands in their place may be a lease (Entry::lease()), which is no part of it.
[[nodiscard]] inline Gcra bucket_in(const Cell& cell, const Limit& limit) noexcept {
    return {cell.fresh_from, limit.parts() == 1 ? 0 : cell.rest};
}

// Puts it there. What may be a lease stays.
inline void put_bucket(Cell& cell, const Gcra& bucket, const Limit& limit) noexcept {
    cell = {bucket.fresh_from, limit.parts() == 1 ? cell.rest : bucket.below};
}

}  // namespace sluice

#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/burst_units.hpp"

#include <cstddef>
#include <optional>

namespace sluice {

// Why a service in monitor would refuse a row if it were enforced. nullopt: it would not; or the
// row's connection was followed by another worker, which has counted it.
[[nodiscard]] inline std::optional<Reason> would_be_refusal(const Burst& burst,
                                                            std::size_t row) noexcept {
    const BurstUnits* const parser = burst.unit_parser();
    if (parser == nullptr || burst.origin() == Burst::Origin::Worker) {
        return std::nullopt;
    }
    if (has_row(parser->services().would_refuse, row)) {
        return parser->services().why[row];
    }
    const BurstUnits* const read = burst.units();
    return read != nullptr && has_row(read->would_refuse(), row)
               ? std::optional{read->why_would_refuse(row)}
               : std::nullopt;
}

}  // namespace sluice

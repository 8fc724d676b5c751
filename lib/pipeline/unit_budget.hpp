#pragma once
#include "lib/conn/connection_budget.hpp"
#include "lib/conn/fragment_table.hpp"
#include "lib/rules/unit_options.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// One worker's part of what a box may remember of connections and fragments.
struct UnitBudget {
    ConnectionBudget connections;
    FragmentBudget fragments;
    FragmentPolicy fragment_policy = FragmentPolicy::FollowFirst;
    OnAmbiguous on_ambiguous = OnAmbiguous::Refuse;
    unsigned quic_initials_percent = 20;
};

// The same for each of so many workers: their sum is the box's, rounded up to what a table needs.
[[nodiscard]] UnitBudget unit_budget(const UnitOptions& box, std::size_t workers) noexcept;

// For a worker that captures are shown to: as this box treats them, and room for a few thousand
// clients.
[[nodiscard]] UnitBudget capture_unit_budget(const UnitOptions& box = {}) noexcept;

// Bytes that the tables of one worker take at once and keep.
[[nodiscard]] std::uint64_t memory_of(const UnitBudget& budget) noexcept;

}  // namespace sluice

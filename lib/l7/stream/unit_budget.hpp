#pragma once
#include "lib/l7/quic/quic_budget.hpp"
#include "lib/l7/stream/connection_budget.hpp"
#include "lib/l7/stream/datagram_assembly.hpp"
#include "lib/l7/stream/fragment_table.hpp"
#include "lib/l7/stream/unit_options.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The memory that one worker's parsers of later layers may keep between packets.
struct UnitBudget {
    ConnectionBudget connections;
    QuicBudget quic;
    FragmentBudget fragments;
    AssemblyBudget datagrams;
    FragmentPolicy fragment_policy = FragmentPolicy::FollowFirst;
    OnAmbiguous on_ambiguous = OnAmbiguous::Refuse;
};

// The same for each of so many workers: their sum is the box's, rounded up to what a table needs.
[[nodiscard]] UnitBudget unit_budget(const UnitOptions& box, std::size_t workers) noexcept;

// The table of services' streams: they are remembered for as long as their tracker remembers their
// connections, since bytes in the middle of one that is forgotten are refused.
[[nodiscard]] ConnectionBudget service_streams(const UnitBudget& budget) noexcept;

// For a worker that captures are shown to: as this box treats them, and room for a few thousand
// clients.
[[nodiscard]] UnitBudget capture_unit_budget(const UnitOptions& box = {}) noexcept;

// For how long at the most they keep what no packet comes to.
[[nodiscard]] Nanoseconds longest_timeout(const UnitBudget& budget) noexcept;

// Bytes that the tables of one worker take at once and keep.
[[nodiscard]] std::uint64_t memory_of(const UnitBudget& budget) noexcept;

}  // namespace sluice

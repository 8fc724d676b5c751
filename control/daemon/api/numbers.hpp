#pragma once
#include "lib/wire/message.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace sluice {

// Counts by name, in the order of their table.
[[nodiscard]] nlohmann::ordered_json verdicts_json(
    const std::array<std::uint64_t, kVerdictCount>& counts);
[[nodiscard]] nlohmann::ordered_json reasons_json(
    const std::array<std::uint64_t, kReasonCount>& counts);

[[nodiscard]] nlohmann::ordered_json ledger_json(
    const std::array<std::uint64_t, kLedgerEventCount>& counts);
[[nodiscard]] nlohmann::ordered_json table_events_json(
    const std::array<std::uint64_t, kTableEventCount>& counts);

// How often a new key found no place, for whatever reason.
[[nodiscard]] std::uint64_t no_place(const std::array<std::uint64_t, kTableEventCount>& counts);

// What all workers have counted together.
struct Totals {
    std::array<std::uint64_t, kVerdictCount> by_verdict{};
    std::array<std::uint64_t, kReasonCount> by_reason{};
    std::uint64_t packets = 0;
    std::array<std::uint64_t, kTableEventCount> by_table_event{};
};
[[nodiscard]] Totals total_of(const std::vector<WorkerStats>& workers);

}  // namespace sluice

#pragma once
#include "lib/wire/message.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace sluice {

using VerdictCounts = std::array<std::uint64_t, kVerdictCount>;
using ReasonCounts = std::array<std::uint64_t, kReasonCount>;
using TableEventCounts = std::array<std::uint64_t, kTableEventCount>;
using UnitEventCounts = std::array<std::uint64_t, kUnitEventCount>;
using AnswerEventCounts = std::array<std::uint64_t, kAnswerEventCount>;
using ConnectionEventCounts = std::array<std::uint64_t, kConnectionEventCount>;
using AskEventCounts = std::array<std::uint64_t, kAskEventCount>;
using LedgerEventCounts = std::array<std::uint64_t, kLedgerEventCount>;

// Counts by name, in the order of their table.
[[nodiscard]] nlohmann::ordered_json verdicts_json(const VerdictCounts& counts);
[[nodiscard]] nlohmann::ordered_json reasons_json(const ReasonCounts& counts);
[[nodiscard]] nlohmann::ordered_json table_events_json(const TableEventCounts& counts);
[[nodiscard]] nlohmann::ordered_json unit_events_json(const UnitEventCounts& counts);
[[nodiscard]] nlohmann::ordered_json answer_events_json(const AnswerEventCounts& counts);
[[nodiscard]] nlohmann::ordered_json connection_events_json(const ConnectionEventCounts& counts);
// What there is now.
[[nodiscard]] nlohmann::ordered_json connections_json(const ConnectionStats& stats);
[[nodiscard]] nlohmann::ordered_json ask_events_json(const AskEventCounts& counts);
// What there is now.
[[nodiscard]] nlohmann::ordered_json asks_json(const AskStats& stats);
[[nodiscard]] nlohmann::ordered_json shaping_json(const ShapeStats& stats);
// Of one turn in `of_turns`.
[[nodiscard]] nlohmann::ordered_json cycles_json(const StageStats& stats);
[[nodiscard]] nlohmann::ordered_json ledger_json(const LedgerEventCounts& counts);

// How often a new key found no place, for whatever reason.
[[nodiscard]] std::uint64_t no_place(const TableEventCounts& counts);

// What all workers have counted together.
struct Totals {
    VerdictCounts by_verdict{};
    VerdictCounts bytes_by_verdict{};
    ReasonCounts by_reason{};
    TableEventCounts by_table_event{};
    UnitEventCounts by_unit_event{};
    AnswerEventCounts by_answer_event{};
    ConnectionStats connections;
    AskStats asks;
    ShapeStats shaping;
    std::uint64_t packets = 0;
};
[[nodiscard]] Totals total_of(const std::vector<WorkerStats>& workers);

}  // namespace sluice

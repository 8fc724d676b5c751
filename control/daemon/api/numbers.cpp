#include "control/daemon/api/numbers.hpp"

namespace sluice {

nlohmann::ordered_json verdicts_json(const std::array<std::uint64_t, kVerdictCount>& counts) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kVerdictCount; ++i) {
        object[std::string{kVerdictNames[i]}] = counts[i];
    }
    return object;
}

nlohmann::ordered_json reasons_json(const std::array<std::uint64_t, kReasonCount>& counts) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kReasonCount; ++i) {
        object[std::string{kReasons[i].name}] = counts[i];
    }
    return object;
}

nlohmann::ordered_json table_events_json(
    const std::array<std::uint64_t, kTableEventCount>& counts) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kTableEventCount; ++i) {
        object[std::string{kTableEvents[i].name}] = counts[i];
    }
    return object;
}

nlohmann::ordered_json ledger_json(const std::array<std::uint64_t, kLedgerEventCount>& counts) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kLedgerEventCount; ++i) {
        object[std::string{kLedgerEvents[i].name}] = counts[i];
    }
    return object;
}

std::uint64_t no_place(const std::array<std::uint64_t, kTableEventCount>& counts) {
    std::uint64_t total = 0;
    for (const TableEvent event :
         {TableEvent::TableFull, TableEvent::ShareFull, TableEvent::PoolFull}) {
        total += counts[static_cast<std::size_t>(event)];
    }
    return total;
}

Totals total_of(const std::vector<WorkerStats>& workers) {
    Totals totals;
    for (const WorkerStats& worker : workers) {
        for (std::size_t i = 0; i < kVerdictCount; ++i) {
            totals.by_verdict[i] += worker.by_verdict[i];
            totals.packets += worker.by_verdict[i];
        }
        for (std::size_t i = 0; i < kReasonCount; ++i) {
            totals.by_reason[i] += worker.by_reason[i];
        }
        for (std::size_t i = 0; i < kTableEventCount; ++i) {
            totals.by_table_event[i] += worker.by_table_event[i];
        }
    }
    return totals;
}

}  // namespace sluice

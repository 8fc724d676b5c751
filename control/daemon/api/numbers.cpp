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
        totals.table_full += worker.table_full;
    }
    return totals;
}

}  // namespace sluice

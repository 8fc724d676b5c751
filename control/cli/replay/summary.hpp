#pragma once
#include "control/cli/replay/service_tally.hpp"
#include "control/json.hpp"
#include "control/replay/replay_rules.hpp"
#include "control/replay/worker_set.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// The outcome for the frames of a capture.
struct ReplaySummary {
    struct RuleRow {
        std::string id;
        Mode mode = Mode::Off;  // as replayed
        RuleCounts totals;      // zeros when off
        Stance stance{};        // over layer 7
    };
    std::array<std::uint64_t, kVerdictCount> by_verdict{};
    std::array<std::uint64_t, kReasonCount> by_reason{};
    struct ChecksumRow {
        std::string id;  // of a service
        ServiceChecksums checksums;
    };
    std::vector<ChecksumRow> checksums;
    std::vector<RuleRow> rules;  // all of the file, in its order
    ServiceTally services;
    WorkerSet::Unread unread;
    std::uint64_t table_full = 0;
    bool clock_stopped = false;      // the capture is longer than its instants
    std::uint64_t not_ethernet = 0;  // frames that were left out

    void count(const Decision& decision);
    void collect(const ReplayRules& replayed, const WorkerSet& workers);
    [[nodiscard]] std::uint64_t packets() const;
};

[[nodiscard]] Json summary_json(const ReplaySummary& summary);
[[nodiscard]] std::string summary_text(const ReplaySummary& summary);

}  // namespace sluice

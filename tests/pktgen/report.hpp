#pragma once
#include "tests/pktgen/options.hpp"
#include "tests/pktgen/search.hpp"
#include "tests/pktgen/trial.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice::pktgen {

// Delays at a share of the throughput.
struct DelayAtShare {
    double share;
    Trials trials;
};

struct SearchReport {
    SearchResult result;
    double mean_wire_bits = 0;
    // Frames carried probes: only those of a trial itself count as received in it.
    bool is_probed = false;
    std::vector<DelayAtShare> delays;
};

// Both end in a line feed.
[[nodiscard]] std::string report_text(const Trials& trials);
[[nodiscard]] std::string report_json(const Options& options, const Trials& trials);
[[nodiscard]] std::string report_text(const SearchReport& report);
[[nodiscard]] std::string report_json(const Options& options, const SearchReport& report);

// One line while it runs.
[[nodiscard]] std::string progress_text(const Trial& trial);
[[nodiscard]] std::string progress_text(const TrialOutcome& outcome);

}  // namespace sluice::pktgen

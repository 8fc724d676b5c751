#pragma once
#include "control/json.hpp"
#include "control/simulation/engine.hpp"

#include <string>
#include <vector>

namespace sluice {

// One simulation and what came of it.
struct Run {
    std::string name;  // of the limit
    AnyLimit limit;
    Course course;
    Outcome outcome;
};

[[nodiscard]] bool is_queue(const Run& run);        // a leaky bucket: it has departures
[[nodiscard]] bool is_color_meter(const Run& run);  // it has yellow

// "asker never stalled", "asker stalled at 4s for 1s, at 6s for 1s".
[[nodiscard]] std::string stalls_text(const std::vector<Stall>& stalls);

// Seconds with as many decimals as the multiples of `step` need: "0.3".
[[nodiscard]] std::string seconds_text(Nanoseconds time, Nanoseconds step);

// One run, bar by bar, and a line about the whole.
[[nodiscard]] std::string run_text(const Run& run);
// Runs of one course side by side: what each let through in each bar.
[[nodiscard]] std::string comparison_text(const std::vector<Run>& runs);

[[nodiscard]] Json runs_json(const std::vector<Run>& runs);

}  // namespace sluice

#pragma once
#include "control/cli/simulate/report.hpp"
#include "lib/base/result.hpp"

#include <string>
#include <vector>

namespace sluice {

// The script for gnuplot: one chart for each run, `columns` beside each other, into an SVG file.
[[nodiscard]] std::string plot_script(const std::vector<Run>& runs, std::size_t columns,
                                      const std::string& file);

// Draws it. Errors: NotSupported (no gnuplot; names the package), Refused (gnuplot failed).
[[nodiscard]] Result<Done> draw_plot(const std::string& script);

}  // namespace sluice

#include "control/daemon/api/api_metrics.hpp"

#include <fmt/format.h>

namespace sluice {

std::string api_metrics(const ApiCounters& counters) {
    constexpr std::string_view kName = "sluice_api_connections_turned_away_total";
    std::string text = fmt::format("# HELP {} Connections that were closed unanswered:", kName);
    for (const TurnedAwayRow& row : kTurnedAway) {
        text +=
            fmt::format(" {} ({}){}", row.name, row.help, &row == &kTurnedAway.back() ? "." : ",");
    }
    text += fmt::format("\n# TYPE {} counter\n", kName);
    const ApiCounters::Counts counts = counters.read();
    for (std::size_t i = 0; i < kTurnedAwayCount; ++i) {
        text += fmt::format("{}{{reason=\"{}\"}} {}\n", kName, kTurnedAway[i].name, counts[i]);
    }
    return text;
}

}  // namespace sluice

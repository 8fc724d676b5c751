#pragma once
#include "control/daemon/api_counters.hpp"
#include "control/daemon/dynamic_count.hpp"
#include "control/daemon/live/live_board.hpp"
#include "control/daemon/notify/notice_sender.hpp"
#include "control/daemon/rule_change.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Metrics of sluiced's own, in Prometheus text format 0.0.4.
namespace sluice {

// How old the files of lists and databases are that the rules in force read. A file that is away
// has no age.
[[nodiscard]] std::string list_metrics(const RuleView& rules,
                                       std::chrono::system_clock::time_point now);

// Numbers set through `dynamic` of the rules in force.
[[nodiscard]] std::string dynamic_metrics(const DynamicCount& count, const RefusedSets& refused);

// Counters of the API's sockets.
[[nodiscard]] std::string api_metrics(const ApiCounters& counters);

// Seconds of the box that were read for GET /v1/live, and who waits for the next.
[[nodiscard]] std::string live_metrics(const LiveStats& stats);

// Heat maps that nobody could be shown since others look at as many as may be.
[[nodiscard]] std::string heat_metrics(std::uint64_t refused_looks);

// Notices by webhook, and those for webhooks that there are not; nothing where there are neither.
[[nodiscard]] std::string notify_metrics(const std::vector<NoticeSender::State>& webhooks,
                                         std::uint64_t strangers);

}  // namespace sluice

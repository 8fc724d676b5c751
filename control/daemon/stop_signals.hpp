#pragma once
#include <csignal>
#include <stop_token>

namespace sluice {

// The signals that sluiced is told by. To be blocked in every thread, so that end_on_signal() alone
// sees them.
[[nodiscard]] sigset_t stop_signals();

// Returns at SIGTERM or SIGINT, which also stop a compilation that is running on any thread, or
// once a stop is requested. SIGHUP is logged.
void end_on_signal(const std::stop_token& stop, const sigset_t& signals);

}  // namespace sluice

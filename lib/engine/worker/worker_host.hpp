#pragma once
#include "lib/base/now.hpp"

#include <concepts>
#include <cstdint>

namespace sluice {

// The thread that a worker's loop runs in, as the loop sees it: its clock, its end, its rest, and
// who waits for it to pass the boundary between two turns. The box's is an lcore
// (dataplane/worker/lcore_host.hpp); a test's is whatever the test says.
//
//   now          what time it is; the instant never goes back
//   ReadTicks    reads the counter that the time of stages is measured by (StageLaps)
//   begin, end   called in the worker's thread before its first turn and after its last
//   stopped      no more turns
//   pass         nothing that was adopted in the turn before is read any longer
//   rest         after so many turns in a row in which nothing came
template <typename H>
concept WorkerHost = requires(H& host, const H& seen, typename H::ReadTicks read, unsigned turns) {
    { host.now() } noexcept -> std::same_as<Now>;
    { read() } noexcept -> std::same_as<std::uint64_t>;
    { host.begin() } noexcept;
    { seen.stopped() } noexcept -> std::same_as<bool>;
    { host.pass() } noexcept;
    { host.rest(turns) } noexcept;
    { host.end() } noexcept;
};

}  // namespace sluice

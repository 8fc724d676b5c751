#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/json.hpp"

#include <cstdint>
#include <functional>

namespace sluice {

// The treatment of packets as they come.
struct TraceSink {
    // One packet. False: it could not be kept, and the trace ends.
    std::function<bool(const Json&)> take;
    // Behind those that came together. False: likewise.
    std::function<bool()> flush;
};

struct TraceEnd {
    ExitCode exit = ExitCode::Done;
    std::uint64_t shown = 0;
    std::uint64_t left_out = 0;  // that it was about too, and there was no room for
};

// Traces through sluiced: packets of `--when`, `--rule` and, with `dropped`, of those alone that
// are kept back; until there were `--count`, `--for` is over, or a signal ends it. Says on standard
// error what keeps it from showing anything, and why it ended if not as asked.
[[nodiscard]] TraceEnd follow_trace(const Options& options, bool dropped, unsigned snap,
                                    const TraceSink& sink);

}  // namespace sluice

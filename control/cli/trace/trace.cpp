#include "control/cli/commands.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/trace/traced_text.hpp"
#include "control/cli/trace/tracing.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace sluice {

ExitCode run_trace(const Options& options) {
    const TraceSink sink{.take =
                             [&](const Json& packet) {
                                 print(options.json ? dump_line(packet) : traced_line(packet));
                                 return true;
                             },
                         .flush = [] { return std::fflush(stdout) == 0; }};
    const TraceEnd end = follow_trace(options, options.dropped, 0, sink);
    if (end.left_out != 0) {
        say_warning(fmt::format("{} more packets were meant, and there was no room to show them",
                                end.left_out));
    }
    return end.exit;
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

namespace sluice {

ExitCode run_merge_interval(const Options& options) {
    const auto answer = ask(options, {.method = "POST",
                                      .target = "/v1/merge",
                                      .content_type = "application/json",
                                      .body = Json{{"interval", options.word}}.dump()});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& set = std::get<Json>(answer);
    if (options.json) {
        print(dump_line(set));
        return ExitCode::Done;
    }
    print(fmt::format(
        "amounts are merged at the latest after {} us, of {} limits; sluice.yaml "
        "says what holds when the dataplane starts again\n",
        set.at("interval_us").get<std::uint64_t>(), set.at("merged_limits").get<std::uint64_t>()));
    return ExitCode::Done;
}

}  // namespace sluice

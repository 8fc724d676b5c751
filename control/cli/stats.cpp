#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/watch.hpp"

#include <chrono>
#include <optional>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

ExitCode watch_stats(const Options& options) {
    std::optional<Json> before;
    Clock::time_point asked_before;
    const Watch watch{!options.json, options.count};
    return watch.run([&]() {
        auto answer = ask(options, {.target = "/v1/stats"});
        const Clock::time_point asked = Clock::now();
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            return report(*refusal);
        }
        Json& now = std::get<Json>(answer);
        const std::chrono::duration<double> since = asked - asked_before;
        print(options.json ? dump_line(now)
                           : stats_text(now, before ? &*before : nullptr, since.count()));
        before = std::move(now);
        asked_before = asked;
        return ExitCode::Done;
    });
}

}  // namespace

ExitCode run_stats(const Options& options) {
    return options.watch ? watch_stats(options)
                         : show(options, {.target = "/v1/stats"},
                                [](const Json& now) { return stats_text(now); });
}

}  // namespace sluice

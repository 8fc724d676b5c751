#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/health_text.hpp"
#include "control/cli/terminal.hpp"

namespace sluice {

ExitCode run_health(const Options& options) {
    const auto answer = ask(options, {.target = "/v1/health"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& health = std::get<Json>(answer);
    print(options.json ? dump_line(health) : folded(health_text(health)));
    return has_dataplane(health) ? ExitCode::Done : ExitCode::Unreached;
}

}  // namespace sluice

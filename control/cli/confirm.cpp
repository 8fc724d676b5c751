#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

// One call without a body; `text` with the generation and the number of rules.
ExitCode tell(const Options& options, const std::string& target,
              fmt::format_string<std::string, std::uint64_t> text) {
    const auto answer =
        ask(options, {.method = "POST", .target = target, .content_type = "application/json"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& now = std::get<Json>(answer);
    if (options.json) {
        print(dump_line(now));
    } else {
        print(fmt::format(text, now.at("generation").get<std::string>(),
                          now.at("rules").get<std::uint64_t>()));
    }
    return ExitCode::Done;
}

}  // namespace

ExitCode run_confirm(const Options& options) {
    return tell(options, "/v1/confirm", "confirmed generation {}, {} rules\n");
}

ExitCode run_rollback(const Options& options) {
    return tell(options, "/v1/rollback", "back to generation {}, {} rules\n");
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/heatmap_text.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

namespace sluice {

ExitCode run_heatmap(const Options& options) {
    const std::string target =
        fmt::format("/v1/rules/{}/heatmap?limit={}{}", url_escape(options.rule), options.map_limit,
                    options.step == 0 ? "" : fmt::format("&step={}", options.step));
    return show(options, {.target = target}, [&](const Json& map) {
        return heatmap_text(map, options.map_by, heatmap_columns(terminal_width()));
    });
}

}  // namespace sluice

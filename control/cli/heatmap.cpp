#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/heatmap_text.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <variant>

namespace sluice {
namespace {

std::variant<Json, DaemonRefusal> ask_map(const Options& options, std::uint64_t limit,
                                          bool with_step) {
    return ask(options, {.target = fmt::format(
                             "/v1/rules/{}/heatmap?limit={}{}", url_escape(options.rule), limit,
                             with_step ? fmt::format("&step={}", options.step) : "")});
}

}  // namespace

// sluiced numbers limits; people know them by their names, which the first one's map has.
ExitCode run_heatmap(const Options& options) {
    const bool has_step = options.step != 0;
    auto answer = ask_map(options, 0, has_step && options.map_limit.empty());
    const auto* const first = std::get_if<Json>(&answer);
    if (first != nullptr && !options.map_limit.empty()) {
        const std::optional<std::uint64_t> limit = limit_named(*first, options.map_limit);
        if (!limit) {
            return refuse(no_such_limit(*first, options.map_limit));
        }
        if (*limit != 0 || has_step) {
            answer = ask_map(options, *limit, has_step);
        }
    }
    return show_answer(options, answer, [&](const Json& map) {
        return heatmap_text(map, options.map_by, heatmap_columns(terminal_width()));
    });
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/watch.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string rate_with_error(const Json& key, const char* rate, const char* error) {
    return fmt::format("{:.1f} ± {:.1f}", key.at(rate).get<double>(), key.at(error).get<double>());
}

std::string bits_text(const Json& key) {
    return bit_rate_text(key.value("bits_per_s", 0.0)) + " ± " +
           bit_rate_text(key.value("bits_error_per_s", 0.0));
}

// A key's rest: nothing that counts where it is banned or exempt.
std::string remaining_text(const Json& key) {
    const Json& remaining = key.at("remaining");
    if (key.value("banned", false)) {
        return "banned";
    }
    if (key.value("exempt", false)) {
        return "exempt";
    }
    return remaining.is_null() ? "" : grouped(remaining.get<std::uint64_t>());
}

std::string top_text(const Json& document) {
    std::string text =
        fmt::format("packets each second, from {} samples over the last {:.0f} s (--window)\n",
                    grouped(count_at(document, "samples")), document.at("window_s").get<double>());
    if (const auto lost = count_at(document, "lost"); lost != 0) {
        text += fmt::format("{} samples were lost since the start: nobody had time for them\n",
                            grouped(lost));
    }
    Table table{{{"RULE"},
                 {"KEY"},
                 {"HITS/S", kRight},
                 {"DENIED/S", kRight},
                 {"BIT/S", kRight},
                 {"REMAINING", kRight}},
                2};
    for (const Json& key : document.at("keys")) {
        const std::string name = text_at(key, "key");
        table.row({text_at(key, "rule"), name.empty() ? "(all)" : name,
                   rate_with_error(key, "hits_per_s", "hits_error_per_s"),
                   rate_with_error(key, "denied_per_s", "denied_error_per_s"), bits_text(key),
                   remaining_text(key)});
    }
    return text + table.text();
}

ExitCode show_once(const Options& options) {
    return show(
        options,
        {.target = fmt::format("/v1/top?rule={}&by={}&window={}&count={}", url_escape(options.rule),
                               options.by, options.window, options.keys)},
        top_text);
}

}  // namespace

ExitCode run_top(const Options& options) {
    if (!options.watch) {
        return show_once(options);
    }
    const Watch watch{!options.json, options.count};
    return watch.run([&]() { return show_once(options); });
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "control/list_folder.hpp"
#include "control/text_file.hpp"

#include <fmt/format.h>

namespace sluice {

ExitCode run_apply(const Options& options) {
    Result<std::string> text = read_text_file(options.rules_file);
    if (!text) {
        say_error(text.error().what);
        return ExitCode::Refused;
    }
    const std::string confirm =
        options.confirm.empty() ? "" : "&confirm=" + url_escape(options.confirm);
    const auto answer =
        ask(options,
            {.method = "PUT",
             .target = fmt::format("/v1/rules?force={}&file={}&directory={}{}",
                                   options.force ? 1 : 0, url_escape(options.rules_file),
                                   url_escape(absolute_folder_of(options.rules_file)), confirm),
             .content_type = "application/yaml",
             .body = *text});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        say_problems(refusal->problems, {options.rules_file, *text});
        return report(*refusal);
    }
    const Json& applied = std::get<Json>(answer);
    say_problems(problems_from(applied.at("warnings")), {options.rules_file, *text});
    if (options.json) {
        print(dump_line(applied));
    } else {
        print(fmt::format("applied {} rules, generation {}\n",
                          applied.at("rules").get<std::uint64_t>(),
                          applied.at("generation").get<std::string>()));
        print(unconfirmed_text(applied));
    }
    return ExitCode::Done;
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/diff_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/list_folder.hpp"
#include "control/text_file.hpp"

namespace sluice {

ExitCode run_diff(const Options& options) {
    const Result<std::string> text = read_text_file(options.rules_file);
    if (!text) {
        say_error(text.error().what);
        return ExitCode::Refused;
    }
    const auto answer =
        ask(options, {.method = "POST",
                      .target = "/v1/rules/diff?file=" + url_escape(options.rules_file) +
                                "&directory=" + url_escape(absolute_folder_of(options.rules_file)),
                      .content_type = "application/yaml",
                      .body = *text});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        say_problems(refusal->problems, {options.rules_file, *text});
        return report(*refusal);
    }
    const Json& diff = std::get<Json>(answer);
    say_problems(problems_from(diff.at("warnings")), {options.rules_file, *text});
    print(options.json ? dump_line(diff) : diff_text(diff));
    return ExitCode::Done;
}

}  // namespace sluice

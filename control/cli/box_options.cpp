#include "control/cli/box_arguments.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "control/text_file.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

ExitCode print_arguments(const Options& options, const std::vector<std::string>& arguments) {
    if (options.json) {
        print(dump_line(Json(arguments)));
        return ExitCode::Done;
    }
    for (const std::string& argument : arguments) {
        print(argument + "\n");
    }
    return ExitCode::Done;
}

}  // namespace

ExitCode run_box_options(const Options& options) {
    const Result<std::string> text = read_text_file(options.config_file);
    if (!text) {
        say_error(text.error().what);
        return ExitCode::Refused;
    }
    Problems problems{options.config_file};
    const auto box = read_box({options.config_file, *text}, Purpose::Enforce, problems);
    say_problems(problems.list(), {options.config_file, *text});
    if (!box) {
        return ExitCode::Refused;
    }
    const auto arguments = box_arguments(*box);
    if (!arguments) {
        say_error(options.config_file + ": " + arguments.error().what);
        return ExitCode::Refused;
    }
    return print_arguments(options, *arguments);
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/diff_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "control/list_folder.hpp"
#include "control/text_file.hpp"

#include <fmt/format.h>

// apply and diff: a rule file goes to sluiced, and its problems are shown with their source lines.
namespace sluice {
namespace {

// `target`: a resource with the start of its query, which the file's name and folder complete.
ExitCode send_file(const Options& options, std::string_view method, const std::string& target,
                   std::string (*as_text)(const Json&)) {
    const Result<std::string> text = read_text_file(options.rules_file);
    if (!text) {
        say_error(text.error().what);
        return ExitCode::Refused;
    }
    const RuleText source{options.rules_file, *text};
    const auto answer = ask(
        options,
        {.method = method,
         .target = fmt::format("{}&file={}&directory={}", target, url_escape(options.rules_file),
                               url_escape(absolute_folder_of(options.rules_file))),
         .content_type = "application/yaml",
         .body = *text});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        say_problems(refusal->problems, source);
        return report(*refusal);
    }
    const Json& document = std::get<Json>(answer);
    say_problems(problems_from(document.at("warnings")), source);
    print(options.json ? dump_line(document) : as_text(document));
    return ExitCode::Done;
}

std::string applied_text(const Json& applied) {
    return fmt::format("applied {} rules, generation {}\n",
                       applied.at("rules").get<std::uint64_t>(),
                       applied.at("generation").get<std::string>()) +
           unconfirmed_text(applied);
}

}  // namespace

ExitCode run_apply(const Options& options) {
    const std::string confirm =
        options.confirm.empty() ? "" : "&confirm=" + url_escape(options.confirm);
    return send_file(options, "PUT",
                     fmt::format("/v1/rules?force={}{}", options.force ? 1 : 0, confirm),
                     applied_text);
}

ExitCode run_diff(const Options& options) {
    return send_file(options, "POST", "/v1/rules/diff?", diff_text);
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/diff_text.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "control/list_folder.hpp"
#include "control/text_file.hpp"
#include "lib/policy/compile.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

// apply and diff: a rule file goes to sluiced, and its problems are shown with their source lines.
namespace sluice {
namespace {

constexpr std::chrono::minutes kPatience{2};  // a set with lists of millions is built first

// The rule file and every file that compiling it reads, whatever else is wrong with it.
std::vector<UploadPart> form_of(const Options& options, const std::string& text) {
    std::vector<UploadPart> form{{"rules", "", std::make_shared<const std::string>(text)}};
    std::set<std::string> known;
    const ListReader beside = lists_beside(options.rules_file);
    const ListReader lists = [&](const std::string& path) {
        Result<ListFile> file = beside(path);
        if (file && known.insert(path).second) {
            form.push_back({"list", path, file->text});
        }
        return file;
    };
    Problems problems{options.rules_file};
    (void)compile_rules({options.rules_file, text, &lists}, Purpose::Check, {}, problems);
    return form;
}

// `target`: a resource with the start of its query, which the file's name and folder complete.
ExitCode send_file(const Options& options, std::string_view method, const std::string& target,
                   std::string (*as_text)(const Json&)) {
    const Result<std::string> text = read_text_file(options.rules_file);
    if (!text) {
        say_error(text.error().what);
        return ExitCode::Refused;
    }
    const RuleText source{options.rules_file, *text};
    DaemonRequest request{
        .method = method,
        .target = fmt::format("{}&file={}&directory={}", target, url_escape(options.rules_file),
                              url_escape(absolute_folder_of(options.rules_file))),
        .timeout = kPatience};
    if (options.send_lists) {
        request.form = form_of(options, *text);
    } else {
        request.content_type = "application/yaml";
        request.body = *text;
    }
    const auto answer = ask(options, request);
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
           panic_text(applied) + unconfirmed_text(applied);
}

}  // namespace

ExitCode run_apply(const Options& options) {
    const std::string confirm =
        options.confirm.empty() ? "" : "&confirm=" + url_escape(options.confirm);
    return send_file(options, "PUT",
                     fmt::format("/v1/rules?force={}{}{}", options.force ? 1 : 0,
                                 options.strict ? "&strict=1" : "", confirm),
                     applied_text);
}

ExitCode run_diff(const Options& options) {
    return send_file(options, "POST", "/v1/rules/diff?", diff_text);
}

}  // namespace sluice

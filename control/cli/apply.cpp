#include "control/cli/cluster.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/diff_text.hpp"
#include "control/cli/long_work.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/list_folder.hpp"
#include "lib/policy/compile.hpp"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

// apply and diff: rule files go to sluiced, and their problems are shown with their source lines.
namespace sluice {
namespace {

// The rule files and every file that compiling them reads, whatever else is wrong with them.
std::vector<UploadPart> form_of(const RuleFiles& files, bool with_lists) {
    std::vector<UploadPart> form;
    const std::vector<RuleFilePart> parts = parts_of(files.text, files.slices);
    for (const RuleFilePart& part : parts) {
        form.push_back(
            {"rules", std::string{part.file}, std::make_shared<const std::string>(part.text)});
    }
    if (form.empty()) {
        form.push_back({"rules", "", std::make_shared<const std::string>(files.text)});
    }
    if (!with_lists) {
        return form;
    }
    std::set<std::string> known;
    const ListReader beside = lists_of(files);
    const ListReader lists = [&](const std::string& path) {
        Result<ListFile> file = beside(path);
        if (file && known.insert(path).second) {
            form.push_back({"list", path, file->text});
        }
        return file;
    };
    Problems problems{files.label};
    (void)compile_rules({.file = files.label, .text = files.text, .lists = &lists, .parts = parts},
                        Purpose::Check, {}, problems);
    return form;
}

// `target`: a resource with the start of its query, which the files' name and folder complete: of
// several files, the folder that their names begin in.
DaemonRequest request_of(const Options& options, const RuleFiles& files, std::string_view method,
                         const std::string& target) {
    const bool is_one = files.slices.empty();
    DaemonRequest request{
        .method = method,
        .target = fmt::format("{}file={}&directory={}", target, url_escape(files.label),
                              url_escape(is_one ? files.folder : absolute_folder_of("x"))),
        .timeout = kCompilePatience,
        .if_match = options.if_match};
    if (is_one && !options.send_lists) {
        request.content_type = "application/yaml";
        request.body = files.text;
    } else {
        request.form = form_of(files, options.send_lists);
    }
    return request;
}

// The answer, whose warnings have been said; or what the command ends with, which it has said too.
std::variant<Json, ExitCode> send_files(const Options& options, std::string_view method,
                                        const std::string& target) {
    const auto read = read_rules(options);
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    const auto& files = std::get<RuleFiles>(read);
    return answer_about(files, [&] {
        const LongWork work{method == "PUT" ? "apply" : "diff"};
        return ask(options, request_of(options, files, method, target));
    }());
}

// Checked here first, so that every problem is shown with its source line.
ExitCode bring_to_cluster(const Options& options) {
    auto read = read_rules(options);
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    auto& files = std::get<RuleFiles>(read);
    SentLists sent;
    const ListReader beside = lists_of(files);
    const ListReader lists = [&](const std::string& path) {
        Result<ListFile> file = beside(path);
        if (file && options.send_lists) {
            sent.emplace(path, file->text);
        }
        return file;
    };
    const std::vector<RuleFilePart> parts = parts_of(files.text, files.slices);
    Problems problems{files.label};
    const auto compiled =
        compile_rules({.file = files.label, .text = files.text, .lists = &lists, .parts = parts},
                      Purpose::Check, {}, problems);
    std::vector<Problem> found = problems.list();
    if (options.strict) {
        make_warnings_errors(found);
    }
    say_file_problems(found, files);
    const bool is_wrong = !compiled || (options.strict && !found.empty());
    return is_wrong ? refuse("nothing was changed on any box")
                    : apply_to_cluster(options, std::move(files), std::move(sent));
}

}  // namespace

ExitCode run_apply(const Options& options) {
    if (options.cluster) {
        return bring_to_cluster(options);
    }
    if (!options.canary.empty() || options.now) {
        return refuse("--canary and --now go with --cluster", ExitCode::Usage);
    }
    const std::string confirm =
        options.confirm.empty() ? "" : "&confirm=" + url_escape(options.confirm);
    const auto sent = send_files(
        options, "PUT",
        fmt::format("/v1/rules?force={}{}{}{}{}&", options.force ? 1 : 0,
                    options.strict ? "&strict=1" : "", options.forgive ? "&forgive=1" : "",
                    options.detach ? "&detach=1" : "", confirm));
    if (const auto* exit = std::get_if<ExitCode>(&sent)) {
        return *exit;
    }
    const Json& document = std::get<Json>(sent);
    print(options.json ? dump_line(document) : applied_text(document));
    if (!options.json && options.forgive && !options.confirm.empty()) {
        print("what keys owe is forgiven by `sluicectl confirm`, and not before\n");
    }
    return ExitCode::Done;
}

ExitCode run_diff(const Options& options) {
    const auto sent = send_files(options, "POST", "/v1/rules/diff?");
    if (const auto* exit = std::get_if<ExitCode>(&sent)) {
        return options.exit_code && *exit == ExitCode::Refused ? ExitCode::NotCompared : *exit;
    }
    const Json& document = std::get<Json>(sent);
    print(options.json ? dump_line(document) : diff_text(document));
    return options.exit_code && differs(document) ? ExitCode::Different : ExitCode::Done;
}

}  // namespace sluice

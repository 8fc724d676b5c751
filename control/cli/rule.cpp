#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/terminal.hpp"
#include "lib/policy/files/lone_rule.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

// rule add, replace and delete: one rule of the running set.
namespace sluice {
namespace {

std::string query_of(const Options& options, const std::string& file) {
    std::string query = fmt::format("?file={}", url_escape(file));
    const auto add = [&query](std::string_view name, const std::string& value) {
        query += value.empty() ? "" : fmt::format("&{}={}", name, url_escape(value));
    };
    add("before", options.before);
    add("after", options.after);
    add("confirm", options.confirm);
    add("force", options.force ? "1" : "");
    add("strict", options.strict ? "1" : "");
    add("detach", options.detach ? "1" : "");
    return query;
}

// The id of the rule in a text, and where it stands.
struct PlacedId {
    std::string id;
    Position at;
};
// nullopt: there is none, which was said.
std::optional<PlacedId> id_in(const RuleFiles& file) {
    Problems problems{file.label};
    std::optional<LoneRule> rule = read_lone_rule(file.text, problems);
    say_file_problems(problems.list(), file);
    if (!rule || problems.has_errors()) {
        return std::nullopt;
    }
    return PlacedId{std::move(rule->id), value_of(rule->tree, "id")->at};
}

// `id`: where the file names the rule that is to be there.
ExitCode send(const Options& options, const DaemonRequest& request, const RuleFiles& file,
              const std::string& done, std::optional<Position> id = std::nullopt) {
    constexpr long kNotFound = 404;
    auto asked = ask(options, request);
    if (const auto* refusal = std::get_if<DaemonRefusal>(&asked);
        refusal != nullptr && id && refusal->status == kNotFound) {
        say_file_problems({{file.label, *id, Severity::Error, refusal->what}}, file);
        return refusal->exit;
    }
    const auto answer = answer_about(file, std::move(asked));
    if (const auto* exit = std::get_if<ExitCode>(&answer)) {
        return *exit;
    }
    const Json& document = std::get<Json>(answer);
    print(options.json ? dump_line(document) : done + applied_text(document));
    return ExitCode::Done;
}

ExitCode remove(const Options& options) {
    return send(options,
                {.method = "DELETE",
                 .target = "/v1/rules/" + url_escape(options.rule_file) + query_of(options, ""),
                 .timeout = kCompilePatience,
                 .if_match = options.if_match},
                {}, "deleted " + options.rule_file + "; ");
}

ExitCode put(const Options& options) {
    const Result<RuleFiles> file = read_rule_files({options.rule_file});
    if (!file) {
        return refuse(file.error().what);
    }
    if (!file->slices.empty()) {
        return refuse(options.rule_file + " has several files; a file with one rule is wanted",
                      ExitCode::Usage);
    }
    const std::optional<PlacedId> id = id_in(*file);
    if (!id) {
        return ExitCode::Refused;
    }
    const bool is_add = options.word == "add";
    return send(options,
                {.method = is_add ? "POST" : "PUT",
                 .target = (is_add ? "/v1/rules" : "/v1/rules/" + url_escape(id->id)) +
                           query_of(options, file->label),
                 .content_type = "application/yaml",
                 .body = file->text,
                 .timeout = kCompilePatience,
                 .if_match = options.if_match},
                *file, (is_add ? "added " : "replaced ") + id->id + "; ",
                is_add ? std::nullopt : std::optional{id->at});
}

}  // namespace

ExitCode run_rule(const Options& options) {
    if (options.word != "add" && !(options.before.empty() && options.after.empty())) {
        return refuse("--before and --after are for `rule add`", ExitCode::Usage);
    }
    return options.word == "delete" ? remove(options) : put(options);
}

}  // namespace sluice

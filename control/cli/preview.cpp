#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/heatmap_text.hpp"
#include "control/cli/preview_text.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/terminal.hpp"
#include "lib/policy/files/lone_rule.hpp"
#include "lib/policy/files/rule_slice.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

// preview: a rule of a file, judged over the packets that pass next.
namespace sluice {
namespace {

volatile std::sig_atomic_t preview_is_to_end = 0;

void end_preview(int /*signal*/) {
    preview_is_to_end = 1;
}

// A rule by itself, and where it stands in its file.
struct DraftText {
    std::string id;
    RuleSlice slice;
};

std::optional<DraftText> lone_draft(const RuleFiles& file, Problems& problems) {
    const std::optional<LoneRule> rule = read_lone_rule(file.text, problems);
    return rule ? std::optional{DraftText{rule->id, {.text = file.text}}} : std::nullopt;
}

bool has_top_key(std::string_view text, std::string_view key) {
    const std::string line = std::string{key} + ":";
    return text.starts_with(line) || text.find("\n" + line) != std::string_view::npos;
}

// The draft is one rule, which is judged beside the rules in force.
void warn_of_unread(const RuleFiles& file) {
    if (has_top_key(file.text, "limits") || has_top_key(file.text, "defaults")) {
        say_warning(file.label +
                    ": its `limits` and `defaults` are not read: the rule is judged by those in "
                    "force");
    }
}

// `id` empty: the file has one rule. nullopt: it has none of that name, which was said.
std::optional<DraftText> draft_in(const RuleFiles& file, const std::string& id) {
    Problems problems{file.label};
    if (!id.empty()) {
        if (std::optional<RuleSlice> slice = rule_slice(file.text, id, problems)) {
            warn_of_unread(file);
            return DraftText{id, *std::move(slice)};
        }
    }
    std::optional<DraftText> draft =
        problems.has_errors() ? std::nullopt : lone_draft(file, problems);
    if (draft && !id.empty() && draft->id != id) {
        problems.error({}, "there is no rule " + id + " in it");
        draft.reset();
    }
    say_file_problems(problems.list(), file);
    return draft;
}

void say_draft_problems(std::vector<Problem> problems, const DraftText& draft,
                        const RuleFiles& file) {
    for (Problem& problem : problems) {
        problem.file = file.label;
        problem.at = draft.slice.in_file(problem.at);
    }
    say_file_problems(problems, file);
}

std::optional<unsigned> seconds_of(const Options& options) {
    constexpr unsigned kUsual = 20;
    if (options.lasts.empty()) {
        return kUsual;
    }
    const Result<Nanoseconds> time = parse_duration(options.lasts);
    if (!time || *time % std::chrono::seconds{1} != Nanoseconds{0} ||
        *time < std::chrono::seconds{10} || *time > std::chrono::seconds{60}) {
        return std::nullopt;
    }
    return static_cast<unsigned>(*time / std::chrono::seconds{1});
}

// The draft takes the place of a rule that runs; another is new.
std::variant<Json, DaemonRefusal> begin_preview(const Options& options, const DraftText& draft,
                                                unsigned seconds) {
    constexpr long kNotFound = 404;
    const auto post = [&](const std::string& query) {
        DaemonRequest request =
            post_json("/v1/previews" + query, {{"text", draft.slice.text}, {"seconds", seconds}});
        request.timeout = kCompilePatience;
        return ask(options, request);
    };
    auto answer = post("?rule=" + url_escape(draft.id));
    const auto* const refusal = std::get_if<DaemonRefusal>(&answer);
    return refusal != nullptr && refusal->status == kNotFound ? post("") : std::move(answer);
}

// Until the answer is there, or a signal ends it.
std::variant<Json, DaemonRefusal> follow_preview(const Options& options, const std::string& name) {
    while (preview_is_to_end == 0) {
        auto answer = ask(options, {.target = "/v1/previews/" + name + "?wait=1"});
        const auto* const document = std::get_if<Json>(&answer);
        if (document == nullptr || !document->at("result").is_null()) {
            return answer;
        }
    }
    (void)ask(options, {.method = "DELETE", .target = "/v1/previews/" + name});
    return DaemonRefusal{.what = "the preview was ended before its time"};
}

std::string answer_text(const Options& options, const Json& document) {
    const Json& result = document.at("result");
    std::string text = preview_text(result);
    if (options.heatmap) {
        for (const Json& map : result.at("heatmaps")) {
            text += "\n" + heatmap_text(map, "", heatmap_columns(terminal_width()));
        }
    }
    return text;
}

}  // namespace

ExitCode run_preview(const Options& options) {
    const std::optional<unsigned> seconds = seconds_of(options);
    if (!seconds) {
        return refuse("--for: a preview lasts from 10s to 60s, in whole seconds", ExitCode::Usage);
    }
    const Result<RuleFiles> file = read_rule_files({options.rule_file});
    if (!file) {
        return refuse(file.error().what);
    }
    const std::optional<DraftText> draft = draft_in(*file, options.rule);
    if (!draft) {
        return ExitCode::Refused;
    }
    (void)std::signal(SIGINT, end_preview);
    (void)std::signal(SIGTERM, end_preview);
    const auto begun = begin_preview(options, *draft, *seconds);
    if (const auto* const refusal = std::get_if<DaemonRefusal>(&begun)) {
        say_draft_problems(refusal->problems, *draft, *file);
        return report(*refusal);
    }
    const Json& document = std::get<Json>(begun);
    say_draft_problems(problems_from(document.at("warnings")), *draft, *file);
    const auto answer = follow_preview(options, document.at("preview").get<std::string>());
    return show_answer(options, answer,
                       [&](const Json& done) { return answer_text(options, done); });
}

}  // namespace sluice

#include "control/active_json.hpp"
#include "control/cli/cluster.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"

#include <fmt/format.h>

#include <algorithm>

// Commands of one call to sluiced, whose answer they show.
namespace sluice {
namespace {

// The number of settings of single keys stands behind the rule's key.
std::string keys_set_text(const Json& rule) {
    const std::size_t set = rule.contains("keys_set") ? rule.at("keys_set").size() : 0;
    return set == 0 ? "" : fmt::format(" ({} set)", set);
}

// Why packets of a limit are handed to the owners of its keys, or those are asked, and by what; and
// how boxes share it.
std::string owners_text(const Json& document) {
    std::string text;
    for (const Json& rule : document.at("rules")) {
        for (const Json& limit : rule.at("limits")) {
            const std::string scope = text_at(limit, "scope");
            if (scope == "owner" || scope == "asked" || limit.contains("cluster")) {
                text += fmt::format("{}, limit {}: at most {}\n", text_at(rule, "id"),
                                    text_at(limit, "name"), text_at(limit, "bound"));
            }
        }
    }
    return text;
}

// Numbers that may be set for single keys.
std::string dynamic_text(const Json& document) {
    std::string text;
    for (const Json& rule : document.at("rules")) {
        if (rule.contains("dynamic")) {
            text += fmt::format("{}, set through the API: {}\n", text_at(rule, "id"),
                                text_at(rule, "dynamic"));
        }
    }
    return text;
}

// Services, and which rules read layer 7 of them.
std::string services_text(const Json& document) {
    std::string text;
    if (document.contains("services") && !document.at("services").empty()) {
        Table table{{{"SERVICE"}, {"PROTOCOL"}, {"MODE"}, {"WHEN"}, {"SETTINGS"}}};
        for (const Json& service : document.at("services")) {
            std::string when = text_at(service, "when");
            std::replace_if(
                when.begin(), when.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
            std::string settings;
            for (const auto& [name, value] : service.at("settings").items()) {
                settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ", name,
                                        value.get<std::string>());
            }
            table.row({text_at(service, "id"), text_at(service, "protocol"),
                       service_mode_text(service), when, settings});
        }
        text = table.text();
    }
    for (const Json& rule : document.at("rules")) {
        if (rule.contains("stance")) {
            text += fmt::format("{} reads layer 7 of: {}\n", text_at(rule, "id"),
                                text_at(rule.at("stance"), "text"));
        }
    }
    return text;
}

// " (mon-fri 09:00-18:00 Europe/Moscow: not before 2026-11-30T06:00:00Z)"; empty: always active.
std::string active_text(const Json& rule) {
    if (!rule.contains("active")) {
        return "";
    }
    const Json& active = rule.at("active");
    return fmt::format(" ({}: {})", text_at(active, "text"), next_text(active));
}

std::string rules_text(const Json& document) {
    const std::string text =
        fmt::format("generation {}{}\n{}\n", text_at(document, "generation"),
                    document.at("file").is_string() ? ", from " + text_at(document, "file") : "",
                    unconfirmed_text(document) + list_problem_text(document));
    Table table{
        {{"RULE"}, {"MODE"}, {"WHEN"}, {"KEY"}, {"LIMIT"}, {"SCOPE"}, {"ON EXCEED"}, {"EVENTS"}}};
    for (const Json& rule : document.at("rules")) {
        std::string when = text_at(rule, "when");
        std::replace_if(
            when.begin(), when.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
        std::vector<std::string> cells{text_at(rule, "id"), mode_text_of(rule),
                                       (when.empty() ? "every packet" : when) + active_text(rule),
                                       text_at(rule, "key")};
        const std::string ban = rule.contains("ban") ? ", ban " + text_at(rule, "ban") : "";
        const std::string action = text_at(rule, "action") + ban;
        const std::string events = rule.contains("events") ? text_at(rule, "events") : "";
        std::string key;
        if (rule.at("limits").empty()) {
            table.row({cells[0], cells[1], cells[2], cells[3], "", "", action, events});
        }
        for (const Json& limit : rule.at("limits")) {
            // Each tier's key stands beside the first of its limits.
            const std::string of_limit = text_at(limit, "key");
            const std::string set = cells[0].empty() ? "" : keys_set_text(rule);
            const std::string shown = of_limit == key ? "" : of_limit;
            table.row({cells[0], cells[1], cells[2], shown + set, text_at(limit, "text"),
                       scope_text(text_at(limit, "scope"), limit.contains("cluster")),
                       cells[0].empty() ? "" : action, cells[0].empty() ? "" : events});
            cells.assign(4, "");
            key = of_limit;
        }
    }
    return text + table.text() + owners_text(document) + dynamic_text(document) +
           services_text(document);
}

std::string mode_text(const Json& document) {
    const auto goes = document.find("goes_with_trial");
    if (goes != document.end() && goes->is_boolean() && goes->get<bool>()) {
        return fmt::format("{} is {} now; if the rules on trial go back, so does its mode\n",
                           text_at(document, "id"), text_at(document, "mode"));
    }
    return fmt::format("{} is {} now, until a rule file is applied that says otherwise\n",
                       text_at(document, "id"), text_at(document, "mode"));
}

std::string set_text(const Json& document) {
    return fmt::format("generation {}, {}", text_at(document, "generation"),
                       counted(count_at(document, "rules"), "rule"));
}

std::string merge_interval_text(const Json& document) {
    return fmt::format(
        "amounts are merged at the latest after {} us, of {} limits; sluice.yaml "
        "says what holds when the dataplane starts again\n",
        count_at(document, "interval_us"), count_at(document, "merged_limits"));
}

// A rule, else a service of that id.
ExitCode show_rule(const Options& options) {
    const auto answer =
        ask(options, {.target = fmt::format("/v1/rules/{}/full", url_escape(options.rule))});
    if (std::holds_alternative<DaemonRefusal>(answer)) {
        const auto running = ask(options, {.target = "/v1/rules"});
        const auto* const document = std::get_if<Json>(&running);
        for (const Json& service : document ? document->at("services") : Json::array()) {
            if (text_at(service, "id") == options.rule) {
                return show_answer(options, service, whole_service_text);
            }
        }
    }
    return show_answer(options, answer, whole_rule_text);
}

}  // namespace

ExitCode run_confirm(const Options& options) {
    if (options.cluster) {
        return confirm_cluster(options);
    }
    return show(options, post_json(options.detach ? "/v1/confirm?detach=1" : "/v1/confirm", {}),
                [](const Json& now) { return fmt::format("confirmed {}\n", set_text(now)); });
}

ExitCode run_merge_interval(const Options& options) {
    return show(options, post_json("/v1/merge", {{"interval", options.word}}), merge_interval_text);
}

namespace {

// A file that is made of it is the file that was applied.
ExitCode show_source(const Options& options) {
    const auto answer = ask(options, {.target = "/v1/rules/files"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& files = std::get<Json>(answer);
    print_file(options.json ? dump_line(files) : folded(source_text(files)));
    return ExitCode::Done;
}

}  // namespace

ExitCode run_rules(const Options& options) {
    if (options.source) {
        return show_source(options);
    }
    if (!options.rule.empty()) {
        return show_rule(options);
    }
    return show(options, {.target = "/v1/rules"}, rules_text);
}

ExitCode run_mode(const Options& options) {
    return show(options,
                {.method = "PUT",
                 .target = fmt::format("/v1/rules/{}/mode{}", url_escape(options.rule),
                                       options.detach ? "?detach=1" : ""),
                 .content_type = "application/json",
                 .body = Json{{"mode", options.word}}.dump()},
                mode_text);
}

}  // namespace sluice

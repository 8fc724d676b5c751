#include "control/active_json.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "lib/base/device_text.hpp"
#include "lib/l7/stream/checksum_trust.hpp"

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

// Why packets of a limit are handed to the owners of its keys, or those are asked, and by what.
std::string owners_text(const Json& document) {
    std::string text;
    for (const Json& rule : document.at("rules")) {
        for (const Json& limit : rule.at("limits")) {
            const std::string scope = text_at(limit, "scope");
            if (scope == "owner" || scope == "asked") {
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
                       text_at(limit, "scope"), cells[0].empty() ? "" : action,
                       cells[0].empty() ? "" : events});
            cells.assign(4, "");
            key = of_limit;
        }
    }
    return text + table.text() + owners_text(document) + dynamic_text(document) +
           services_text(document);
}

std::string mode_text(const Json& document) {
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

bool has_dataplane(const Json& health) {
    return health.at("dataplane").at("connected").get<bool>();
}

// Learning ends by itself where the side sends anything.
constexpr std::string_view kLearningNote =
    "nothing is dropped for a wrong one until 64 of a side came right at a worker; `checksums: "
    "verify` drops from the first frame on";

// Sides of services whose checksums are not verified any more.
std::string trusted_text(const Json& health) {
    std::string text;
    const Json sides = health.value("checksums_trusted", Json());
    for (const Json& one : sides.is_array() ? sides : Json::array()) {
        text += fmt::format("{}: checksums of its {} are trusted: {}\n", text_at(one, "service"),
                            text_at(one, "side"), kTrustingAdvice);
    }
    return text;
}

// Services and those of their sides that are not verified yet, in one line: `web (clients,
// servers), dns (servers)`.
std::string learning_text(const Json& health) {
    std::string services;
    std::string last;
    const Json sides = health.value("checksums_learning", Json());
    for (const Json& one : sides.is_array() ? sides : Json::array()) {
        const std::string service = text_at(one, "service");
        if (service == last) {
            services.pop_back();
            services += ", ";
        } else {
            services += (services.empty() ? "" : ", ") + service + " (";
        }
        services += text_at(one, "side") + ")";
        last = service;
    }
    return services.empty() ? ""
                            : fmt::format("checksums being learnt, which is no fault: {}: {}\n",
                                          services, kLearningNote);
}

// Ports that do not spread frames over workers as `rss` says.
std::string fallen_back_text(const Json& health) {
    std::string text;
    const auto ports = health.find("rss_fallen_back");
    if (ports == health.end() || !ports->is_array()) {
        return text;
    }
    for (const Json& port : *ports) {
        const std::string hashes = text_at(port, "hashes");
        text += fmt::format(
            "port {} {} cannot spread frames by {}: {}\n", text_at(port, "pair"),
            text_at(port, "side"), text_at(port, "asked"),
            port.at("handed_over").get<bool>()
                ? "its workers hand them to one another, which the receiving worker's core limits"
            : hashes.empty()
                ? "one worker gets all of them, or nobody knows which"
                : "it spreads them by " + hashes + ", and limits are counted for that");
    }
    return text;
}

// Programs that take frames before the ports do.
std::string other_programs_text(const Json& health) {
    std::string text;
    const auto programs = health.find("other_programs");
    if (programs == health.end() || !programs->is_array()) {
        return text;
    }
    for (const Json& one : *programs) {
        text += fmt::format("port {} {}: {}\n", text_at(one, "pair"), text_at(one, "side"),
                            other_program_text(text_at(one, "interface"),
                                               static_cast<unsigned>(count_at(one, "program")),
                                               text_at(one, "mode") == "native"));
    }
    return text;
}

// Ports by which nothing goes.
std::string links_down_text(const Json& health) {
    std::string text;
    const auto down = health.find("links_down");
    if (down == health.end() || !down->is_array()) {
        return text;
    }
    for (const Json& port : *down) {
        text += fmt::format("port {} {}: {}\n", text_at(port, "pair"), text_at(port, "side"),
                            port.at("gone").get<bool>() ? "its interface is gone"
                            : port.at("held_down").get<bool>()
                                ? "held down, because the other side of its pair is down"
                                : "its link is down");
    }
    return text;
}

// Sides that what comes to the other one may be too long for.
std::string low_mtus_text(const Json& health) {
    std::string text;
    const auto low = health.find("low_mtus");
    if (low == health.end() || !low->is_array()) {
        return text;
    }
    for (const Json& port : *low) {
        text += fmt::format(
            "port {} {} has an MTU of {}, below the {} that its pair needs: longer packets do not "
            "leave by it (of af_packet: dropped as too_long); `ip link set` gives it back\n",
            text_at(port, "pair"), text_at(port, "side"), count_at(port, "mtu"),
            count_at(port, "needed"));
    }
    return text;
}

// Sides that packets may come to which the pair was not set up for.
std::string raised_mtus_text(const Json& health) {
    std::string text;
    const auto raised = health.find("raised_mtus");
    if (raised == health.end() || !raised->is_array()) {
        return text;
    }
    for (const Json& port : *raised) {
        text += fmt::format(
            "port {} {} has an MTU of {}, above the {} that its pair was started for: longer "
            "packets are lost (too_long, or missed by a port); restart sluice-dataplane, or `ip "
            "link set` gives it back\n",
            text_at(port, "pair"), text_at(port, "side"), count_at(port, "mtu"),
            count_at(port, "started"));
    }
    return text;
}

// Lists that a download or a truncation may have emptied, of a daemon that tells.
std::string empty_lists_text(const Json& health) {
    std::string text;
    for (const Json& list : health.value("empty_lists", Json::array())) {
        text += fmt::format("the list {} has no entry: {} is empty\n", text_at(list, "name"),
                            text_at(list, "file"));
    }
    return text;
}

// Rules that do not judge at this time of day, of a daemon that tells; which is no fault.
std::string inactive_rules_text(const Json& health) {
    std::string text;
    for (const Json& rule : health.value("inactive_rules", Json::array())) {
        text += (text.empty() ? "not active at this time: " : ", ") + rule.get<std::string>();
    }
    return text.empty() ? text : text + "\n";
}

// Webhooks that do not take notices, or did not take all.
std::string notify_text(const Json& health) {
    std::string text;
    for (const Json& webhook : health.value("notify", Json::array())) {
        const std::uint64_t lost = count_at(webhook, "failed") + count_at(webhook, "dropped");
        const Json& problem = webhook.at("problem");
        if (!problem.is_null()) {
            text += fmt::format("the webhook {} does not take notices: {}; {} wait\n",
                                text_at(webhook, "name"), problem.get<std::string>(),
                                count_at(webhook, "queued"));
        }
        if (lost != 0) {
            text += fmt::format("the webhook {} was not told of {} notices since sluiced started\n",
                                text_at(webhook, "name"), lost);
        }
    }
    return text;
}

std::string health_text(const Json& document) {
    const Json& dataplane = document.at("dataplane");
    const std::string text = fmt::format(
        "sluiced: {}\ndataplane: {}\n", text_at(document, "version"),
        has_dataplane(document) ? fmt::format("pid {}, generation {}", dataplane.at("pid").dump(),
                                              text_at(dataplane, "generation"))
                                : "not connected");
    return text + panic_text(document) + trusted_text(document) + fallen_back_text(document) +
           other_programs_text(document) + links_down_text(document) + low_mtus_text(document) +
           raised_mtus_text(document) + list_problem_text(document) + empty_lists_text(document) +
           inactive_rules_text(document) + notify_text(document) + unconfirmed_text(document) +
           learning_text(document);
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
    return show(options, post_json("/v1/confirm", {}),
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

ExitCode run_health(const Options& options) {
    const auto answer = ask(options, {.target = "/v1/health"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& health = std::get<Json>(answer);
    print(options.json ? dump_line(health) : folded(health_text(health)));
    return has_dataplane(health) ? ExitCode::Done : ExitCode::Unreached;
}

ExitCode run_mode(const Options& options) {
    return show(options,
                {.method = "PUT",
                 .target = fmt::format("/v1/rules/{}/mode", url_escape(options.rule)),
                 .content_type = "application/json",
                 .body = Json{{"mode", options.word}}.dump()},
                mode_text);
}

}  // namespace sluice

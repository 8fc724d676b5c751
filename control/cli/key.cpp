#include "control/cli/alone_text.hpp"
#include "control/cli/bulk_ban.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/key_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

DaemonRequest request_of(const Options& options) {
    const std::string resource = fmt::format("/v1/rules/{}/key", url_escape(options.rule));
    if (options.word == "show") {
        std::string query = "?key=" + url_escape(options.key);
        query += options.limit.empty() ? "" : "&limit=" + url_escape(options.limit);
        query += options.tier == 0 ? "" : fmt::format("&tier={}", options.tier);
        return {.target = resource + query};
    }
    Json body{{"key", options.key}, {"action", options.to_burst ? "forgive" : options.word}};
    if (!options.limit.empty()) {
        body["limit"] = options.limit;
    }
    if (options.tier != 0) {
        body["tier"] = options.tier;
    }
    const auto say = [&](const char* name, const std::string& value) {
        if (!value.empty()) {
            body[name] = value;
        }
    };
    say("units", options.units);
    say("rate", options.rate);
    say("burst", options.burst);
    say("count", options.amount);
    say("for", options.lasts);
    say("reason", options.reason);
    if (options.exempt) {
        body["exempt"] = true;
    }
    if (options.cluster) {
        body["cluster"] = true;
    }
    return post_json(resource, body);
}

// The error in the options, found before any call. Empty: none.
std::string wrong_usage(const Options& options) {
    const bool sets = options.word == "set";
    const bool lasts = sets || options.word == "ban";
    const bool numbers = !options.rate.empty() || !options.burst.empty() || !options.amount.empty();
    const bool takes_file = options.word == "ban" || options.word == "unban";
    if (!options.keys_file.empty() && (!takes_file || options.has_key)) {
        return takes_file ? "`key " + options.word + " RULE` takes a KEY or --file, not both"
                          : "--file is of `key ban` and `key unban`";
    }
    if (options.keys_file.empty() && (options.word == "list") == options.has_key) {
        return options.has_key ? "`key list RULE` takes no key"
                               : "KEY is missing; `sluicectl key --help` says what it is";
    }
    if ((options.word == "grant") == options.units.empty()) {
        return options.units.empty()
                   ? "`key grant RULE KEY UNITS` says how many, such as 200 or 64KiB"
                   : "`" + options.units +
                         "` is one word too many: a key is one word, its parts joined by |, such "
                         "as '192.0.2.1|/login'; only `key grant` takes another, its units";
    }
    if (!sets && (numbers || options.exempt)) {
        return "--rate, --burst, --count and --exempt are of `key set`";
    }
    if (sets && numbers == options.exempt) {
        return "`key set` takes --rate, --burst or --count, or else --exempt";
    }
    if (options.cluster && (options.word == "show" || options.word == "list")) {
        return "--cluster is of what changes a key";
    }
    if (options.to_burst && options.word != "reset") {
        return "--to-burst is of `key reset`";
    }
    return !lasts && (!options.lasts.empty() || !options.reason.empty())
               ? "--for and --reason are of `key set` and `key ban`"
               : "";
}

// The answer about what each box of the cluster does once.
std::string act_text(const Json& document) {
    return fmt::format("rule {}, key {}: {}\n{}", text_at(document, "rule"),
                       visible_line(text_at(document, "key")), text_at(document, "action"),
                       cluster_change_text(document));
}

std::string key_answer_text(const Json& document) {
    if (!document.contains("limits") && !document.contains("set")) {
        return act_text(document);
    }
    return document.contains("limits") ? key_text(document) : setting_text(document);
}

// All that is set for keys of the rule.
ExitCode list_keys(const Options& options) {
    auto answer = ask_pages(
        options, {fmt::format("/v1/rules/{}/keys?", url_escape(options.rule)), "keys"}, "0:");
    if (Json* all = std::get_if<Json>(&answer)) {
        all->erase("next");
    }
    return show_answer(options, answer, key_list_text);
}

bool all_answered(const Json& document) {
    return !document.contains("unanswered") || document.at("unanswered").empty();
}

}  // namespace

ExitCode run_key(const Options& options) {
    if (const std::string wrong = wrong_usage(options); !wrong.empty()) {
        return refuse(wrong, ExitCode::Usage);
    }
    if (options.word == "list") {
        return list_keys(options);
    }
    if (!options.keys_file.empty()) {
        return options.word == "ban" ? ban_all_in(options) : unban_all_in(options);
    }
    const auto answer = ask(options, request_of(options));
    const ExitCode exit = show_answer(options, answer, key_answer_text);
    const auto* document = std::get_if<Json>(&answer);
    return document == nullptr || all_answered(*document) ? exit : ExitCode::Refused;
}

}  // namespace sluice

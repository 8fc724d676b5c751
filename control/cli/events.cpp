#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace sluice {
namespace {

constexpr unsigned kWaitSeconds = 20;
// Answers that all that is kept needs: more may come as long as they are read.
constexpr std::uint64_t kMostAnswers = 12;
// sluiced answers at once where too many wait already.
constexpr std::chrono::seconds kPause{1};

// Printed lines are whole, so there is nothing to end but the process: no failure.
void leave(int /*signal*/) {
    std::_Exit(static_cast<int>(ExitCode::Done));
}

void print_lines(const Json& document) {
    if (const auto missed = count_at(document, "missed"); missed != 0) {
        print(dump_line({{"event", "lost"}, {"lost", missed}}));
    }
    for (const Json& event : document.at("events")) {
        print(dump_line(event));
    }
    std::fflush(stdout);
}

DaemonRequest request_of(const Options& options, const std::string& next, unsigned wait) {
    return {.target = fmt::format("/v1/events?rule={}&from={}&wait={}", url_escape(options.rule),
                                  url_escape(next), wait)};
}

bool names_one(const Json& all, const std::string& id) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Json& one) { return text_at(one, "id") == id; });
}

// Events that concern everybody come too.
bool has_event_of(const Json& document, const std::string& rule) {
    const Json& events = document.at("events");
    return std::any_of(events.begin(), events.end(),
                       [&](const Json& event) { return event.value("rule", "") == rule; });
}

// True of a rule that tells of no event: it has limits or a ban, and no `events`.
bool tells_nothing(const Json& running, const std::string& id) {
    return std::ranges::any_of(running.at("rules"), [&](const Json& rule) {
        return text_at(rule, "id") == id && rule.value("events", "") == "none";
    });
}

// No event of the rule was there: nobody knows such a rule or service, perhaps.
ExitCode end_without_events(const Options& options) {
    if (options.rule.empty()) {
        return ExitCode::Done;
    }
    const auto answer = ask(options, {.target = "/v1/rules"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& running = std::get<Json>(answer);
    if (tells_nothing(running, options.rule)) {
        say_error("rule " + options.rule + " has no `events:`, and tells of none");
    }
    return names_one(running.at("rules"), options.rule) ||
                   names_one(running.at("services"), options.rule)
               ? ExitCode::Done
               : refuse("no event, and no rule or service in force is called " + options.rule);
}

}  // namespace

ExitCode run_events(const Options& options) {
    std::string next;
    bool some = false;
    if (options.follow) {
        (void)std::signal(SIGINT, leave);
        (void)std::signal(SIGTERM, leave);
    }
    for (std::uint64_t answers = 1;; ++answers) {
        const auto asked = std::chrono::steady_clock::now();
        const unsigned wait = options.follow && !next.empty() ? kWaitSeconds : 0;
        const auto answer = ask(options, request_of(options, next, wait));
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            return report(*refusal);
        }
        const Json& document = std::get<Json>(answer);
        print_lines(document);
        const bool is_end = document.at("events").empty();
        some = some || has_event_of(document, options.rule);
        if (!options.follow && (is_end || answers == kMostAnswers)) {
            return some ? ExitCode::Done : end_without_events(options);
        }
        if (is_end && wait != 0 && std::chrono::steady_clock::now() - asked < kPause) {
            std::this_thread::sleep_for(kPause);
        }
        next = text_at(document, "next");
    }
}

}  // namespace sluice

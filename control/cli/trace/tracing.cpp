#include "control/cli/trace/tracing.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr unsigned kWaitSeconds = 1;  // a signal is seen no later

volatile std::sig_atomic_t asked_to_end = 0;

void ask_to_end(int /*signal*/) {
    asked_to_end = 1;
}

Json terms_json(const Options& options, bool dropped, unsigned snap) {
    Json terms{{"dropped", dropped}, {"snap", snap}};
    if (options.would_refuse) {
        terms["would_refuse"] = true;
    }
    if (!options.when.empty()) {
        terms["when"] = options.when;
    }
    if (!options.rule.empty()) {
        terms["rule"] = options.rule;
    }
    return terms;
}

// Notes on a trace that has begun.
void say_notes(const Options& options, const Json& begun) {
    say_problems(problems_from(begun.at("warnings")), {"condition", options.when});
    for (const Json& field : begun.at("unread_fields")) {
        say_warning(
            fmt::format("no rule in force reads {}: it is not looked for in packets, and "
                        "the condition finds none",
                        field.get<std::string>()));
    }
}

class Follower {
public:
    Follower(const Options& options, const TraceSink& sink) : options_{options}, sink_{sink} {}

    TraceEnd run(const Json& terms, std::optional<Nanoseconds> lasts) {
        const auto begun = ask(options_, post_json("/v1/traces", terms));
        if (const auto* refusal = std::get_if<DaemonRefusal>(&begun)) {
            say_problems(refusal->problems, {"condition", options_.when});
            end_.exit = report(*refusal);
            return end_;
        }
        say_notes(options_, std::get<Json>(begun));
        name_ = std::get<Json>(begun).at("trace").get<std::string>();
        if (lasts) {
            until_ = std::chrono::steady_clock::now() + *lasts;
        }
        follow();
        return end_;
    }

private:
    void follow() {
        bool goes_on = true;
        while (goes_on && !is_over()) {
            goes_on = take("GET", fmt::format("?wait={}", wait()));
        }
        if (goes_on) {
            (void)take("DELETE", "");
        } else if (end_.exit == ExitCode::Done) {
            (void)ask(options_, {.method = "DELETE", .target = "/v1/traces/" + name_});
        }
    }
    [[nodiscard]] bool is_over() const {
        return asked_to_end != 0 || has_all() ||
               (until_ && std::chrono::steady_clock::now() >= *until_);
    }
    [[nodiscard]] bool has_all() const {
        return options_.count != 0 && end_.shown >= options_.count;
    }
    [[nodiscard]] unsigned wait() const {
        const bool soon = until_ && *until_ - std::chrono::steady_clock::now() <
                                        std::chrono::seconds{kWaitSeconds};
        return soon ? 0 : kWaitSeconds;
    }

    // One answer. False: it was the last.
    bool take(std::string_view method, const std::string& query) {
        const auto answer =
            ask(options_, {.method = method, .target = "/v1/traces/" + name_ + query});
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            end_.exit = report(*refusal);
            return false;
        }
        const Json& document = std::get<Json>(answer);
        end_.left_out = count_at(document, "left_out");
        say_state(document);
        for (const Json& packet : document.at("packets")) {
            if (has_all()) {
                break;
            }
            if (!sink_.take(packet)) {
                return fail();
            }
            ++end_.shown;
        }
        return sink_.flush() || fail();
    }
    bool fail() {
        end_.exit = ExitCode::Refused;
        return false;
    }
    // Once each.
    void say_state(const Json& document) {
        if (!document.at("judges").get<bool>() && !std::exchange(told_idle_, true)) {
            say_warning("no packet is judged: there are no rules, or panic is on");
        }
        if (!document.at("has_rule").get<bool>() && !std::exchange(told_gone_, true)) {
            say_warning("rule " + options_.rule + " is not in force any more");
        }
    }

    const Options& options_;
    const TraceSink& sink_;
    std::string name_;
    TraceEnd end_;
    std::optional<std::chrono::steady_clock::time_point> until_;
    bool told_idle_ = false;
    bool told_gone_ = false;
};

}  // namespace

TraceEnd follow_trace(const Options& options, bool dropped, unsigned snap, const TraceSink& sink) {
    std::optional<Nanoseconds> lasts;
    if (!options.lasts.empty()) {
        const Result<Nanoseconds> time = parse_duration(options.lasts);
        if (!time || *time <= Nanoseconds{0}) {
            say_error("--for: " + (time ? "a trace lasts longer than 0" : time.error().what));
            return {.exit = ExitCode::Usage};
        }
        lasts = *time;
    }
    (void)std::signal(SIGINT, ask_to_end);
    (void)std::signal(SIGTERM, ask_to_end);
    return Follower{options, sink}.run(terms_json(options, dropped, snap), lasts);
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/stats_choice.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/watch.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

StatsChoice choice_of(const Options& options) {
    return {.rules = options.rules, .nonzero = options.nonzero, .rules_alone = !options.json};
}

ExitCode no_such_rule(const std::string& id) {
    say_error("there is no rule " + id + " that is on; `sluicectl rules` lists all");
    return ExitCode::Refused;
}

ExitCode watch_stats(const Options& options) {
    std::optional<Json> before;
    Clock::time_point asked_before;
    const Watch watch{!options.json, options.count};
    return watch.run([&]() {
        auto answer = ask(options, {.target = "/v1/stats"});
        const Clock::time_point asked = Clock::now();
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            return report(*refusal);
        }
        Json& now = std::get<Json>(answer);
        if (const std::string absent = choose_rules(now, choice_of(options)); !absent.empty()) {
            return no_such_rule(absent);
        }
        const std::chrono::duration<double> since = asked - asked_before;
        print(options.json ? dump_line(now)
                           : stats_text(now, before ? &*before : nullptr, since.count()));
        before = std::move(now);
        asked_before = asked;
        return ExitCode::Done;
    });
}

}  // namespace

ExitCode run_stats(const Options& options) {
    if (options.watch) {
        return watch_stats(options);
    }
    auto answer = ask(options, {.target = "/v1/stats"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    Json& now = std::get<Json>(answer);
    if (const std::string absent = choose_rules(now, choice_of(options)); !absent.empty()) {
        return no_such_rule(absent);
    }
    print(options.json ? dump_line(now) : stats_text(now));
    return ExitCode::Done;
}

}  // namespace sluice

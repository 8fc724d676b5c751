#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace sluice {
namespace {

constexpr unsigned kWaitSeconds = 20;
// As many answers as all that is kept needs: more may come as long as they are read.
constexpr std::uint64_t kMostAnswers = 12;
// sluiced answers at once where too many wait already.
constexpr std::chrono::seconds kPause{1};

// What has been printed is whole, so there is nothing to end but the process: no failure.
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

}  // namespace

ExitCode run_events(const Options& options) {
    std::string next;
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
        if (!options.follow && (is_end || answers == kMostAnswers)) {
            return ExitCode::Done;
        }
        if (is_end && wait != 0 && std::chrono::steady_clock::now() - asked < kPause) {
            std::this_thread::sleep_for(kPause);
        }
        next = text_at(document, "next");
    }
}

}  // namespace sluice

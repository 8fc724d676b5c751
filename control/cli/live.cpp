#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/live_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace sluice {
namespace {

constexpr std::chrono::seconds kStaleAfter{3};
constexpr std::chrono::seconds kLiveTimeout{6};
constexpr int kShownRules = 20;

DaemonRequest live_request(const Options& options, std::uint64_t after) {
    return {.target =
                fmt::format("/v1/live?view=rules&after={}&wait=3&sort={}&filter={}&most={}", after,
                            url_escape(options.sort), url_escape(options.filter), kShownRules),
            .timeout = kLiveTimeout};
}

// The newest second each time; the one before, said to be stale, while there is no newer one.
class LiveScreen {
public:
    explicit LiveScreen(const Options& options) : options_{options} {}

    ExitCode show_next() {
        auto answer = ask(options_, live_request(options_, number_));
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            // Nothing is stale before something was shown.
            return shown_.is_null() ? report(*refusal) : show_stale(refusal->what);
        }
        Json& live = std::get<Json>(answer);
        const std::string run = text_at(live, "run");
        if (count_at(live, "snapshot") == number_ && run == run_) {
            return show_stale("sluiced has read no newer one");
        }
        number_ = count_at(live, "snapshot");
        run_ = run;
        shown_ = std::move(live);
        since_ = Clock::now();
        print(options_.json ? dump_line(shown_) : folded(live_text(shown_)));
        return ExitCode::Done;
    }

private:
    using Clock = std::chrono::steady_clock;

    // With --json a line is a second of the box, and there is none.
    ExitCode show_stale(const std::string& why) {
        if (!options_.json) {
            const bool is_stale = Clock::now() - since_ >= kStaleAfter;
            print(folded((is_stale ? stale_text(shown_, why) : "") + live_text(shown_)));
        }
        return ExitCode::Done;
    }

    const Options& options_;
    std::uint64_t number_ = 0;
    std::string run_;
    Json shown_;
    Clock::time_point since_;
};

// False while no dataplane is connected.
bool has_box(const Json& live) {
    const Json problems = live.value("problems", Json::array());
    return std::ranges::none_of(
        problems, [](const Json& problem) { return problem.value("name", "") == "no_dataplane"; });
}

// A second with rates, where there are any.
ExitCode show_live_once(const Options& options) {
    auto answer = ask(options, live_request(options, 0));
    if (const auto* live = std::get_if<Json>(&answer); live != nullptr &&
                                                       live->at("rates").is_null() &&
                                                       count_at(live->at("box"), "workers") != 0) {
        answer = ask(options, live_request(options, count_at(*live, "snapshot")));
    }
    const ExitCode exit = show_answer(options, answer, live_text);
    const auto* const live = std::get_if<Json>(&answer);
    return live != nullptr && !has_box(*live) ? ExitCode::Unreached : exit;
}

}  // namespace

ExitCode run_live(const Options& options) {
    if (options.once) {
        return show_live_once(options);
    }
    LiveScreen screen{options};
    return Watch{!options.json, 0}.run([&] { return screen.show_next(); });
}

}  // namespace sluice

#include "control/daemon/stop_signals.hpp"

#include "control/daemon/rule_compile.hpp"

#include <spdlog/spdlog.h>

#include <ctime>

namespace sluice {
namespace {

constexpr timespec kSignalPause{0, 500'000'000};

// Waits for one of them, or a moment. False: SIGINT or SIGTERM.
bool goes_on(const sigset_t& signals) {
    const int signal = sigtimedwait(&signals, nullptr, &kSignalPause);
    if (signal == SIGHUP) {
        spdlog::info("SIGHUP: nothing to load again; `sluicectl apply` brings new rules");
    }
    return signal != SIGINT && signal != SIGTERM;
}

}  // namespace

sigset_t stop_signals() {
    sigset_t set;
    (void)sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        (void)sigaddset(&set, signal);
    }
    return set;
}

void end_on_signal(const std::stop_token& stop, const sigset_t& signals) {
    while (!stop.stop_requested()) {
        if (!goes_on(signals)) {
            (void)compile_stop().request_stop();
            return;
        }
    }
}

}  // namespace sluice

#include "control/cli/watch.hpp"

#include "control/cli/terminal.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace sluice {
namespace {

constexpr int kPeriodMs = 1'000;
constexpr std::string_view kHome = "\033[H\033[2J";  // cursor to the top, screen cleared

// Turns ^C into something to wait for, so that the terminal is left as it was found.
class Interrupts {
public:
    Interrupts() {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigprocmask(SIG_BLOCK, &signals, nullptr);
        fd_ = signalfd(-1, &signals, SFD_CLOEXEC);
    }
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts() { close(fd_); }

    // True if one came within the period.
    [[nodiscard]] bool wait() const {
        pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
        return poll(&waiting, 1, kPeriodMs) != 0;
    }

private:
    int fd_ = -1;
};

}  // namespace

ExitCode Watch::run(const std::function<ExitCode()>& show) const {
    const Interrupts interrupts;
    const bool redraw = redraw_ && isatty(STDOUT_FILENO) != 0;
    for (std::uint64_t shown = 1;; ++shown) {
        if (redraw) {
            print_exact(kHome);
        } else if (redraw_ && shown > 1) {
            print("\n");
        }
        const ExitCode outcome = show();
        std::fflush(stdout);
        if (outcome != ExitCode::Done || shown == count_ || interrupts.wait()) {
            return outcome;
        }
    }
}

}  // namespace sluice

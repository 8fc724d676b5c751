#include "lib/policy/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

// The child dies with its parent, inherits no signal handlers or masks, and crashes silently.
void leave_the_parent() noexcept {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    for (const int signal :
         {SIGPROF, SIGALRM, SIGTERM, SIGINT, SIGPIPE, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        (void)std::signal(signal, SIG_DFL);
    }
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Moves the pipe's end to descriptor 3, closes all above it, and returns it.
int keep_only(int pipe) noexcept {
    constexpr int kPipe = 3;
    const int end = pipe == kPipe ? pipe : dup2(pipe, kPipe);
    (void)close_range(kPipe + 1, ~0U, 0);
    return end;
}

// An exception (there is no memory) ends the process: nothing of the caller is unwound here.
// NOLINTNEXTLINE(bugprone-exception-escape)
[[noreturn]] void run(const std::function<void(const ChildOutput&)>& work, int pipe) noexcept {
    leave_the_parent();
    work(ChildOutput{keep_only(pipe)});
    _exit(0);
}

// Processor time of the child so far; 0 once it has ended.
std::chrono::nanoseconds computed_by(pid_t child) noexcept {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return {};
    }
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

// False: the child has neither written nor computed for so long. A sleep that looks again and again
// for a lock is no computing, so a thousandth of the time is the least that counts.
bool wait_for_output(int pipe, pid_t child, std::chrono::milliseconds idle) noexcept {
    constexpr int kLeastShare = 1000;
    while (true) {
        const std::chrono::nanoseconds before = computed_by(child);
        pollfd readable{.fd = pipe, .events = POLLIN, .revents = 0};
        const int ready = poll(&readable, 1, static_cast<int>(idle.count()));
        if (ready > 0) {
            return true;
        }
        if (ready == 0 &&
            computed_by(child) - before < std::chrono::nanoseconds{idle} / kLeastShare) {
            return false;
        }
    }
}

// Reads up to the end of the pipe, `most` bytes, or until the child is idle.
std::vector<std::byte> read_all(int pipe, pid_t child, std::size_t most,
                                std::chrono::milliseconds idle) {
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    std::vector<std::byte> bytes;
    std::size_t size = 0;
    while (size < most) {
        if (!wait_for_output(pipe, child, idle)) {
            (void)kill(child, SIGKILL);
            break;
        }
        bytes.resize(std::min(most, size + kPiece));
        const ssize_t got = read(pipe, bytes.data() + size, bytes.size() - size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
        size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    bytes.resize(size);
    return bytes;
}

}  // namespace

void ChildOutput::put(ByteView bytes) const noexcept {
    while (!bytes.empty()) {
        const ssize_t written = write(pipe_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            _exit(1);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
}

std::optional<std::vector<std::byte>> run_in_child(
    const std::function<void(const ChildOutput&)>& work, std::size_t most,
    std::chrono::milliseconds idle) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::nullopt;
    }
    const pid_t child = fork();
    if (child == 0) {
        run(work, ends[1]);
    }
    (void)close(ends[1]);
    std::optional<std::vector<std::byte>> output;
    if (child > 0) {
        output = read_all(ends[0], child, most, idle);
    }
    (void)close(ends[0]);
    if (child > 0) {
        (void)waitpid(child, nullptr, 0);
    }
    return output;
}

void set_timer(__itimer_which which, std::uint64_t micros) noexcept {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(micros / 1'000'000);
    timer.it_value.tv_usec = static_cast<suseconds_t>(micros % 1'000'000);
    (void)setitimer(which, &timer, nullptr);
}

std::uint64_t left_of_timer(__itimer_which which) noexcept {
    itimerval timer{};
    (void)getitimer(which, &timer);
    return static_cast<std::uint64_t>(timer.it_value.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(timer.it_value.tv_usec);
}

}  // namespace sluice

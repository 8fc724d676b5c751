#include "lib/confine/every_thread.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

#include <dirent.h>
#include <linux/capability.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr int kPatienceSeconds = 5;

// For the handler. Written before the first signal is sent.
CapabilityMask mask_to_keep = 0;
sem_t dropped;
sem_t failed;

// Drops the capabilities of this thread alone; safe in a handler of a signal.
bool drop_own() noexcept {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    if (::syscall(SYS_capget, &head, sets.data()) != 0) {
        return false;
    }
    for (unsigned i = 0; i < sets.size(); ++i) {
        const auto part = static_cast<std::uint32_t>(mask_to_keep >> (32 * i));
        sets[i].permitted &= part;
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    // The bounding set first: it takes a capability that may be about to go.
    for (unsigned one = 0; one < 64; ++one) {
        if (::prctl(PR_CAPBSET_READ, one, 0, 0, 0) == 1 && (mask_to_keep >> one & 1) == 0) {
            (void)::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);  // refused to who has none to pass on
        }
    }
    return ::syscall(SYS_capset, &head, sets.data()) == 0;
}

void handle(int /*signal*/) {
    const int error = errno;
    (void)sem_post(drop_own() ? &dropped : &failed);
    errno = error;
}

// Sends the signal to all threads but this one. -> how many there are.
int signal_others(int signal) {
    DIR* tasks = ::opendir("/proc/self/task");
    if (tasks == nullptr) {
        return -1;
    }
    int sent = 0;
    while (const dirent* entry = ::readdir(tasks)) {
        int thread = 0;
        const char* end = entry->d_name + std::strlen(entry->d_name);
        const bool number = std::from_chars(entry->d_name, end, thread).ptr == end;
        if (number && thread != static_cast<int>(::syscall(SYS_gettid)) &&
            ::syscall(SYS_tgkill, ::getpid(), thread, signal) == 0) {
            ++sent;
        }
    }
    (void)::closedir(tasks);
    return sent;
}

bool await(int threads) {
    timespec deadline{};
    (void)::clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += kPatienceSeconds;
    while (threads > 0) {
        if (sem_timedwait(&dropped, &deadline) == 0) {
            --threads;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

}  // namespace

Result<Done> on_every_thread(CapabilityMask left) {
    const int signal = SIGRTMAX - 1;
    mask_to_keep = left;
    if (sem_init(&dropped, 0, 0) != 0 || sem_init(&failed, 0, 0) != 0) {
        return Error{Errc::Refused, "cannot count threads"};
    }
    struct sigaction ours{};
    ours.sa_handler = handle;
    ours.sa_flags = SA_RESTART;
    struct sigaction before{};
    (void)::sigaction(signal, &ours, &before);
    const int others = signal_others(signal);
    const bool all = others >= 0 && await(others);
    if (all) {
        (void)::sigaction(signal, &before, nullptr);
    }
    if (!all || !drop_own()) {
        return Error{Errc::Refused, "not every thread gives its capabilities up"};
    }
    return Done{};
}

}  // namespace sluice

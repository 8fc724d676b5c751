#include "control/daemon/log.hpp"
#include "control/store/store_access.hpp"
#include "control/store/store_loop.hpp"
#include "control/store/store_settings.hpp"
#include "lib/confine/confine.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <csignal>

#include <sys/random.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace {

using namespace sluice;
constexpr int kRefused = 1;
constexpr std::array kStateWords{"away", "refused", "fenced", "ready"};

// Births of partitions are random numbers.
bool gives_random_numbers() {
    std::uint64_t number = 0;
    return ::getrandom(&number, sizeof(number), 0) == ssize_t{sizeof(number)};
}

Fd stop_descriptor() {
    sigset_t set;
    (void)sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM}) {
        (void)sigaddset(&set, signal);
    }
    (void)::sigprocmask(SIG_BLOCK, &set, nullptr);
    return Fd{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
}

Result<Done> confine(const StoreSettings& settings) {
    if (!settings.user.empty()) {
        if (const Result<Done> done = become_user(settings.user); !done) {
            return done.error();
        }
    }
    if (const Result<Done> done = keep_capabilities({}); !done) {
        return done.error();
    }
    return refuse_system_calls(Programs::No);
}

void tell_people(const StoreLinkReport& report) {
    const char* state = kStateWords[static_cast<std::size_t>(report.state)];
    if (report.state == StoreLinkState::Ready) {
        spdlog::info("the store is there: slot {}", report.slot);
        (void)::sd_notifyf(0, "STATUS=the store is there: slot %u", unsigned{report.slot});
    } else {
        spdlog::warn("{}: {}", state, report.why);
        (void)::sd_notifyf(0, "STATUS=%s: %s", state, report.why.c_str());
    }
}

int run(const StoreSettings& settings) {
    set_up_log(settings.log_level, settings.log_format);
    const Fd stop = stop_descriptor();
    if (!settings.store) {
        spdlog::info("sluice.yaml names no cluster.store: there is nothing to do");
        (void)::sd_notify(0, "READY=1");
        return 0;
    }
    Result<StoreAccess> access = open_access(*settings.store);
    if (!access) {
        spdlog::error("{}", access.error().what);
        return kRefused;
    }
    if (const Result<Done> done = confine(settings); !done) {
        spdlog::error("{}", done.error().what);
        return kRefused;
    }
    if (!gives_random_numbers() || !stop.is_open()) {
        spdlog::error("the system gives no random numbers or no descriptor for signals");
        return kRefused;
    }
    StoreLoop loop{settings.socket, StoreLink{*std::move(access)}, tell_people};
    spdlog::info("speaking for {}", settings.socket);
    (void)::sd_notify(0, "READY=1");
    loop.run(stop.get());
    (void)::sd_notify(0, "STOPPING=1");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    int exit_code = 0;
    const std::optional<StoreSettings> settings = read_store_settings(argc, argv, exit_code);
    return settings ? run(*settings) : exit_code;
}

#include "control/daemon/api/api.hpp"
#include "control/daemon/http_server.hpp"
#include "control/daemon/settings.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>

#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace {

using namespace sluice;

constexpr int kRefused = 1;
constexpr std::chrono::milliseconds kTick{500};

volatile std::sig_atomic_t asked_to_stop = 0;

void set_up_log(const Settings& settings) {
    auto logger = spdlog::stderr_logger_mt("sluiced");
    const std::string& format = settings.log_format;
    logger->set_pattern(format == "json"
                            ? R"({"time":"%Y-%m-%dT%H:%M:%SZ","level":"%l","message":"%v"})"
                        : format == "journal" ? "%v"
                                              : "%Y-%m-%dT%H:%M:%SZ %l %v",
                        spdlog::pattern_time_type::utc);
    spdlog::set_default_logger(std::move(logger));
    spdlog::set_level(spdlog::level::from_str(settings.log_level));
}

// The rule file of the configuration, when nothing was ever applied.
void apply_first_rules(const Settings& settings, RuleKeeper& rules) {
    if (settings.rules.empty() || rules.view().generation != 0) {
        return;
    }
    std::ifstream file{settings.rules, std::ios::binary};
    if (!file) {
        spdlog::error("cannot read {}; going on without rules", settings.rules);
        return;
    }
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const Change change = rules.apply(text, settings.rules, false);
    for (const Problem& problem : change.warnings) {
        spdlog::warn("{}", render(problem, text));
    }
    if (change.refusal) {
        spdlog::error("{} was not applied: {}", settings.rules, change.refusal->what);
    } else {
        spdlog::info("applied {}", settings.rules);
    }
}

// Keeps the connection: when it is there again, the dataplane and we agree on the rules.
void keep_link(const Settings& settings, DataplaneLink& link, RuleKeeper& rules) {
    bool told = false;
    while (asked_to_stop == 0) {
        if (!link.check()) {
            if (const Result<Welcome> welcome = link.connect()) {
                rules.meet(*welcome);
                apply_first_rules(settings, rules);
                told = false;
            } else if (!told) {
                spdlog::warn("{}; trying again", welcome.error().what);
                told = true;
            }
        }
        ::usleep(static_cast<unsigned>(std::chrono::microseconds{kTick}.count()));
    }
}

int run(const Settings& settings) {
    set_up_log(settings);
    DataplaneLink link{settings.dataplane_socket};
    RuleKeeper rules{Store{settings.state_dir}, link};
    Audit audit{settings.state_dir};
    Services services{rules, link, audit};
    const auto server = HttpServer::start(
        settings.control, [&](const HttpRequest& request) { return route(request, services); });
    if (!server) {
        spdlog::error("{}", server.error().what);
        return kRefused;
    }
    (void)sd_notify(0, "READY=1");
    spdlog::info("serving {}", settings.control.path);
    keep_link(settings, link, rules);
    (void)sd_notify(0, "STOPPING=1");
    spdlog::info("stopping");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto stop = [](int) { asked_to_stop = 1; };
    (void)std::signal(SIGINT, stop);
    (void)std::signal(SIGTERM, stop);
    (void)std::signal(SIGPIPE, SIG_IGN);
    int exit_code = 0;
    const std::optional<Settings> settings = read_settings(argc, argv, exit_code);
    return settings ? run(*settings) : exit_code;
}

#include "dataplane/control_server.hpp"
#include "dataplane/dataplane.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/launcher.hpp"
#include "dataplane/options.hpp"
#include "lib/base/log.hpp"

#include <csignal>
#include <cstdio>

#include <systemd/sd-daemon.h>

namespace {

using namespace sluice;

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

volatile std::sig_atomic_t asked_to_stop = 0;

int fail(int code, const Error& error) {
    log_error(error.what);
    return code;
}

// What the command line asks for, with --config replaced by what the file says.
Result<CommandLine> read_command_line(const std::vector<std::string>& arguments) {
    Result<CommandLine> line = parse_command_line(arguments);
    if (!line || line->kind != CommandLine::Kind::Config) {
        return line;
    }
    Result<std::vector<std::string>> options = options_from_config(line->config);
    if (!options) {
        return options.error();
    }
    options->insert(options->end(), line->rest.begin(), line->rest.end());
    return parse_command_line(*options);
}

// Ports, workers and the control socket, until somebody asks to stop.
int serve(const DataplaneOptions& options) {
    const Result<std::unique_ptr<Dataplane>> dataplane = Dataplane::make(options);
    if (!dataplane) {
        return fail(kRefused, dataplane.error());
    }
    Result<ControlServer> server = ControlServer::listen(options.socket, **dataplane);
    if (!server) {
        return fail(kRefused, server.error());
    }
    (void)sd_notify(0, "READY=1");
    log_info("running");
    while (asked_to_stop == 0) {
        constexpr std::chrono::milliseconds kTick{100};
        server->serve(kTick);
        (*dataplane)->keep_house();
        (void)sd_notify(0, "WATCHDOG=1");
    }
    (void)sd_notify(0, "STOPPING=1");
    log_info("stopping");
    return 0;
}

int run(const DataplaneOptions& options) {
    set_log_level(options.log_level);
    if (const Result<Done> eal = start_eal(options); !eal) {
        return fail(kRefused, eal.error());
    }
    const int code = serve(options);
    end_eal();
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    const auto stop = [](int) { asked_to_stop = 1; };
    (void)std::signal(SIGINT, stop);
    (void)std::signal(SIGTERM, stop);
    const Result<CommandLine> line = read_command_line({argv + 1, argv + argc});
    if (!line) {
        return fail(line.error().code == Errc::Refused ? kRefused : kWrongUsage, line.error());
    }
    switch (line->kind) {
        case CommandLine::Kind::Help:
            return std::fputs(usage().c_str(), stdout) < 0 ? kRefused : 0;
        case CommandLine::Kind::Version:
            return std::puts("sluice-dataplane " SLUICE_VERSION) < 0 ? kRefused : 0;
        default:
            return run(line->options);
    }
}

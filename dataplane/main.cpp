#include "dataplane/config/launcher.hpp"
#include "dataplane/config/options.hpp"
#include "dataplane/control/serve.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/state/state_folder.hpp"
#include "lib/base/log.hpp"

#include <csignal>
#include <cstdio>

#include <unistd.h>

namespace {

using namespace sluice;

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

volatile std::sig_atomic_t asked_to_stop = 0;

int fail(int code, const Error& error) {
    log_error(error.what);
    return code;
}

int run(const DataplaneOptions& options) {
    set_log_level(options.log_level);
    if (const Result<Done> eal = start_eal(options); !eal) {
        return fail(kRefused, eal.error());
    }
    const Result<Done> served = serve(options, asked_to_stop);
    end_eal();
    return served ? 0 : fail(kRefused, served.error());
}

// Rules, buckets and secrets; not while a dataplane has them.
int forget(const DataplaneOptions& options) {
    const Result<StateFolder> folder = StateFolder::open(options.state_dir);
    if (!folder) {
        return fail(kRefused, folder.error());
    }
    const Result<Done> done = folder->forget();
    if (done && !options.snapshot_file.empty()) {
        for (const char* ending : {"", ".new", ".bad"}) {
            (void)::unlink((options.snapshot_file + ending).c_str());
        }
    }
    return done ? 0 : fail(kRefused, done.error());
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
        case CommandLine::Kind::Forget:
            return forget(line->options);
        default:
            return run(line->options);
    }
}

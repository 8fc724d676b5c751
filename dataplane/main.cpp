#include "dataplane/box/dataplane.hpp"
#include "dataplane/config/command_line.hpp"
#include "dataplane/config/read_box.hpp"
#include "dataplane/control/serve.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/port/interface_hold.hpp"
#include "dataplane/state/kept_ports.hpp"
#include "dataplane/state/state_folder.hpp"
#include "dataplane/xdp/left_behind.hpp"
#include "dataplane/xdp/pins.hpp"
#include "lib/base/device_text.hpp"
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

// The programs at its interfaces, wherever they are pinned.
Result<Done> free_interfaces(const BoxConfig& box) {
    for (const PairConfig& pair : box.pairs) {
        for (const PortConfig* port : {&pair.outside, &pair.inside}) {
            const Result<std::vector<InterfaceHold>> held = hold_interfaces(port->device);
            if (!held) {
                return held.error();
            }
            for (const std::string& interface : interfaces_of(port->device)) {
                if (const Result<Done> done = remove_left_behind(interface, ""); !done) {
                    return done;
                }
            }
        }
    }
    return Done{};
}

// Rules, buckets and secrets, the key of databases among them; not while a dataplane has them.
int forget(const BoxConfig& box) {
    const Result<StateFolder> folder = StateFolder::open_to_forget(box.state_dir);
    if (!folder && folder.error().code == Errc::Refused) {
        return fail(kRefused, folder.error());
    }
    if (const Result<Done> freed = free_interfaces(box); !freed) {
        return fail(kRefused, freed.error());
    }
    if (const Result<Done> unpinned = remove_pins(box); !unpinned) {
        return fail(kRefused, unpinned.error());
    }
    if (!folder) {
        return fail(kRefused, folder.error());
    }
    // Settings that cannot be changed back stay.
    const Result<Done> restored = restore_all_in(box.state_dir);
    const Result<Done> done = folder->forget();
    if (done && !box.snapshot_file.empty()) {
        for (const char* ending : {"", ".new", ".bad", ".unread"}) {
            (void)::unlink((box.snapshot_file + ending).c_str());
        }
    }
    if (!restored) {
        (void)fail(kRefused, restored.error());
    }
    if (!done) {
        (void)fail(kRefused, done.error());
    }
    return restored && done ? 0 : kRefused;
}

// Help, version, or the end of what is kept.
int run_without_ports(const CommandLine& line) {
    switch (line.kind) {
        case CommandLine::Kind::Help:
            return std::fputs(usage().c_str(), stdout) < 0 ? kRefused : 0;
        case CommandLine::Kind::Version:
            return std::puts("sluice-dataplane " SLUICE_VERSION) < 0 ? kRefused : 0;
        default:
            return forget(line.box);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto stop = [](int) { asked_to_stop = 1; };
    (void)std::signal(SIGINT, stop);
    (void)std::signal(SIGTERM, stop);
    const Result<CommandLine> line = parse_command_line({argv + 1, argv + argc}, read_box_file);
    if (!line) {
        return fail(line.error().code == Errc::Refused ? kRefused : kWrongUsage, line.error());
    }
    if (line->kind != CommandLine::Kind::Run) {
        return run_without_ports(*line);
    }
    set_log_level(line->box.log_level);
    if (const Result<Done> eal = start_eal(line->box, line->eal); !eal) {
        return fail(kRefused, eal.error());
    }
    Result<Done> done = Done{};
    if (const auto dataplane = Dataplane::make(line->box)) {
        (*dataplane)->workers().launch();  // DpdkWorker::run() on every lcore but this one
        done = serve(**dataplane, line->box, asked_to_stop);
    } else {
        done = dataplane.error();
    }
    end_eal();
    return done ? 0 : fail(kRefused, done.error());
}

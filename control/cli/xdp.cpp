#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/table.hpp"

#include <fmt/format.h>

// The program in the kernel at af_xdp ports, as the dataplane tells of it.
namespace sluice {
namespace {

std::string milliseconds(const Json& nanoseconds) {
    return fmt::format("{:.1f} ms", static_cast<double>(nanoseconds.get<std::uint64_t>()) / 1e6);
}

std::string counted(const Json& kernel, const char* member) {
    return grouped(kernel.at(member).get<std::uint64_t>());
}

// Networks that it drops, of as many as it may.
std::string early(const Json& kernel) {
    return counted(kernel, "early_capacity") == "0"
               ? "-"
               : counted(kernel, "early_networks") + "/" + counted(kernel, "early_capacity");
}

// Who decides about the frames of a port.
std::string decides(const Json& kernel) {
    if (!kernel.at("takes_over").get<bool>()) {
        return "box";
    }
    return kernel.at("fail").get<std::string>() == "open" ? "kernel forwards" : "kernel drops";
}

std::string xdp_text(const Json& document) {
    Table table{{{"PAIR"},
                 {"SIDE"},
                 {"MODE"},
                 {"PROGRAM", kRight},
                 {"DECIDES"},
                 {"FAIL"},
                 {"HEARTBEAT", kRight},
                 {"LAST", kRight},
                 {"BRIDGED", kRight},
                 {"DROPPED", kRight},
                 {"EARLY", kRight},
                 {"LEFT OUT", kRight},
                 {"MANAGED", kRight},
                 {"REFUSED", kRight}}};
    bool any = false;
    for (const Json& port : document.at("ports")) {
        const Json& kernel = port.at("kernel");
        if (kernel.is_null()) {
            continue;
        }
        any = true;
        table.row({port.at("pair").get<std::string>(), port.at("side").get<std::string>(),
                   kernel.at("mode").get<std::string>(),
                   fmt::to_string(kernel.at("program").get<std::uint64_t>()), decides(kernel),
                   kernel.at("fail").get<std::string>(), milliseconds(kernel.at("heartbeat_ns")),
                   milliseconds(kernel.at("beat_age_ns")), counted(kernel, "bridged_packets"),
                   counted(kernel, "dropped_packets"), early(kernel),
                   counted(kernel, "early_left_out"), counted(kernel, "managed_packets"),
                   counted(kernel, "managed_refused")});
    }
    return any ? table.text()
               : "the kernel has no program at any port; `kernel` of sluice.yaml puts one at pairs "
                 "of net_af_xdp ports\n";
}

}  // namespace

ExitCode run_xdp(const Options& options) {
    return show(options, {.target = "/v1/ports"}, xdp_text);
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/table.hpp"

#include <fmt/format.h>

// The program in the kernel at af_xdp ports, as the dataplane tells of it.
namespace sluice {
namespace {

constexpr std::size_t kColumns = 14;

std::string in_milliseconds(const Json& nanoseconds) {
    return fmt::format("{:.1f} ms", static_cast<double>(nanoseconds.get<std::uint64_t>()) / 1e6);
}

std::string member_text(const Json& kernel, const char* member) {
    return grouped(count_at(kernel, member));
}

// Networks that it drops, of as many as it may.
std::string early(const Json& kernel) {
    return member_text(kernel, "early_capacity") == "0"
               ? "-"
               : member_text(kernel, "early_networks") + "/" +
                     member_text(kernel, "early_capacity");
}

// Who decides about the frames of a port.
std::string decides(const Json& kernel) {
    if (!kernel.at("takes_over").get<bool>()) {
        return "box";
    }
    return text_at(kernel, "fail") == "open" ? "kernel forwards" : "kernel drops";
}

// A program at a port that is not the box's: its driver's, or somebody else's.
bool add_other(const Json& port, Table& table) {
    const auto other = port.find("other_program");
    if (other == port.end() || other->is_null()) {
        return false;
    }
    std::vector<std::string> row{
        text_at(port, "pair"), text_at(port, "side"), text_at(*other, "mode"),
        fmt::to_string(count_at(*other, "program")), text_at(*other, "owner")};
    row.resize(kColumns, "-");
    table.row(std::move(row));
    return true;
}

bool is_unknown(const Json& port) {
    const auto other = port.find("other_program");
    return other != port.end() && !other->is_null() && text_at(*other, "owner") == "unknown";
}

constexpr const char* kUnknown =
    "unknown: a program that is not this box's takes each frame first; `sluicectl health` says "
    "what to do\n";

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
    bool any_unknown = false;
    for (const Json& port : document.at("ports")) {
        const Json& kernel = port.at("kernel");
        if (kernel.is_null()) {
            any = add_other(port, table) || any;
            any_unknown = any_unknown || is_unknown(port);
            continue;
        }
        any = true;
        table.row({text_at(port, "pair"), text_at(port, "side"), text_at(kernel, "mode"),
                   fmt::to_string(count_at(kernel, "program")), decides(kernel),
                   text_at(kernel, "fail"), in_milliseconds(kernel.at("heartbeat_ns")),
                   in_milliseconds(kernel.at("beat_age_ns")),
                   member_text(kernel, "bridged_packets"), member_text(kernel, "dropped_packets"),
                   early(kernel), member_text(kernel, "early_left_out"),
                   member_text(kernel, "managed_packets"), member_text(kernel, "managed_refused")});
    }
    return any ? table.text() + (any_unknown ? kUnknown : "")
               : "the kernel has no program at the interface of any port; `kernel` of sluice.yaml "
                 "puts one at pairs "
                 "of net_af_xdp ports\n";
}

}  // namespace

ExitCode run_xdp(const Options& options) {
    return show(options, {.target = "/v1/ports"}, xdp_text);
}

}  // namespace sluice

#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/interface_programs.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

// The program in the kernel at af_xdp ports, as the dataplane tells of it; without one, as the
// kernel does.
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

// The decider about the frames of a port.
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

// In the order of InterfaceProgram::Does.
constexpr auto kDoes = std::to_array<std::string_view>(
    {"unknown", "another program", "kernel forwards", "kernel drops", "box"});

std::string_view does_text(const InterfaceProgram& one) {
    return kDoes[static_cast<std::size_t>(one.does)];
}

// A box in a network namespace of its own has its ports there.
constexpr const char* kElsewhere =
    "only interfaces of this network namespace are seen from here; of another: `ip netns exec "
    "NAMESPACE sluicectl xdp status`\n";

std::string found_text(const std::vector<InterfaceProgram>& found) {
    if (found.empty()) {
        return std::string{"the kernel has no program at any interface; "} + kElsewhere;
    }
    Table table{{{"INTERFACE"}, {"MODE"}, {"PROGRAM", kRight}, {"NAME"}, {"DECIDES"}}};
    for (const InterfaceProgram& one : found) {
        table.row({one.interface, one.native ? "native" : "generic", fmt::to_string(one.program),
                   one.name.empty() ? "-" : one.name, std::string{does_text(one)}});
    }
    return table.text() + kElsewhere;
}

Json found_json(const std::vector<InterfaceProgram>& found) {
    Json interfaces = Json::array();
    for (const InterfaceProgram& one : found) {
        interfaces.push_back({{"interface", one.interface},
                              {"mode", one.native ? "native" : "generic"},
                              {"program", one.program},
                              {"name", one.name},
                              {"decides", does_text(one)}});
    }
    return {{"interfaces", std::move(interfaces)}};
}

// Nobody tells of the ports: whether the kernel goes on without a box is what is asked just then.
void show_interfaces(const Options& options) {
    const Result<std::vector<InterfaceProgram>> found = interface_programs();
    if (!found) {
        say_error(found.error().what);
        return;
    }
    print(options.json ? dump_line(found_json(*found)) : found_text(*found));
}

}  // namespace

ExitCode run_xdp(const Options& options) {
    const auto answer = ask(options, {.target = "/v1/ports"});
    const auto* refusal = std::get_if<DaemonRefusal>(&answer);
    if (refusal == nullptr || refusal->exit != ExitCode::Unreached || !options.url.empty()) {
        return show_answer(options, answer, xdp_text);
    }
    const ExitCode exit = report(*refusal);
    show_interfaces(options);
    return exit;
}

}  // namespace sluice

#include "control/daemon/api/api.hpp"
#include "control/daemon/api/stat_json.hpp"
#include "lib/rules/box_config.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

// A program at the interface that is not this box's: it takes frames before the port, unless the
// port's driver has put it there. null: none.
nlohmann::ordered_json other_program(const PortStats& port) {
    if (port.kernel.attached || port.kernel.program == 0) {
        return nullptr;
    }
    return {{"program", port.kernel.program},
            {"mode", port.kernel.native ? "native" : "generic"},
            {"owner", port.kernel.is_others(port.driver) ? "unknown" : "driver"}};
}

// null: the kernel has no program of this box at the port.
nlohmann::ordered_json kernel_part(const KernelPortStats& kernel) {
    if (!kernel.attached) {
        return nullptr;
    }
    nlohmann::ordered_json json = numbers_json(kernel);
    json["mode"] = kernel.native ? "native" : "generic";
    json["fail"] = kKernelFailNames[static_cast<std::size_t>(
        kernel.fail_open ? KernelFail::Open : KernelFail::Closed)];
    json["takes_over"] = kernel.takes_over();
    return json;
}

}  // namespace

HttpResponse get_ports(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    if (!stats) {
        return no_dataplane(stats.error());
    }
    nlohmann::ordered_json ports = nlohmann::ordered_json::array();
    for (const PortStats& port : stats->ports) {
        nlohmann::ordered_json& json = ports.emplace_back(numbers_json(port));
        json["kernel"] = kernel_part(port.kernel);
        json["other_program"] = other_program(port);
    }
    return json_response({{"ports", std::move(ports)}});
}

}  // namespace sluice

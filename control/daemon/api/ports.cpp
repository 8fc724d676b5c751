#include "control/daemon/api/api.hpp"
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
    return {{"mode", kernel.native ? "native" : "generic"},
            {"program", kernel.program},
            {"fail", kKernelFailNames[static_cast<std::size_t>(
                         kernel.fail_open ? KernelFail::Open : KernelFail::Closed)]},
            {"heartbeat_ns", kernel.heartbeat_ns},
            {"beat_age_ns", kernel.beat_age_ns},
            {"takes_over", kernel.takes_over()},
            {"bridged_packets", kernel.bridged_packets},
            {"bridged_bytes", kernel.bridged_bytes},
            {"dropped_packets", kernel.dropped_packets},
            {"dropped_bytes", kernel.dropped_bytes},
            {"early_capacity", kernel.early_capacity},
            {"early_networks", kernel.early_networks},
            {"early_left_out", kernel.early_left_out},
            {"managed_packets", kernel.managed_packets},
            {"managed_refused", kernel.managed_refused}};
}

}  // namespace

HttpResponse get_ports(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    if (!stats) {
        return no_dataplane(stats.error());
    }
    nlohmann::ordered_json ports = nlohmann::ordered_json::array();
    for (const PortStats& port : stats->ports) {
        ports.push_back({{"pair", port.pair},
                         {"side", port.side},
                         {"device", port.device},
                         {"driver", port.driver},
                         {"link_up", port.link_up},
                         {"held_down", port.held_down},
                         {"gone", port.gone},
                         {"times_gone", port.times_gone},
                         {"mtu", port.mtu},
                         {"set_mtu", port.set_mtu},
                         {"rx_queues", port.rx_queues},
                         {"tx_queues", port.tx_queues},
                         {"rss", port.rss},
                         {"asked", port.asked},
                         {"hashes", port.hashes},
                         {"handed_over", port.handed_over},
                         {"rx_packets", port.rx_packets},
                         {"rx_bytes", port.rx_bytes},
                         {"tx_packets", port.tx_packets},
                         {"tx_bytes", port.tx_bytes},
                         {"rx_missed", port.rx_missed},
                         {"rx_no_mbuf", port.rx_no_mbuf},
                         {"rx_errors", port.rx_errors},
                         {"tx_errors", port.tx_errors},
                         {"tx_full", port.tx_full},
                         {"kernel", kernel_part(port.kernel)},
                         {"other_program", other_program(port)}});
    }
    return json_response({{"ports", std::move(ports)}});
}

}  // namespace sluice

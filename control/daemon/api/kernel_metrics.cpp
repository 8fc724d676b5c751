#include "control/daemon/api/kernel_metrics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {
namespace {

struct KernelMetric {
    std::string_view name;
    std::string_view help;
    std::uint64_t KernelPortStats::* count;
};
constexpr auto kKernelMetrics = std::to_array<KernelMetric>({
    {"sluice_kernel_bridged_packets_total", "Frames that the kernel forwarded without a box.",
     &KernelPortStats::bridged_packets},
    {"sluice_kernel_dropped_packets_total", "Frames that the kernel dropped without a box.",
     &KernelPortStats::dropped_packets},
    {"sluice_kernel_early_networks", "Networks whose packets the kernel drops for the box.",
     &KernelPortStats::early_networks},
    {"sluice_kernel_early_left_out",
     "Networks that the kernel had no room for, so that the box drops their packets.",
     &KernelPortStats::early_left_out},
    {"sluice_kernel_managed_packets_total", "Frames for the box itself, given to the kernel.",
     &KernelPortStats::managed_packets},
    {"sluice_kernel_managed_refused_total",
     "Frames for the box itself that were dropped beyond the rate of `management`.",
     &KernelPortStats::managed_refused},
});

// As JSON quotes it, so does the text format.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string kernel_metrics(const std::vector<PortStats>& ports) {
    if (std::none_of(ports.begin(), ports.end(),
                     [](const PortStats& port) { return port.kernel.attached; })) {
        return "";
    }
    std::string text;
    for (const KernelMetric& metric : kKernelMetrics) {
        text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name, metric.help,
                            metric.name.ends_with("_total") ? "counter" : "gauge");
        for (const PortStats& port : ports) {
            text += fmt::format("{}{{pair={},side={}}} {}\n", metric.name, quoted(port.pair),
                                quoted(port.side), port.kernel.*metric.count);
        }
    }
    return text;
}

}  // namespace sluice

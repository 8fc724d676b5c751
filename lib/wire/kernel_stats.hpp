#pragma once
#include "lib/base/stat_row.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {

// The program in the kernel at an af_xdp port, and the frames of it that the box did not get. What
// is dropped early is counted by rule.
struct KernelPortStats {
    bool attached = false;
    bool native = false;  // at the driver; else behind it, at the kernel's generic hook
    bool fail_open = false;
    std::uint32_t program = 0;  // its number in the kernel
    std::uint64_t heartbeat_ns = 0;
    std::uint64_t beat_age_ns = 0;
    std::uint64_t bridged_packets = 0;
    std::uint64_t bridged_bytes = 0;
    std::uint64_t dropped_packets = 0;
    std::uint64_t dropped_bytes = 0;
    std::uint64_t early_capacity = 0;   // networks that may be dropped early; 0: none are
    std::uint64_t early_networks = 0;   // that are
    std::uint64_t early_left_out = 0;   // for which there is no room: the box drops them
    std::uint64_t managed_packets = 0;  // to the kernel's own stack
    std::uint64_t managed_refused = 0;  // beyond the budget of that
    // True if the kernel decides about frames at this instant.
    [[nodiscard]] bool takes_over() const noexcept { return beat_age_ns > heartbeat_ns; }
    // True if `program` takes the port's frames first, and neither the box nor the port's driver
    // has put it there. Without `kernel`, the one at an af_xdp port is its driver's.
    [[nodiscard]] bool is_others(std::string_view driver) const noexcept {
        return !attached && program != 0 && (driver != "net_af_xdp" || heartbeat_ns != 0);
    }

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

template <>
inline constexpr auto kStatRows<KernelPortStats> = std::tuple{
    StatRow{&KernelPortStats::attached},
    StatRow{&KernelPortStats::native},
    StatRow{&KernelPortStats::fail_open},
    StatRow{&KernelPortStats::program, {"program"}},
    StatRow{&KernelPortStats::heartbeat_ns, {"heartbeat_ns"}},
    StatRow{&KernelPortStats::beat_age_ns, {"beat_age_ns"}},
    StatRow{
        &KernelPortStats::bridged_packets,
        {"bridged_packets"},
        {"sluice_kernel_bridged_packets_total", "Frames that the kernel forwarded without a box."}},
    StatRow{&KernelPortStats::bridged_bytes, {"bridged_bytes"}},
    StatRow{
        &KernelPortStats::dropped_packets,
        {"dropped_packets"},
        {"sluice_kernel_dropped_packets_total", "Frames that the kernel dropped without a box."}},
    StatRow{&KernelPortStats::dropped_bytes, {"dropped_bytes"}},
    StatRow{&KernelPortStats::early_capacity, {"early_capacity"}},
    StatRow{
        &KernelPortStats::early_networks,
        {"early_networks"},
        {"sluice_kernel_early_networks", "Networks whose packets the kernel drops for the box."}},
    StatRow{&KernelPortStats::early_left_out,
            {"early_left_out"},
            {"sluice_kernel_early_left_out",
             "Networks that the kernel had no room for, so that the box drops their packets."}},
    StatRow{
        &KernelPortStats::managed_packets,
        {"managed_packets"},
        {"sluice_kernel_managed_packets_total", "Frames for the box itself, given to the kernel."}},
    StatRow{&KernelPortStats::managed_refused,
            {"managed_refused"},
            {"sluice_kernel_managed_refused_total",
             "Frames for the box itself that were dropped beyond the rate of `management`."}},
};

}  // namespace sluice

#pragma once
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
    // Whether the kernel decides about frames at this instant.
    [[nodiscard]] bool takes_over() const noexcept { return beat_age_ns > heartbeat_ns; }
    // True if `program` takes the port's frames first, and neither the box nor the port's driver
    // has put it there. Without `kernel`, the one at an af_xdp port is its driver's.
    [[nodiscard]] bool is_others(std::string_view driver) const noexcept {
        return !attached && program != 0 && (driver != "net_af_xdp" || heartbeat_ns != 0);
    }

    static void fields(auto& archive, auto& m) {
        archive(m.attached, m.native, m.fail_open, m.program, m.heartbeat_ns, m.beat_age_ns,
                m.bridged_packets, m.bridged_bytes, m.dropped_packets, m.dropped_bytes,
                m.early_capacity, m.early_networks, m.early_left_out, m.managed_packets,
                m.managed_refused);
    }
};

}  // namespace sluice

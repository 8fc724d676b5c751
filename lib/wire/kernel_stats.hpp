#pragma once
#include <cstdint>

namespace sluice {

// The program in the kernel at an af_xdp port, and the frames of it that the box did not get.
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
    // Whether the kernel decides about frames at this instant.
    [[nodiscard]] bool takes_over() const noexcept { return beat_age_ns > heartbeat_ns; }

    static void fields(auto& archive, auto& m) {
        archive(m.attached, m.native, m.fail_open, m.program, m.heartbeat_ns, m.beat_age_ns,
                m.bridged_packets, m.bridged_bytes, m.dropped_packets, m.dropped_bytes);
    }
};

}  // namespace sluice

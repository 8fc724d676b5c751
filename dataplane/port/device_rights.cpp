#include "dataplane/port/device_rights.hpp"

#include <array>
#include <span>
#include <string_view>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

struct Right {
    unsigned number;
    std::string_view name;
};
constexpr Right kNetRaw{CAP_NET_RAW, "CAP_NET_RAW"};
constexpr Right kNetAdmin{CAP_NET_ADMIN, "CAP_NET_ADMIN"};
constexpr Right kBpf{CAP_BPF, "CAP_BPF"};
constexpr Right kSysAdmin{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"};

// Sockets of packets; interfaces that are made or set up; programs and maps that are loaded.
constexpr auto kOfAfPacket = std::to_array<Right>({kNetRaw, kNetAdmin});
constexpr auto kOfAfXdp = std::to_array<Right>({kNetRaw, kNetAdmin, kBpf, kSysAdmin});
constexpr auto kOfTap = std::to_array<Right>({kNetAdmin});

std::span<const Right> needed_by(std::string_view device) noexcept {
    if (device.starts_with("net_af_packet") || device.starts_with("eth_af_packet")) {
        return kOfAfPacket;
    }
    if (device.starts_with("net_af_xdp")) {
        return kOfAfXdp;
    }
    return device.starts_with("net_tap") ? std::span<const Right>{kOfTap}
                                         : std::span<const Right>{};
}

}  // namespace

std::uint64_t effective_capabilities() noexcept {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    if (::syscall(SYS_capget, &head, sets.data()) != 0) {
        return 0;
    }
    return std::uint64_t{sets[1].effective} << 32 | sets[0].effective;
}

std::string missing_capabilities(const std::string& device, std::uint64_t effective) {
    std::string missing;
    for (const Right& right : needed_by(device)) {
        if ((effective >> right.number & 1) == 0) {
            missing += (missing.empty() ? "" : ", ") + std::string{right.name};
        }
    }
    return missing;
}

}  // namespace sluice

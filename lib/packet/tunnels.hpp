#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The tunnels that a box looks into, in one table. How to add one: a member, a row, and the way
// into its packets in tunnel.cpp.
namespace sluice {

// Tunnels over UDP, by what stands behind its header.
enum class UdpTunnel : std::uint8_t { Vxlan, Geneve, Gtpu };

// A UDP port that tunnels have on this box, beside the registered ones.
struct TunnelPort {
    std::uint16_t port = 0;  // 0: none
    UdpTunnel tunnel{};

    [[nodiscard]] bool operator==(const TunnelPort&) const noexcept = default;
};
inline constexpr std::size_t kMaxTunnelPorts = 8;

// VLAN tags, Cisco metadata, MPLS labels and PPPoE are stepped over whatever is said here.
struct Tunnels {
    bool gre = false;
    bool vxlan = false;                                // at the port that is registered for it
    bool ipip = false;                                 // IP protocols 4 and 41
    bool geneve = false;                               // likewise
    bool gtpu = false;                                 // likewise
    std::array<TunnelPort, kMaxTunnelPorts> others{};  // those in use come first

    [[nodiscard]] constexpr bool any_over_udp() const noexcept {
        return vxlan || geneve || gtpu || others.front().port != 0;
    }
    [[nodiscard]] constexpr bool any() const noexcept { return gre || ipip || any_over_udp(); }

    // Calls see(port, tunnel) with each UDP port that is looked into.
    template <typename See>
    constexpr void each_port(See&& see) const;

    [[nodiscard]] bool operator==(const Tunnels&) const noexcept = default;
};

struct TunnelRow {
    std::string_view name;  // in sluice.yaml and on command lines
    bool Tunnels::* followed;
    std::uint16_t port = 0;  // registered for it; 0: it is not over UDP
    UdpTunnel tunnel{};      // of those that are
};
inline constexpr auto kTunnels = std::to_array<TunnelRow>({
    {"gre", &Tunnels::gre},
    {"vxlan", &Tunnels::vxlan, 4789, UdpTunnel::Vxlan},
    {"ipip", &Tunnels::ipip},
    {"geneve", &Tunnels::geneve, 6081, UdpTunnel::Geneve},
    {"gtpu", &Tunnels::gtpu, 2152, UdpTunnel::Gtpu},
});

template <typename See>
constexpr void Tunnels::each_port(See&& see) const {
    for (const TunnelRow& row : kTunnels) {
        if (row.port != 0 && this->*row.followed) {
            see(row.port, row.tunnel);
        }
    }
    for (const TunnelPort& other : others) {
        if (other.port == 0) {
            return;
        }
        see(other.port, other.tunnel);
    }
}

}  // namespace sluice

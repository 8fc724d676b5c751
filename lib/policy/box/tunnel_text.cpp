#include "lib/policy/box/tunnel_text.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

std::vector<std::string_view> all_names() {
    std::vector<std::string_view> names;
    for (const TunnelRow& row : kTunnels) {
        names.push_back(row.name);
    }
    return names;
}

const TunnelRow& tunnel_row(UdpTunnel tunnel) noexcept {
    return *std::ranges::find_if(
        kTunnels, [tunnel](const TunnelRow& row) { return row.port != 0 && row.tunnel == tunnel; });
}

// The tunnel that has the port already; nullptr: none has.
const TunnelRow* owner_of(std::uint16_t port, const Tunnels& tunnels) noexcept {
    const TunnelRow* owner = nullptr;
    tunnels.each_port([&](std::uint16_t one, UdpTunnel tunnel) {
        owner = one == port ? &tunnel_row(tunnel) : owner;
    });
    return owner;
}

Fault add_port(const TunnelRow& row, std::uint16_t port, Tunnels& tunnels) {
    if (const TunnelRow* owner = owner_of(port, tunnels)) {
        return owner == &row ? fmt::format("port {} of {} is named twice", port, row.name)
                             : fmt::format("port {} cannot be that of {} and of {}", port,
                                           owner->name, row.name);
    }
    if (port == row.port) {
        tunnels.*row.followed = true;
        return std::nullopt;
    }
    const auto free = std::ranges::find(tunnels.others, TunnelPort{});
    if (free == tunnels.others.end()) {
        return fmt::format("tunnels have at most {} ports beside the registered ones",
                           kMaxTunnelPorts);
    }
    *free = {port, row.tunnel};
    return std::nullopt;
}

Fault add_named(const TunnelRow& row, Tunnels& tunnels) {
    if (row.port != 0) {
        return add_port(row, row.port, tunnels);
    }
    if (tunnels.*row.followed) {
        return fmt::format("{} is named twice", row.name);
    }
    tunnels.*row.followed = true;
    return std::nullopt;
}

}  // namespace

std::string tunnel_names() {
    return list_of(all_names());
}

Fault add_tunnel(std::string_view text, Tunnels& tunnels) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const auto row = std::ranges::find(kTunnels, name, &TunnelRow::name);
    if (row == kTunnels.end()) {
        return fmt::format("tunnels are {}; found `{}`{}", tunnel_names(), text.substr(0, 64),
                           did_you_mean(name, all_names()));
    }
    if (colon == std::string_view::npos) {
        return add_named(*row, tunnels);
    }
    if (row->port == 0) {
        return fmt::format("{} has no port: it is not over UDP", row->name);
    }
    const std::optional<std::uint16_t> port = whole_number<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) {
        return fmt::format(
            "a port of {0} is a number from 1 to 65535, as in `{0}:8472`; found `{1}`", row->name,
            text.substr(0, 64));
    }
    return add_port(*row, *port, tunnels);
}

}  // namespace sluice

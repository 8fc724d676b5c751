#include "dataplane/port/netdev.hpp"

#include "lib/wire/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace sluice {
namespace {

struct Interface {
    Fd socket;
    ifreq request{};
};

std::optional<Interface> open_interface(const Netdev& netdev) {
    Interface interface{Fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)}};
    char name[IF_NAMESIZE] = {};
    if (!interface.socket.is_open() || ::if_indextoname(netdev.index, name) == nullptr ||
        netdev.name != name) {
        return std::nullopt;
    }
    std::memcpy(interface.request.ifr_name, name, sizeof(name));
    if (::ioctl(interface.socket.get(), SIOCGIFFLAGS, &interface.request) != 0) {
        return std::nullopt;
    }
    return interface;
}

bool change_flags(Interface& interface, int flag, bool on) {
    const int flags = interface.request.ifr_flags;
    interface.request.ifr_flags = static_cast<short>(on ? flags | flag : flags & ~flag);
    return ::ioctl(interface.socket.get(), SIOCSIFFLAGS, &interface.request) == 0;
}

}  // namespace

Netdev find_netdev(unsigned index) {
    char name[IF_NAMESIZE] = {};
    return index == 0 || ::if_indextoname(index, name) == nullptr ? Netdev{} : Netdev{index, name};
}

bool netdev_is_gone(const Netdev& netdev) {
    char name[IF_NAMESIZE] = {};
    return ::if_indextoname(netdev.index, name) == nullptr && errno != EMFILE && errno != ENFILE;
}

bool netdev_is_called(const std::string& name) {
    return ::if_nametoindex(name.c_str()) != 0;
}

std::optional<bool> netdev_carrier(const Netdev& netdev) {
    const std::optional<Interface> interface = open_interface(netdev);
    if (!interface) {
        return std::nullopt;
    }
    constexpr int kUpAndRunning = IFF_UP | IFF_RUNNING;
    return (interface->request.ifr_flags & kUpAndRunning) == kUpAndRunning;
}

std::optional<std::uint16_t> netdev_mtu(const Netdev& netdev) {
    std::optional<Interface> interface = open_interface(netdev);
    if (!interface || ::ioctl(interface->socket.get(), SIOCGIFMTU, &interface->request) != 0) {
        return std::nullopt;
    }
    return static_cast<std::uint16_t>(std::min(interface->request.ifr_mtu, 65'535));
}

std::optional<NetdevSettings> netdev_settings(const Netdev& netdev) {
    const std::optional<std::uint16_t> mtu = netdev_mtu(netdev);
    const std::optional<Interface> interface = open_interface(netdev);
    if (!mtu || !interface) {
        return std::nullopt;
    }
    return NetdevSettings{.mtu = *mtu,
                          .promiscuous = (interface->request.ifr_flags & IFF_PROMISC) != 0};
}

NetdevSettings without_change(const NetdevChange& change, const NetdevSettings& now) {
    const bool is_ours = change.set_mtu == 0 || now.mtu == change.set_mtu;
    return {.mtu = is_ours ? change.before.mtu : now.mtu,
            .promiscuous = now.promiscuous && change.before.promiscuous};
}

Result<Done> restore_netdev(const Netdev& netdev, const NetdevChange& change) {
    const std::optional<NetdevSettings> found = netdev_settings(netdev);
    std::optional<Interface> interface = open_interface(netdev);
    if (!found || !interface) {
        return Error{Errc::Unreachable, "its interface is not to be found here"};
    }
    const NetdevSettings settings = without_change(change, *found);
    if (found->promiscuous != settings.promiscuous &&
        !change_flags(*interface, IFF_PROMISC, settings.promiscuous)) {
        return Error{Errc::NotSupported, std::strerror(errno)};
    }
    interface->request.ifr_mtu = settings.mtu;
    if (found->mtu != settings.mtu &&
        ::ioctl(interface->socket.get(), SIOCSIFMTU, &interface->request) != 0) {
        return Error{Errc::NotSupported, std::strerror(errno)};
    }
    return Done{};
}

std::string netdev_driver(const std::string& name) {
    std::optional<Interface> interface =
        open_interface(find_netdev(::if_nametoindex(name.c_str())));
    ethtool_drvinfo asked{};
    asked.cmd = ETHTOOL_GDRVINFO;
    if (!interface) {
        return {};
    }
    interface->request.ifr_data = reinterpret_cast<char*>(&asked);
    return ::ioctl(interface->socket.get(), SIOCETHTOOL, &interface->request) == 0 ? asked.driver
                                                                                   : "";
}

Result<Done> set_netdev_up(const Netdev& netdev, bool up) {
    std::optional<Interface> interface = open_interface(netdev);
    if (!interface) {
        return Error{Errc::Unreachable, "its interface is not to be found here"};
    }
    if (!change_flags(*interface, IFF_UP, up)) {
        return Error{Errc::NotSupported, std::strerror(errno)};
    }
    return Done{};
}

}  // namespace sluice

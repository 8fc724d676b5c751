#include "dataplane/netdev.hpp"

#include "lib/wire/fd.hpp"

#include <cerrno>
#include <cstring>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace sluice {
namespace {

struct Interface {
    Fd socket;
    ifreq request{};
};

std::optional<Interface> open_interface(unsigned if_index) {
    Interface interface{Fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)}};
    char name[IF_NAMESIZE] = {};
    if (!interface.socket.is_open() || ::if_indextoname(if_index, name) == nullptr) {
        return std::nullopt;
    }
    std::memcpy(interface.request.ifr_name, name, sizeof(name));
    if (::ioctl(interface.socket.get(), SIOCGIFFLAGS, &interface.request) != 0) {
        return std::nullopt;
    }
    return interface;
}

}  // namespace

std::optional<bool> netdev_carrier(unsigned if_index) {
    const std::optional<Interface> interface = open_interface(if_index);
    if (!interface) {
        return std::nullopt;
    }
    constexpr int kUpAndRunning = IFF_UP | IFF_RUNNING;
    return (interface->request.ifr_flags & kUpAndRunning) == kUpAndRunning;
}

Result<Done> set_netdev_up(unsigned if_index, bool up) {
    std::optional<Interface> interface = open_interface(if_index);
    if (!interface) {
        return Error{Errc::Unreachable, "its interface is not to be found here"};
    }
    const int flags = interface->request.ifr_flags;
    interface->request.ifr_flags = static_cast<short>(up ? flags | IFF_UP : flags & ~IFF_UP);
    if (::ioctl(interface->socket.get(), SIOCSIFFLAGS, &interface->request) != 0) {
        return Error{Errc::NotSupported, std::strerror(errno)};
    }
    return Done{};
}

}  // namespace sluice

#include "dataplane/port/device.hpp"

#include "dataplane/port/device_rights.hpp"
#include "lib/base/device_text.hpp"
#include "lib/wire/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <net/if.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

// A socket file on which a device is going to listen.
struct DeviceSocket {
    std::string path;
    int type = SOCK_STREAM;
};

DeviceSocket socket_of(const std::string& device) {
    if (device.starts_with("net_memif") && device_argument(device, "role") == "server") {
        return {device_argument(device, "socket"), SOCK_SEQPACKET};
    }
    if (device.starts_with("net_vhost") && device_argument(device, "client") != "1") {
        return {device_argument(device, "iface"), SOCK_STREAM};
    }
    return {};
}

// True if nobody listens on a socket file any more. Only a refused connection says so.
bool is_deserted(const DeviceSocket& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.path.size() >= sizeof(address.sun_path)) {
        return false;
    }
    std::memcpy(address.sun_path, socket.path.data(), socket.path.size());
    const Fd probe{::socket(AF_UNIX, socket.type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    return probe.is_open() &&
           ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
               0 &&
           errno == ECONNREFUSED;
}

// memif in the server role and vhost cannot listen if the file of a killed process is still there.
// Several memifs may share one socket, so one that is in use is left alone.
void remove_stale_socket(const std::string& device) {
    const DeviceSocket socket = socket_of(device);
    struct stat info{};
    const bool a_socket =
        !socket.path.empty() && ::lstat(socket.path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
    if (a_socket && is_deserted(socket)) {
        (void)::unlink(socket.path.c_str());
    }
}

// Advice about a device that does not come up.
std::string advice_on(const std::string& device) {
    if (::if_nametoindex(device.c_str()) != 0) {
        return "that is an interface of the kernel: write net_af_packet0,iface=" + device +
               ", or net_af_xdp0 in its place, with another number for each port";
    }
    const std::string missing = missing_capabilities(device, effective_capabilities());
    return missing.empty()
               ? "check its name and arguments, and that its interface exists"
               : "this process lacks " + missing +
                     ": run it as root, or grant that (AmbientCapabilities= of its unit)";
}

}  // namespace

std::string device_name(const std::string& device) {
    const std::string name = device.substr(0, device.find(','));
    const bool without_domain = is_pci(device) && std::count(name.begin(), name.end(), ':') == 1;
    return without_domain ? "0000:" + name : name;
}

Result<std::uint16_t> attach_device(const std::string& device) {
    const std::string name = device_name(device);
    if (!is_pci(device)) {
        remove_stale_socket(device);
        const std::size_t comma = device.find(',');
        const std::string arguments = comma == std::string::npos ? "" : device.substr(comma + 1);
        const int failed = rte_eal_hotplug_add("vdev", name.c_str(), arguments.c_str());
        if (failed != 0) {
            return Error{Errc::NotSupported, "device " + device + " does not come up: " +
                                                 rte_strerror(-failed) + "; " + advice_on(device)};
        }
    }
    std::uint16_t port = 0;
    if (rte_eth_dev_get_port_by_name(name.c_str(), &port) != 0) {
        return Error{Errc::NotSupported,
                     "device " + device +
                         " is no Ethernet port that DPDK knows; is it bound to a "
                         "driver DPDK can use (dpdk-devbind.py --status)?"};
    }
    return port;
}

void detach_device(const std::string& device) noexcept {
    if (!is_pci(device)) {
        (void)rte_eal_hotplug_remove("vdev", device_name(device).c_str());
    }
}

Result<Done> attach_again(const std::string& device, std::uint16_t number) {
    const std::string holder = "net_null_away" + std::to_string(number);
    // Also where its port is closed, which leaves the device.
    detach_device(holder);
    detach_device(device);
    const Result<std::uint16_t> attached = attach_device(device);
    if (attached && *attached == number) {
        return Done{};
    }
    if (attached) {
        detach_device(device);
        return Error{Errc::Refused, "another port has its number"};
    }
    if (const Result<std::uint16_t> held = attach_device(holder); held && *held != number) {
        detach_device(holder);
    }
    return attached.error();
}

}  // namespace sluice

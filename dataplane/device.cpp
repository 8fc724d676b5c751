#include "dataplane/device.hpp"

#include "dataplane/eal.hpp"
#include "lib/wire/socket.hpp"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

// memif in the server role and vhost listen on a socket of their own, and cannot if its file is
// still there.
void remove_stale_socket(const std::string& device) {
    std::string path;
    if (device.starts_with("net_memif") && device_argument(device, "role") == "server") {
        path = device_argument(device, "socket");
    } else if (device.starts_with("net_vhost") && device_argument(device, "client") != "1") {
        path = device_argument(device, "iface");
    }
    struct stat info{};
    const bool a_socket =
        !path.empty() && ::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
    if (a_socket && !connect_unix(path)) {
        (void)::unlink(path.c_str());
    }
}

}  // namespace

std::string device_argument(const std::string& device, const std::string& key) {
    for (std::size_t at = device.find(','); at != std::string::npos; at = device.find(',', at)) {
        ++at;
        if (device.compare(at, key.size() + 1, key + "=") == 0) {
            const std::size_t from = at + key.size() + 1;
            return device.substr(from, device.find(',', from) - from);
        }
    }
    return {};
}

Result<std::uint16_t> attach_device(const std::string& device) {
    const std::string name = device.substr(0, device.find(','));
    if (!is_pci(device)) {
        remove_stale_socket(device);
        const std::size_t comma = device.find(',');
        const std::string arguments = comma == std::string::npos ? "" : device.substr(comma + 1);
        const int failed = rte_eal_hotplug_add("vdev", name.c_str(), arguments.c_str());
        if (failed != 0) {
            return Error{Errc::NotSupported,
                         "device " + device + " does not come up: " + rte_strerror(-failed) +
                             "; check its name and arguments, and that its interface exists"};
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

}  // namespace sluice

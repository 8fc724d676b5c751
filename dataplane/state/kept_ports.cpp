#include "dataplane/state/kept_ports.hpp"

#include "dataplane/port/interface_hold.hpp"
#include "dataplane/state/region_header.hpp"
#include "dataplane/state/state_files.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kPortsHead = "sluice ports 1 ";
constexpr std::size_t kMostBytesOfPorts = std::size_t{1} << 20;

// Numbers of interfaces and what was changed at them end with the boot, and mean nothing in another
// network namespace.
std::string first_line() {
    struct stat space{};
    (void)::stat("/proc/self/ns/net", &space);
    const std::string boot{this_boot().data()};
    return std::string{kPortsHead} + boot.substr(0, boot.find('\n')) + " " +
           std::to_string(space.st_ino);
}

}  // namespace

KeptPorts::KeptPorts(const std::string& directory) : path_{directory + "/" + kPortsFile} {}

std::vector<KeptPort> KeptPorts::load() const {
    const Result<std::optional<std::string>> text = read_whole_file(path_, kMostBytesOfPorts);
    if (!text) {
        log_error(text.error().what +
                  "; what a dataplane before this one has changed at interfaces stays");
        return {};
    }
    std::istringstream lines{text->value_or("")};
    std::string line;
    std::vector<KeptPort> ports;
    if (!std::getline(lines, line) || line != first_line()) {
        return ports;
    }
    while (std::getline(lines, line)) {
        std::istringstream words{line};
        KeptPort port;
        if (words >> port.netdev.index >> port.before.mtu >> port.before.promiscuous >>
            port.held_down >> port.netdev.name) {
            ports.push_back(port);
        }
    }
    return ports;
}

Result<Done> KeptPorts::save(const std::vector<KeptPort>& ports) const {
    if (ports.empty()) {
        if (::unlink(path_.c_str()) != 0 && errno != ENOENT) {
            return Error{Errc::Unreachable, "cannot remove " + path_ + ": " + std::strerror(errno)};
        }
        return Done{};
    }
    std::ostringstream text;
    text << first_line() << '\n';
    for (const KeptPort& port : ports) {
        text << port.netdev.index << ' ' << port.before.mtu << ' ' << port.before.promiscuous << ' '
             << port.held_down << ' ' << port.netdev.name << '\n';
    }
    return replace_file(path_, bytes_of(text.str()), Durable::No);
}

void bring_up(const KeptPort& left) {
    if (const Result<Done> done = set_netdev_up(left.netdev, true); !done) {
        log_error("cannot bring " + left.netdev.name +
                  " up again, which was held down: " + done.error().what);
        return;
    }
    log_warn("brought " + left.netdev.name +
             " up again: the dataplane before this one ended while it held it down");
}

void restore_left(const KeptPort& left) {
    const Result<InterfaceHold> hold = InterfaceHold::take(left.netdev.name);
    if (!hold || netdev_is_gone(left.netdev)) {
        return;
    }
    if (left.held_down) {
        bring_up(left);
    }
    if (const Result<Done> done = set_netdev_settings(left.netdev, left.before); !done) {
        log_warn(left.netdev.name +
                 " has another MTU or is promiscuous, as it was not before: " + done.error().what);
    }
}

}  // namespace sluice

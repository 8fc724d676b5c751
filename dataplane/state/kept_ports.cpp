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
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kPortsHead = "sluice ports 2 ";
constexpr std::string_view kFormerHead = "sluice ports 1 ";  // without the MTU that was set
constexpr std::size_t kMostBytesOfPorts = std::size_t{1} << 20;

// Numbers of interfaces and what was changed at them end with the boot, and mean nothing in another
// network namespace.
std::string boot_line(std::string_view head) {
    const std::string boot{this_boot().data()};
    return std::string{head} + boot.substr(0, boot.find('\n')) + " ";
}
std::string network_namespace() {
    struct stat space{};
    (void)::stat("/proc/self/ns/net", &space);
    return std::to_string(space.st_ino);
}
std::string first_line(std::string_view head) {
    return boot_line(head) + network_namespace();
}

}  // namespace

KeptPorts::KeptPorts(const std::string& directory) : path_{directory + "/" + kPortsFile} {}

KeptPorts KeptPorts::aside(std::string path) {
    KeptPorts kept;
    kept.path_ = std::move(path);
    return kept;
}

Result<std::vector<KeptPort>> KeptPorts::load() const {
    const Result<std::optional<std::string>> text = read_whole_file(path_, kMostBytesOfPorts);
    if (!text) {
        return Error{text.error().code,
                     text.error().what +
                         "; what a dataplane before this one has changed at interfaces stays"};
    }
    std::istringstream lines{text->value_or("")};
    std::string line;
    std::vector<KeptPort> ports;
    if (!std::getline(lines, line)) {
        return ports;
    }
    const bool former = line == first_line(kFormerHead);
    if (!former && line != first_line(kPortsHead)) {
        const bool is_of_boot =
            line.starts_with(boot_line(kPortsHead)) || line.starts_with(boot_line(kFormerHead));
        return is_of_boot
                   ? Result<std::vector<KeptPort>>{Error{
                         Errc::Refused, path_ + " is of another network namespace (net:[" +
                                            line.substr(line.rfind(' ') + 1) +
                                            "]); what is kept there of its interfaces can be "
                                            "changed back there alone, and once that namespace "
                                            "is gone, the file may be removed"}}
                   : ports;
    }
    while (std::getline(lines, line)) {
        std::istringstream words{line};
        KeptPort port;
        NetdevChange& change = port.change;
        words >> port.netdev.index >> change.before.mtu >> change.before.promiscuous >>
            port.held_down;
        if (!former) {
            words >> change.set_mtu;
        }
        if (words >> port.netdev.name) {
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
    text << first_line(kPortsHead) << '\n';
    for (const KeptPort& port : ports) {
        const NetdevChange& change = port.change;
        text << port.netdev.index << ' ' << change.before.mtu << ' ' << change.before.promiscuous
             << ' ' << port.held_down << ' ' << change.set_mtu << ' ' << port.netdev.name << '\n';
    }
    return replace_file(path_, bytes_of(text.str()), Durable::No);
}

bool bring_up(const KeptPort& left) {
    if (const Result<Done> done = set_netdev_up(left.netdev, true); !done) {
        log_error("cannot bring " + left.netdev.name +
                  " up again, which was held down: " + done.error().what);
        return false;
    }
    log_warn("brought " + left.netdev.name +
             " up again: the dataplane before this one ended while it held it down");
    return true;
}

bool restore_left(const KeptPort& left) {
    if (netdev_is_gone(left.netdev)) {
        return true;
    }
    const Result<InterfaceHold> hold = InterfaceHold::take(left.netdev.name);
    if (!hold) {
        log_warn(left.netdev.name +
                 " is a port of another dataplane now: what one before this has changed at it "
                 "stays until a start after that one's end");
        return false;
    }
    const bool is_up = !left.held_down || bring_up(left);
    if (const Result<Done> done = restore_netdev(left.netdev, left.change); !done) {
        log_warn(left.netdev.name +
                 " has another MTU or is promiscuous, as it was not before: " + done.error().what);
        return false;
    }
    return is_up;
}

Result<Done> restore_all(const KeptPorts& kept) {
    std::vector<KeptPort> stay;
    std::string names;
    const Result<std::vector<KeptPort>> all = kept.load();
    if (!all) {
        return all.error();
    }
    for (const KeptPort& left : *all) {
        if (!restore_left(left)) {
            stay.push_back(left);
            names += (names.empty() ? "" : ", ") + left.netdev.name;
        }
    }
    const Result<Done> saved = kept.save(stay);
    if (stay.empty() || !saved) {
        return saved;
    }
    return Error{Errc::Refused, "what a dataplane has changed at " + names +
                                    " stays, and stays kept in " + kept.path() +
                                    ": `--forget`, or a start, changes it back once "
                                    "nothing hinders it"};
}

Result<Done> restore_all_in(const std::string& directory) {
    const KeptPorts newest{directory};
    Result<Done> all = restore_all(newest);
    for (std::string& path : files_aside(newest.path())) {
        const Result<Done> done = restore_all(KeptPorts::aside(std::move(path)));
        if (!done) {
            all = all ? done : Error{all.error().code, all.error().what + "; " + done.error().what};
        }
    }
    return all;
}

}  // namespace sluice

#include "dataplane/port/mtu_watch.hpp"

#include "dataplane/port/netdev.hpp"
#include "lib/base/log.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::string longer_are_lost(const Port& port) {
    return loses_longer_frames(port) ? "are dropped as too_long" : "may be lost there";
}

void log_change(const Port& port, std::uint16_t before, std::uint16_t needed) {
    const std::string change = "the MTU of " + title_of(port) + " is " + std::to_string(port.mtu) +
                               " now, and was " + std::to_string(before);
    if (port.mtu < needed) {
        log_warn(change + ": packets of up to " + std::to_string(needed) +
                 " bytes come to the other side, and longer ones than it " + longer_are_lost(port));
    } else if (port.mtu > port.plan.mtu) {
        log_warn(change + ", but the pair was started for " + std::to_string(port.plan.mtu) +
                 ": longer packets " + longer_are_lost(port) +
                 " until sluice-dataplane is started again");
    } else {
        log_info(change);
    }
}

void watch_mtu(Port& port, const Port& other) {
    if (!port.is_here() || !port.has_mtu || port.netdev.index == 0) {
        return;
    }
    const std::optional<std::uint16_t> now = netdev_mtu(port.netdev);
    if (now && *now != port.mtu) {
        const std::uint16_t before = port.mtu;
        take_mtu(port, *now);
        log_change(port, before,
                   std::max(port.plan.mtu, other.has_mtu ? other.mtu : port.plan.mtu));
    }
}

}  // namespace

void watch_mtus(PortPair& pair) {
    watch_mtu(pair.outside, pair.inside);
    watch_mtu(pair.inside, pair.outside);
}

}  // namespace sluice

#include "dataplane/port/port.hpp"

#include "dataplane/port/device.hpp"
#include "dataplane/port/rss.hpp"
#include "lib/base/device_text.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <array>

#include <rte_errno.h>
#include <rte_ethdev.h>

namespace sluice {
namespace {

constexpr std::uint16_t kDescriptors = 1024;

Error refuses(const Port& port, const std::string& what, int code) {
    return {Errc::NotSupported,
            title_of(port) + " refuses " + what + ": " + rte_strerror(code < 0 ? -code : code)};
}

struct Hashing {
    Rss how;
    std::uint64_t functions;
};

// A port that has RSS but not the input asked for falls back to both addresses, and says so.
std::optional<Hashing> choose_hashing(const Port& port, Rss asked, std::uint64_t offered) {
    const Rss how = asked == Rss::SourcePrefix ? Rss::Source : asked;
    if (const std::uint64_t exact = rss_functions(how, offered); exact != 0) {
        return Hashing{how, exact};
    }
    const std::uint64_t fallback = rss_functions(Rss::Symmetric, offered);
    if (fallback == 0) {
        return std::nullopt;
    }
    log_warn(title_of(port) + " cannot hash what was asked for; it hashes both addresses");
    return Hashing{Rss::Symmetric, fallback};
}

using KeyRoom = std::array<std::uint8_t, kMaxRssKey>;

void set_rss(Port& port, const PortPlan& plan, const rte_eth_dev_info& info, rte_eth_conf& conf,
             KeyRoom& room) {
    const std::optional<Hashing> hashing =
        choose_hashing(port, plan.rss, info.flow_type_rss_offloads);
    if (!hashing) {
        return;
    }
    constexpr std::uint8_t kUsualKey = 40;
    const std::uint8_t size = info.hash_key_size == 0
                                  ? kUsualKey
                                  : std::min<std::uint8_t>(info.hash_key_size, kMaxRssKey);
    std::ranges::copy(plan.keys->of(hashing->how), room.begin());
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf = {
        .rss_key = room.data(), .rss_key_len = size, .rss_hf = hashing->functions};
    port.hashes = hashing->how;
    port.table = info.reta_size;
}

constexpr std::uint32_t kNoBound = UINT32_MAX;   // of max_rx_pktlen
constexpr std::uint32_t kHeaderAndCrc = 14 + 4;  // what DPDK adds to an MTU
constexpr std::uint32_t kHeaderAndTags = 14 + 2 * 4;

// The largest MTU that the driver says it can carry.
std::uint32_t largest_mtu(const rte_eth_dev_info& info) {
    const std::uint32_t most = info.max_mtu == 0 ? UINT16_MAX : info.max_mtu;
    return info.max_rx_pktlen == kNoBound || info.max_rx_pktlen <= kHeaderAndCrc
               ? most
               : std::min(most, info.max_rx_pktlen - kHeaderAndCrc);
}

// Frames leave as they came: no offload that rewrites anything, only those that carry long frames.
Result<Done> configure(Port& port, const PortPlan& plan, const rte_eth_dev_info& info) {
    rte_eth_conf conf{};
    conf.rxmode.mtu = std::min<std::uint32_t>(plan.mtu, largest_mtu(info));
    conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
    conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    KeyRoom key{};
    if (plan.queues > 1) {
        set_rss(port, plan, info, conf, key);
    }
    const int failed = rte_eth_dev_configure(port.id, plan.queues, plan.queues, &conf);
    if (failed != 0) {
        return refuses(port, std::to_string(plan.queues) + " queues or its MTU", failed);
    }
    return Done{};
}

// A port without an MTU of its own (memif, pcap) carries frames of any length. For others, DPDK
// and the kernel say what they can carry.
Result<Done> set_mtu(Port& port, std::uint16_t mtu, const rte_eth_dev_info& info) {
    const int refused = rte_eth_dev_set_mtu(port.id, mtu);
    take_mtu(port, mtu);
    port.has_mtu = refused == 0;
    if (refused == -ENOTSUP) {
        return Done{};
    }
    if (refused != 0 && mtu > largest_mtu(info)) {
        return Error{Errc::NotSupported, title_of(port) + " cannot carry an MTU of " +
                                             std::to_string(mtu) + "; the most is " +
                                             std::to_string(largest_mtu(info)) +
                                             ": set `mtu`, or take another kind of port"};
    }
    if (refused != 0) {
        return refuses(port, "an MTU of " + std::to_string(mtu), refused);
    }
    if (info.max_rx_pktlen != kNoBound) {
        port.takes.longest = std::max(info.max_rx_pktlen, mtu + kHeaderAndTags);
        port.takes.in_segments = (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
    }
    if (loses_longer_frames(port)) {
        port.takes.untagged = &port.untagged;
    }
    return Done{};
}

// The kernel takes no XDP program at a veth whose other end sends longer packets than fit a page,
// and that end may be in another network namespace, where nobody here sees its MTU.
Error refuses_receiving(const Port& port, int code) {
    Error error = refuses(port, "a receive queue", code);
    if (port.driver == "net_af_xdp" && netdev_driver(port.netdev.name) == "veth") {
        error.what +=
            "; the lines above say why. If it is the MTU of the other end of this veth, which may "
            "be about 3500 at most for af_xdp, lower it there (`ip link set END mtu 1500`)";
    }
    return error;
}

Result<Done> set_up_queues(const Port& port, const PortPlan& plan) {
    std::uint16_t rx = kDescriptors;
    std::uint16_t tx = kDescriptors;
    (void)rte_eth_dev_adjust_nb_rx_tx_desc(port.id, &rx, &tx);
    const auto socket = static_cast<unsigned>(std::max(rte_eth_dev_socket_id(port.id), 0));
    for (std::uint16_t queue = 0; queue < plan.queues; ++queue) {
        const int rx_failed =
            rte_eth_rx_queue_setup(port.id, queue, rx, socket, nullptr, plan.pool);
        if (rx_failed != 0) {
            return refuses_receiving(port, rx_failed);
        }
        const int tx_failed = rte_eth_tx_queue_setup(port.id, queue, tx, socket, nullptr);
        if (tx_failed != 0) {
            return refuses(port, "a transmit queue", tx_failed);
        }
    }
    return Done{};
}

}  // namespace

bool is_bound_to_netdev(const Port& port) {
    return port.driver == "net_af_packet" || port.driver == "net_af_xdp";
}

void note_settings(Port& port) {
    rte_eth_dev_info info{};
    (void)rte_eth_dev_info_get(port.id, &info);
    port.driver = info.driver_name == nullptr ? "" : info.driver_name;
    port.netdev = netdev_behind(port, info.if_index);
    const std::optional<NetdevSettings> now =
        port.driver == "net_tap" ? std::nullopt : netdev_settings(port.netdev);
    if (now) {
        port.change = port.change
                          ? NetdevChange{without_change(*port.change, *now), port.change->set_mtu}
                          : NetdevChange{.before = *now};
    }
}

void will_set_mtu(Port& port, std::uint16_t mtu) {
    if (port.change) {
        port.change->set_mtu = mtu;
    }
}

void take_mtu(Port& port, std::uint16_t mtu) noexcept {
    port.mtu = mtu;
    port.untagged.set(std::uint64_t{RTE_ETHER_HDR_LEN} + mtu);
}

bool loses_longer_frames(const Port& port) {
    return port.driver == "net_af_packet";
}

void restore_settings(Port& port) {
    if (port.change && !netdev_is_gone(port.netdev)) {
        if (const Result<Done> done = restore_netdev(port.netdev, *port.change); !done) {
            log_warn(
                port.netdev.name +
                " has another MTU or is promiscuous, as it was not before: " + done.error().what);
            return;
        }
    }
    if (!port.held_down) {
        port.change.reset();
    }
}

std::string title_of(const Port& port) {
    return "port " + port.device + " (" + port.pair + " " + port.side + ")";
}

PortOffer ask_port(const Port& port) {
    rte_eth_dev_info info{};
    (void)rte_eth_dev_info_get(port.id, &info);
    PortOffer offer;
    offer.max_queues = std::min(info.max_rx_queues, info.max_tx_queues);
    offer.has_rss = info.flow_type_rss_offloads != 0;
    offer.mtu = netdev_mtu(find_netdev(info.if_index));
    offer.most_mtu =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(largest_mtu(info), UINT16_MAX));
    std::uint16_t mtu = 0;
    if (!offer.mtu && is_pci(port.device) && rte_eth_dev_get_mtu(port.id, &mtu) == 0) {
        offer.mtu = mtu;
    }
    offer.socket = rte_eth_dev_socket_id(port.id);
    return offer;
}

std::uint16_t choose_mtu(const PairConfig& pair, const PortOffer& outside,
                         const PortOffer& inside) {
    if (pair.mtu) {
        return *pair.mtu;
    }
    const std::uint16_t one = outside.mtu.value_or(inside.mtu.value_or(RTE_ETHER_MTU));
    const std::uint16_t lesser = std::min(one, inside.mtu.value_or(one));
    const std::uint16_t most = std::min(outside.most_mtu, inside.most_mtu);
    if (inside.mtu && *inside.mtu != one) {
        log_warn("the ports of pair " + pair.name + " have different MTUs, " +
                 std::to_string(*outside.mtu) + " outside and " + std::to_string(*inside.mtu) +
                 " inside: both have " + std::to_string(std::min(lesser, most)) +
                 " now; make them alike, or set `mtu` for both");
    } else if (lesser > most) {
        log_warn("the ports of pair " + pair.name + " have an MTU of " + std::to_string(lesser) +
                 ", and can carry " + std::to_string(most) +
                 ": both have that now; take another kind of port for longer packets");
    }
    return std::min(lesser, most);
}

std::uint16_t choose_queues(const PairConfig& pair, const PortOffer& outside,
                            const PortOffer& inside, std::size_t workers) {
    const auto side = [&](const PortConfig& port, const PortOffer& offer) {
        const std::size_t wanted = port.queues ? *port.queues : (offer.has_rss ? workers : 1);
        return std::min<std::size_t>(wanted, offer.max_queues);
    };
    const std::size_t queues = std::min(side(pair.outside, outside), side(pair.inside, inside));
    return static_cast<std::uint16_t>(std::clamp<std::size_t>(queues, 1, workers));
}

bool hands_over(const Port& port, std::size_t workers) noexcept {
    return workers > 1 && (!port.hashes || port.asked == Rss::SourcePrefix);
}

Netdev netdev_behind(const Port& port, unsigned index) {
    Netdev found = find_netdev(index);
    if (found.name.empty() && is_bound_to_netdev(port)) {
        const std::string asked = device_argument(port.device, "iface");
        found = {index, asked.empty() ? port.netdev.name : asked};
    }
    return found;
}

Result<Done> start_port(Port& port, const PortPlan& plan) {
    rte_eth_dev_info info{};
    const int failed = rte_eth_dev_info_get(port.id, &info);
    if (failed != 0) {
        return refuses(port, "to say what it is", failed);
    }
    port.driver = info.driver_name == nullptr ? "" : info.driver_name;
    port.netdev = netdev_behind(port, info.if_index);
    port.queues = plan.queues;
    port.asked = plan.rss;
    port.plan = plan;
    if (const Result<Done> done = configure(port, plan, info); !done) {
        return done.error();
    }
    if (const Result<Done> done = set_mtu(port, plan.mtu, info); !done) {
        return done.error();
    }
    if (const Result<Done> done = set_up_queues(port, plan); !done) {
        return done.error();
    }
    const int not_started = rte_eth_dev_start(port.id);
    if (not_started != 0) {
        return refuses(port, "to start", not_started);
    }
    // Frames for others must come in too; a virtual port that cannot be told takes all anyway.
    (void)rte_eth_promiscuous_enable(port.id);
    port.up.raise(true);
    port.there.raise(true);
    port.settling.begin(LinkSettling::Clock::now());
    return Done{};
}

void stop_port(const Port& port) noexcept {
    if (rte_eth_dev_is_valid_port(port.id) == 0) {
        return;
    }
    (void)rte_eth_dev_stop(port.id);
    (void)rte_eth_dev_close(port.id);
}

}  // namespace sluice

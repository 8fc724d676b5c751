#include "dataplane/box/dataplane.hpp"

#include "dataplane/xdp/left_behind.hpp"

#include <algorithm>

#include <rte_ethdev.h>

namespace sluice {
namespace {

PortStats stats_of(const Port& port, std::uint64_t tx_full) {
    rte_eth_stats counted{};
    // One that cannot be started again has no number any more.
    if (rte_eth_dev_is_valid_port(port.id) != 0) {
        (void)rte_eth_stats_get(port.id, &counted);
    }
    PortStats stats;
    stats.pair = port.pair;
    stats.side = port.side;
    stats.device = port.device;
    stats.driver = port.driver;
    stats.link_up = port.up.raised();
    stats.held_down = port.held_down;
    stats.gone = !port.is_here();
    stats.times_gone = port.times_gone;
    stats.mtu = port.mtu;
    stats.set_mtu = port.has_mtu ? port.plan.mtu : 0;
    stats.rx_queues = port.queues;
    stats.tx_queues = port.queues;
    stats.asked = name_of(port.asked);
    stats.rss = port.hashes.has_value();
    if (port.handed || port.hashes) {
        stats.hashes = name_of(port.handed ? port.asked : *port.hashes);
    }
    stats.handed_over = port.handed;
    stats.rx_packets = counted.ipackets;
    stats.rx_bytes = counted.ibytes;
    stats.tx_packets = counted.opackets;
    stats.tx_bytes = counted.obytes;
    stats.rx_missed = counted.imissed;
    stats.rx_no_mbuf = counted.rx_nombuf;
    stats.rx_errors = counted.ierrors;
    stats.tx_errors = counted.oerrors;
    stats.tx_full = tx_full;
    return stats;
}

// The interface, not the configuration, says which program takes the frames of a port first.
void note_program(const Port& port, KernelPortStats& kernel) {
    if (!kernel.attached) {
        const KernelProgram found = program_at(port.netdev.index);
        kernel.program = found.id;
        kernel.native = found.native;
    }
}

// How far workers, and boxes of a cluster, went ahead of each other, as the owners of the keys have
// seen it.
void add_overshoot(const LoadedRule& rule, const WorkerFleet& workers, RuleStats& stats) {
    for (const LoadedLimit& limit : rule.limits) {
        if (limit.shared == 0) {
            continue;
        }
        const std::uint64_t measured = workers.worst_excess(limit.slot);
        const std::uint64_t promised = limit.cluster.box_unsynced != 0
                                           ? limit.cluster_overshoot
                                           : (workers.size() - 1) * limit.shared;
        const OvershootStats& worst = stats.overshoot;
        if (worst.max_unsynced == 0 || static_cast<Wide>(measured) * worst.promised >
                                           static_cast<Wide>(worst.measured) * promised) {
            stats.overshoot = {limit.shared, promised, measured};
        }
    }
}

void add_limits(const LoadedRule& rule, const RuleTotals& totals, const WorkerFleet& workers,
                RuleStats& stats) {
    for (std::size_t i = 0; i < rule.limits.size(); ++i) {
        const std::uint64_t entries = workers.entries_of(rule.limits[i].slot);
        stats.entries += entries;
        if (rule.limits.size() > 1) {
            stats.limits.push_back({rule.limits[i].name, totals.refused[i], entries});
        }
    }
}

void add_limited(const LoadedRule& rule, const WorkerFleet& workers, RuleStats& stats) {
    if (!rule.events.has_limits()) {
        return;
    }
    std::uint64_t keys = 0;
    for (const LoadedLimit& limit : rule.limits) {
        keys += workers.limited_by(limit.slot);
    }
    stats.limited_now = keys;
}

void add_open_connections(const LoadedRule& rule, const WorkerFleet& workers, RuleStats& stats) {
    for (const LoadedLimit& limit : rule.limits) {
        if (algorithm_of(limit.limit) == Algorithm::Concurrency) {
            stats.open_connections =
                std::max(stats.open_connections.value_or(0), workers.open_connections(limit.slot));
        }
    }
}

}  // namespace

Stats Dataplane::stats(const ControlStats& control) const {
    const LoadedRules& loaded = rules_.loaded();
    Stats stats;
    stats.generation = generation();
    stats.uptime_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now() - started_)
            .count());
    stats.panic = rules_.in_panic();
    stats.merge_interval_ns = static_cast<std::uint64_t>(loaded.merge_interval().count());
    stats.clock = clock_->stats();
    if (relay_ != nullptr) {
        stats.store = relay_->stats();
    }
    stats.state = state_.stats();
    stats.state.rules = rules_.kept_rules();
    stats.events = events_.stats();
    stats.heatmaps = heat_.stats();
    workers_.add_debts(stats.state);
    stats.control = control;
    rules_.add_to(stats.control);
    const RuleRows::ReadRow read = [this](std::uint32_t row) { return rules_.read_row(row); };
    for (const LoadedRule& rule : loaded.set().rules) {
        const RuleTotals totals = loaded.rows().totals(rule, read);
        stats.rules.push_back({rule.id, totals.counts});
        add_limits(rule, totals, workers_, stats.rules.back());
        add_overshoot(rule, workers_, stats.rules.back());
        add_limited(rule, workers_, stats.rules.back());
        add_open_connections(rule, workers_, stats.rules.back());
    }
    for (const auto& pair : ports_.pairs()) {
        for (const Port* port : {&pair->outside, &pair->inside}) {
            stats.ports.push_back(stats_of(*port, workers_.tx_full(port->id)));
            if (bridge_ != nullptr) {
                stats.ports.back().kernel = bridge_->stats(port->pair, port->side);
            }
            note_program(*port, stats.ports.back().kernel);
        }
    }
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        stats.workers.push_back(workers_.stats(worker));
    }
    for (const Service& service : loaded.set().services.all) {
        const ServiceChecksums checksums = workers_.checksums_of(service);
        stats.services.push_back({service.id, checksums.clients, checksums.servers});
    }
    return stats;
}

}  // namespace sluice

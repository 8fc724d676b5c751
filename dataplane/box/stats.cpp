#include "dataplane/box/dataplane.hpp"

#include <algorithm>

#include <rte_ethdev.h>

namespace sluice {

RuleTotals Dataplane::read_row(std::uint32_t row) const {
    RuleTotals totals;
    for (const WorkerCounters& counters : counters_) {
        totals.admitted += counters.rules[row].admitted.read();
        totals.exceeded += counters.rules[row].exceeded.read();
        totals.skipped += counters.rules[row].skipped.read();
        totals.exempted += counters.rules[row].exempted.read();
        totals.banned += counters.bans[row].met.read();
        totals.bans += counters.bans[row].begun.read();
    }
    return totals;
}

TableView Dataplane::table_view() const {
    return {[this](LimitSlot slot) { return uses_of(slot); }, [this] { return settled(); }};
}

std::uint64_t Dataplane::uses_of(LimitSlot slot) const {
    if (workers_.empty()) {
        return 1;  // nobody has looked at what was found
    }
    std::uint64_t uses = state_.former() == nullptr ? 0 : state_.former()->entries_of(slot);
    for (const auto& worker : workers_) {
        uses += worker->buckets().uses_of(slot);
    }
    return uses;
}

std::uint64_t Dataplane::settled() const {
    if (state_.former() != nullptr) {
        return 0;  // nobody brings the entries in them up to date
    }
    std::uint64_t least = UINT64_MAX;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        least = std::min(least, counters_[worker].settled.read());
    }
    return workers_.empty() ? 0 : least;
}

PortStats Dataplane::port_stats(const Port& port) const {
    rte_eth_stats counted{};
    (void)rte_eth_stats_get(port.id, &counted);
    PortStats stats;
    stats.pair = port.pair;
    stats.side = port.side;
    stats.device = port.device;
    stats.driver = port.driver;
    stats.link_up = port.up.raised();
    stats.held_down = port.held_down;
    stats.mtu = port.mtu;
    stats.rx_queues = port.queues;
    stats.tx_queues = port.queues;
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
    for (std::size_t worker = 0; worker < lanes_.size(); ++worker) {
        for (std::size_t i = 0; i < lanes_[worker].size(); ++i) {
            if (lanes_[worker][i].tx_port == port.id) {
                stats.tx_full += tx_full_[worker][i].read();
            }
        }
    }
    return stats;
}

WorkerStats Dataplane::worker_stats(std::size_t worker) const {
    const WorkerCounters& counters = counters_[worker];
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - started_);
    WorkerStats stats;
    stats.lcore = lcores_[worker];
    stats.bursts = counters.bursts.read();
    stats.stalled_ms = static_cast<std::uint64_t>(watchdogs_[worker].stalled_for(now).count());
    stats.stalls = watchdogs_[worker].stalls();
    for (std::size_t i = 0; i < kVerdictCount; ++i) {
        stats.by_verdict[i] = counters.by_verdict[i].read();
        for (const auto& sender : sent_) {
            stats.by_verdict[i] += sender[worker].by_verdict[i].read();
        }
    }
    for (std::size_t i = 0; i < kReasonCount; ++i) {
        stats.by_reason[i] = counters.by_reason[i].read();
        for (const auto& sender : sent_) {
            stats.by_reason[i] += sender[worker].by_reason[i].read();
        }
    }
    stats.handed_over = counters.handed_over.read();
    for (std::size_t i = 0; i < kTableEventCount; ++i) {
        stats.by_table_event[i] = counters.by_table_event[i].read();
    }
    stats.table_slots = workers_[worker]->table_slots();
    for (std::size_t i = 0; i < kLedgerEventCount; ++i) {
        stats.by_ledger_event[i] = workers_[worker]->ledger().read(static_cast<LedgerEvent>(i));
    }
    for (const Lane& lane : lanes_[worker]) {
        stats.lanes.push_back(lane.name);
    }
    return stats;
}

// How far workers went ahead of each other, as the owners of the keys have seen it.
void Dataplane::add_overshoot(const LoadedRule& rule, RuleStats& stats) const {
    for (const LoadedLimit& limit : rule.limits) {
        if (limit.shared == 0) {
            continue;
        }
        std::uint64_t measured = 0;
        for (const auto& worker : workers_) {
            measured = std::max(measured, worker->ledger_store().worst_excess(limit.slot).read());
        }
        const std::uint64_t promised = (workers_.size() - 1) * limit.shared;
        if (stats.max_unsynced == 0 || static_cast<Wide>(measured) * stats.promised_overshoot >
                                           static_cast<Wide>(stats.measured_overshoot) * promised) {
            stats.max_unsynced = limit.shared;
            stats.promised_overshoot = promised;
            stats.measured_overshoot = measured;
        }
    }
}

StateStats Dataplane::state_stats() const {
    StateStats stats = state_.stats();
    for (const WorkerCounters& counters : counters_) {
        stats.former_debts += counters.former_debts.read();
        stats.moved_debts += counters.moved_debts.read();
    }
    return stats;
}

Stats Dataplane::stats() const {
    Stats stats;
    stats.generation = generation();
    stats.uptime_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now() - started_)
            .count());
    stats.panic = panic_;
    stats.merge_interval_ns = static_cast<std::uint64_t>(loaded_->merge_interval().count());
    stats.state = state_stats();
    const RuleRows::ReadRow read = [this](std::uint32_t row) { return read_row(row); };
    for (const LoadedRule& rule : loaded_->set().rules) {
        const RuleTotals totals = loaded_->rows().totals(rule, read);
        stats.rules.push_back({rule.id, totals.admitted, totals.exceeded, totals.skipped,
                               totals.exempted, totals.banned, totals.bans});
        add_overshoot(rule, stats.rules.back());
    }
    for (const auto& pair : pairs_) {
        stats.ports.push_back(port_stats(pair->outside));
        stats.ports.push_back(port_stats(pair->inside));
    }
    for (std::size_t worker = 0; worker < lcores_.size(); ++worker) {
        stats.workers.push_back(worker_stats(worker));
    }
    return stats;
}

}  // namespace sluice

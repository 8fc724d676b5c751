#include "dataplane/worker/worker_fleet.hpp"

#include "lib/base/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <sys/random.h>

namespace sluice {
namespace {

// Numbers of the kernel: nobody outside can guess which packets are sampled.
std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
        std::abort();
    }
    return number;
}

// Half heads that had to go for others, and segments that would have begun or gone on with one.
std::uint64_t half_heads_without_room(const ConnectionCounters& counters) {
    return counters.of(ConnectionEvent::EvictedHalfHead) +
           counters.of(ConnectionEvent::RefusedFull);
}

// Streams of services and others together.
ConnectionStats stats_of(const UnitParser& parser) {
    ConnectionStats stats{.quic_hellos = parser.quic().hellos.read(),
                          .quic_half_hellos = parser.quic().half_hellos.read()};
    for (const ConnectionCounters* const counters :
         {&parser.connections(), &parser.service_connections()}) {
        stats.connections += counters->connections.read();
        stats.half_heads += counters->half_heads.read();
        stats.held_lines += counters->held_lines.read();
        stats.refused += counters->refusals.read();
        stats.given_up += counters->given_up.read();
        for (std::size_t i = 0; i < kConnectionEventCount; ++i) {
            stats.by_event[i] += counters->by_event[i].read();
        }
        for (std::size_t i = 0; i < kUnreadKinds; ++i) {
            stats.unread[i] += counters->unread[i].read();
        }
    }
    return stats;
}

StageStats stats_of(const StageCounters& counters) {
    StageStats stats{.packets = counters.packets.read(),
                     .turns = counters.turns.read(),
                     .cycles_per_second = rte_get_tsc_hz()};
    for (std::size_t i = 0; i < kStageCount; ++i) {
        stats.cycles[i] = counters.ticks[i].read();
    }
    return stats;
}

AskStats stats_of(const AskCounters& asker, const AskCounters& owner) {
    AskStats stats{.waiting = asker.held.read(), .reservations = owner.held.read()};
    for (std::size_t i = 0; i < kAskEventCount; ++i) {
        stats.by_event[i] = asker.by_event[i].read() + owner.by_event[i].read();
    }
    return stats;
}

}  // namespace

WorkerFleet::WorkerFleet(std::vector<unsigned> lcores, Nanoseconds stall)
    : lcores_{std::move(lcores)},
      stall_{stall},
      counters_(lcores_.size()),
      watchdogs_(lcores_.size(), Watchdog{stall}),
      half_heads_(lcores_.size()),
      peers_{lcores_.size()} {}

void WorkerFleet::make(const Ports& ports, const Parts& parts) {
    lanes_.emplace(ports, counters_);
    CoreRoster roster;
    std::vector<const BucketStore*> tables;
    const UnitBudget units = unit_budget(parts.box.units, size());
    for (std::size_t worker = 0; worker < size(); ++worker) {
        samplers_.push_back(std::make_unique<KeySampler>(random_number()));
        events_.push_back(std::make_unique<KeyEvents>());
        heat_.push_back(std::make_unique<HeatSampler>());
        if (parts.notify_bans) {
            new_bans_.push_back(std::make_unique<NewBans>());
        }
        workers_.push_back(std::make_unique<DpdkWorker>(
            roster.enlist(),
            WorkerSetup{parts.running, peers_, size(), units,
                        parts.state.connections(worker, units.connections.connections,
                                                UnitParser::kept_of(units)),
                        parts.state.records(worker, parts.rules.slots), parts.box.held_percent,
                        answer_boards_},
            CoreState{.policy = {.tunnels = parts.box.tunnels,
                                 .malformed = parts.box.malformed,
                                 .tell_wait = false},
                      .hash = KeyHasher{parts.state.secrets().hash},
                      .buckets = parts.state.store(worker, parts.rules.slots),
                      .counters = counters_[worker],
                      .sampler = samplers_.back().get(),
                      .events = events_.back().get(),
                      .heat = heat_.back().get(),
                      .new_bans = parts.notify_bans ? new_bans_.back().get() : nullptr},
            lanes_->open(worker),
            LcoreHost{worker,
                      {parts.board, stop_, parts.box.idle_sleep, parts.state.clock_lead(),
                       parts.time_of_day}}));
        tables.push_back(&workers_.back()->buckets());
    }
    tables_ = std::make_unique<WorkerTables>(std::move(tables));
    for (const auto& worker : workers_) {
        worker->meet(*tables_);
    }
}

std::uint64_t WorkerFleet::debts_forgiven() const {
    std::uint64_t debts = 0;
    for (const auto& worker : workers_) {
        debts += worker->buckets().registry.forgiven().read();
    }
    return debts;
}

std::uint64_t WorkerFleet::lost_bans() const {
    std::uint64_t lost = 0;
    for (const std::unique_ptr<NewBans>& bans : new_bans_) {
        lost += bans->lost();
    }
    return lost;
}

void WorkerFleet::launch() {
    const auto run = [](void* worker) {
        static_cast<DpdkWorker*>(worker)->run();
        return 0;
    };
    for (std::size_t worker = 0; worker < size(); ++worker) {
        (void)rte_eal_remote_launch(run, workers_[worker].get(), lcores_[worker]);
    }
}

void WorkerFleet::stop() {
    stop_.raise(true);
    rte_eal_mp_wait_lcore();
    workers_.clear();
}

std::chrono::milliseconds WorkerFleet::uptime() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 started_);
}

void WorkerFleet::watch() {
    for (std::size_t worker = 0; worker < size(); ++worker) {
        if (watchdogs_[worker].look(counters_[worker].bursts.read(), uptime())) {
            log_error("the worker on lcore " + std::to_string(lcores_[worker]) +
                      " has stalled: no burst for " +
                      std::to_string(stall_ / std::chrono::milliseconds{1}) + " ms");
        }
        watch_half_heads(worker);
    }
}

void WorkerFleet::watch_half_heads(std::size_t worker) {
    FullWatch& watch = half_heads_[worker];
    const std::string of = "the worker on lcore " + std::to_string(lcores_[worker]);
    const UnitParser& parser = workers_[worker]->unit_parser();
    switch (watch.look(half_heads_without_room(parser.connections()) +
                           half_heads_without_room(parser.service_connections()),
                       uptime())) {
        case FullWatch::Edge::None:
            return;
        case FullWatch::Edge::Begins:
            log_warn(of +
                     " has no room for more half heads: `packets: {connections: {when_full}}` "
                     "of sluice.yaml decides which are given up");
            return;
        case FullWatch::Edge::Ends:
            log_info(of + " has room for half heads again; " +
                     std::to_string(watch.without_room()) + " found none");
            return;
    }
}

RuleTotals WorkerFleet::read_row(std::uint32_t row) const {
    RuleTotals totals;
    for (const WorkerCounters& counters : counters_) {
        counters.add_rule(row, totals.counts);
        for (std::size_t limit = 0; limit < totals.refused.size(); ++limit) {
            totals.refused[limit] += counters.limits.read(row, limit);
        }
    }
    return totals;
}

std::uint64_t WorkerFleet::open_connections(LimitSlot slot) const {
    std::uint64_t open = 0;
    for (const auto& worker : workers_) {
        open += worker->buckets().registry.pool().index().of_group(slot).read();
    }
    return open;
}

std::uint64_t WorkerFleet::entries_of(LimitSlot slot) const {
    std::uint64_t entries = 0;
    for (const auto& worker : workers_) {
        entries += worker->buckets().registry.entries_of(slot).read();
    }
    return entries;
}

std::uint64_t WorkerFleet::limited_by(LimitSlot slot) const {
    std::uint64_t keys = 0;
    for (const auto& events : events_) {
        keys += events->limited(slot);
    }
    return keys;
}

std::uint64_t WorkerFleet::uses_of(LimitSlot slot) const {
    return tables_->uses_of(slot);
}

std::uint64_t WorkerFleet::settled() const {
    std::uint64_t least = UINT64_MAX;
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
        least = std::min(least, counters_[worker].settled.read());
    }
    return workers_.empty() ? 0 : least;
}

std::uint64_t WorkerFleet::worst_excess(LimitSlot slot) const {
    std::uint64_t worst = 0;
    for (const auto& worker : workers_) {
        worst = std::max(worst, worker->ledger_store().worst_excess(slot).read());
    }
    return worst;
}

void WorkerFleet::add_debts(StateStats& stats) const {
    for (const WorkerCounters& counters : counters_) {
        stats.former_debts += counters.former_debts.read();
        stats.moved_debts += counters.moved_debts.read();
    }
}

ServiceChecksums WorkerFleet::checksums_of(const Service& service) const {
    ServiceChecksums all;
    for (const auto& worker : workers_) {
        all = combined(all, worker->unit_parser().checksums_of(service));
    }
    return all;
}

WorkerStats WorkerFleet::stats(std::size_t worker) const {
    const WorkerCounters& counters = counters_[worker];
    WorkerStats stats;
    stats.lcore = lcores_[worker];
    stats.bursts = counters.bursts.read();
    stats.stalled_ms = static_cast<std::uint64_t>(watchdogs_[worker].stalled_for(uptime()).count());
    stats.stalls = watchdogs_[worker].stalls();
    for (std::size_t i = 0; i < kVerdictCount; ++i) {
        stats.by_verdict[i] = counters.by_verdict[i].read();
        stats.bytes_by_verdict[i] = counters.bytes_by_verdict[i].read();
    }
    for (std::size_t i = 0; i < kReasonCount; ++i) {
        stats.by_reason[i] = counters.by_reason[i].read();
    }
    stats.handed_over = counters.handed_over.read();
    for (std::size_t i = 0; i < kTableEventCount; ++i) {
        stats.by_table_event[i] = counters.by_table_event[i].read();
    }
    for (std::size_t i = 0; i < kUnitEventCount; ++i) {
        stats.by_unit_event[i] = counters.by_unit_event[i].read();
    }
    for (std::size_t i = 0; i < kAnswerEventCount; ++i) {
        stats.by_answer_event[i] = counters.by_answer_event[i].read();
    }
    for (std::size_t i = 0; i < kReasonCount; ++i) {
        stats.would_refuse[i] = counters.would_refuse[i].read();
    }
    for (std::size_t i = 0; i < kTrackEventCount; ++i) {
        stats.by_track_event[i] = workers_[worker]->unit_parser().tracked().by_event[i].read();
    }
    stats.connections = stats_of(workers_[worker]->unit_parser());
    stats.asks = stats_of(workers_[worker]->reserve_client().counters(),
                          workers_[worker]->owner().counters());
    stats.shaping = {.held = workers_[worker]->held().now_held(),
                     .room = workers_[worker]->held().budget()};
    stats.table_slots = workers_[worker]->table_slots();
    const LimitRegistry& registry = workers_[worker]->buckets().registry;
    stats.table_evictions = registry.evictions().read();
    stats.by_table_event[static_cast<std::size_t>(TableEvent::DebtForgiven)] =
        registry.forgiven().read();
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
        stats.table_entries += registry.entries_of(static_cast<LimitSlot>(slot)).read();
    }
    for (std::size_t i = 0; i < kLedgerEventCount; ++i) {
        stats.by_ledger_event[i] = workers_[worker]->ledger().read(static_cast<LedgerEvent>(i));
    }
    stats.stages = stats_of(counters.stages);
    lanes_->add_stats(worker, stats);
    return stats;
}

}  // namespace sluice

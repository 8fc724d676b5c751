#include "control/daemon/api/metrics_text.hpp"

#include "control/active_json.hpp"
#include "control/daemon/api/metrics_writer.hpp"
#include "control/daemon/api/numbers.hpp"
#include "control/daemon/api/rule_metrics.hpp"
#include "control/daemon/api/stat_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace sluice {
namespace {

void put_unread(MetricsWriter& text, const ConnectionStats& stats) {
    text.family("sluice_unread_connections_total",
                help_of("Connections that went unread, by the protocol that they had been and by "
                        "reason:",
                        kUnreadReasons));
    for (std::size_t i = 0; i < kUnreadKinds; ++i) {
        text.sample({{"protocol", kUnreadProtocols[i / kUnreadReasons.size()]},
                     {"reason", kUnreadReasons[i % kUnreadReasons.size()].name}},
                    stats.unread[i]);
    }
}

template <typename Stats>
void put_all(MetricsWriter& text, const Stats& stats) {
    put_numbers(text, stats);
    put_arrays(text, stats);
}

void put_totals(MetricsWriter& text, const WorkerStats& totals) {
    put_arrays(text, totals);
    put_all(text, totals.connections);
    put_unread(text, totals.connections);
    put_all(text, totals.asks);
    put_all(text, totals.shaping);
}

// A row for each, of which one is 1.
std::array<int, kKeptRulesNames.size()> kept_rules_of(const StateStats& state) {
    std::array<int, kKeptRulesNames.size()> rows{};
    rows[static_cast<std::size_t>(state.rules)] = 1;
    return rows;
}

// In the order of KeyEventKind, `lost` among them: events that could not be told.
void put_events(MetricsWriter& text, const EventStats& events) {
    text.family("sluice_events_total",
                "Edge events by kind; lost: untold; bridged: of pairs; checksums_trusted: "
                "of services; debts_forgiven: rows of what operators forgave.");
    text.by_name("kind", events.by_kind, kKeyEventKindNames);
}

void put_services(MetricsWriter& text, const std::vector<ServiceStats>& services) {
    text.family("sluice_service_checksums_trusted",
                "Whether checksums of a side of a service are not verified, since frames come "
                "whose sender leaves them to its adapter.");
    for (const ServiceStats& service : services) {
        text.sample({{"service", service.id}, {"side", "clients"}},
                    service.clients == ChecksumTrust::Trusting ? 1 : 0);
        text.sample({{"service", service.id}, {"side", "servers"}},
                    service.servers == ChecksumTrust::Trusting ? 1 : 0);
    }
}

void put_state(MetricsWriter& text, const StateStats& state) {
    put_numbers(text, state);
    text.family("sluice_state_rules",
                "What the dataplane found of the rules that were kept: none, found, before (they "
                "cannot be read, and it goes on with the set before them), unreadable.");
    text.by_name("found", kept_rules_of(state), kKeptRulesNames);
    if (state.has_snapshots) {
        put_numbers(text, state.snapshots);
        if (state.snapshots.done != 0) {
            put_numbers(text, state.snapshots.latest);
        }
    }
}

auto sample_of_port(MetricsWriter& text) {
    return [&text](const PortStats& port, const std::string& value) {
        text.sample({{"pair", port.pair}, {"side", port.side}}, value);
    };
}

// Pair and side name a port, also where the kernel counts; what else there is to say of it stands
// once, and counters go on when it changes.
void put_ports(MetricsWriter& text, const std::vector<PortStats>& ports) {
    text.family("sluice_port_info", "What each port is, by the pair and side that name it.");
    for (const PortStats& port : ports) {
        text.sample({{"pair", port.pair},
                     {"side", port.side},
                     {"device", port.device},
                     {"driver", port.driver},
                     {"hashes", port.hashes}},
                    1);
    }
    put_numbers_of_each(text, ports, std::identity{}, sample_of_port(text));
}

// Nothing where the box is in no cluster.
void put_store(MetricsWriter& text, const StoreLinkStats& store) {
    if (!store.in_cluster) {
        return;
    }
    std::array<int, kStoreLinkStateNames.size()> states{};
    states[store.state] = 1;
    text.family("sluice_store_link",
                "How the link to the cluster's store stands: away, refused, fenced (the store "
                "gives this box no slot), ready.");
    text.by_name("state", states, kStoreLinkStateNames);
    put_numbers(text, store);
}

// Nothing where no port has one.
void put_kernel(MetricsWriter& text, const std::vector<PortStats>& ports) {
    if (std::none_of(ports.begin(), ports.end(),
                     [](const PortStats& port) { return port.kernel.attached; })) {
        return;
    }
    put_numbers_of_each(
        text, ports, [](const PortStats& port) -> const KernelPortStats& { return port.kernel; },
        sample_of_port(text));
}

void put_cycles(MetricsWriter& text, const std::vector<WorkerStats>& workers) {
    text.family("sluice_worker_cycles_total",
                help_of(fmt::format("Cycles of the time-stamp counter, of one turn in {}:",
                                    kTurnsPerSample),
                        kStages));
    for (const WorkerStats& worker : workers) {
        for (std::size_t i = 0; i < kStageCount; ++i) {
            text.sample({{"lcore", std::to_string(worker.lcore)}, {"stage", kStages[i].name}},
                        worker.stages.cycles[i]);
        }
    }
    text.family("sluice_worker_cycles_packets_total", "Packets of the turns of those cycles.");
    for (const WorkerStats& worker : workers) {
        text.sample({{"lcore", std::to_string(worker.lcore)}}, worker.stages.packets);
    }
}

void put_workers(MetricsWriter& text, const std::vector<WorkerStats>& workers) {
    put_numbers_of_each(text, workers, std::identity{},
                        [&](const WorkerStats& worker, const std::string& value) {
                            text.sample({{"lcore", std::to_string(worker.lcore)}}, value);
                        });
    text.family("sluice_worker_table_full_total",
                "New keys that found no place in a worker's bucket table.");
    for (const WorkerStats& worker : workers) {
        text.sample({{"lcore", std::to_string(worker.lcore)}}, no_place(worker));
    }
    text.family("sluice_worker_ledger_events_total",
                help_of("Messages between workers about the keys they share:", kLedgerEvents));
    for (const WorkerStats& worker : workers) {
        for (std::size_t i = 0; i < kLedgerEventCount; ++i) {
            text.sample({{"lcore", std::to_string(worker.lcore)}, {"event", kLedgerEvents[i].name}},
                        worker.by_ledger_event[i]);
        }
    }
    put_cycles(text, workers);
}

}  // namespace

std::string metrics_text(const std::optional<Stats>& stats, const RuleView& rules) {
    MetricsWriter text;
    text.family("sluice_build_info", "The version of sluiced.");
    text.sample({{"version", SLUICE_VERSION}}, 1);
    text.single("sluice_rules_unconfirmed",
                "Whether the rules in force go again unless they are confirmed.",
                rules.unconfirmed ? 1 : 0);
    text.single("sluice_rules_reverts_total",
                "Rule sets that went again by themselves, since sluiced started.", rules.reverts);
    text.single("sluice_rules_put_aside_total",
                "Kept rule sets that could not be read and were kept aside, since sluiced started.",
                rules.put_aside);
    text.single("sluice_lists_not_in_force",
                "Whether a list or database has changed and cannot be read: the old one goes on.",
                rules.list_problem.empty() ? 0 : 1);
    put_rule_modes(text, rules, utc_now());
    put_service_modes(text, rules);
    text.single("sluice_dataplane_up", "Whether the dataplane answers.", stats ? 1 : 0);
    if (!stats) {
        return text.take();
    }
    text.single("sluice_dataplane_uptime_seconds", "Since when the dataplane runs.",
                static_cast<double>(stats->uptime_ns) / 1e9);
    text.family("sluice_generation_info", "The rule set in force.");
    text.sample({{"generation", fmt::format("{:016x}", stats->generation)}}, 1);
    text.single("sluice_rules_behind",
                "Whether the dataplane runs other rules than those that sluiced holds.",
                stats->generation == rules.generation ? 0 : 1);
    text.single("sluice_panic", "Whether everything is forwarded unjudged.", stats->panic ? 1 : 0);
    put_totals(text, total_of(stats->workers));
    put_rule_counts(text, stats->rules);
    put_rule_details(text, stats->rules);
    put_ports(text, stats->ports);
    put_workers(text, stats->workers);
    put_services(text, stats->services);
    text.single("sluice_merge_interval_seconds",
                "The longest that a worker's charges stay unknown to the other workers.",
                static_cast<double>(stats->merge_interval_ns) / 1e9);
    put_numbers(text, stats->clock);
    put_numbers(text, stats->heatmaps);
    put_state(text, stats->state);
    put_numbers(text, stats->control);
    put_events(text, stats->events);
    put_kernel(text, stats->ports);
    put_store(text, stats->store);
    return text.take();
}

}  // namespace sluice

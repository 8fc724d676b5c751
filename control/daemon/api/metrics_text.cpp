#include "control/daemon/api/metrics_text.hpp"

#include "control/daemon/api/metrics_writer.hpp"
#include "control/daemon/api/numbers.hpp"
#include "control/daemon/api/rule_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

void put_packets(MetricsWriter& text, const WorkerStats& totals) {
    text.family("sluice_packets_total", "Packets by what happened to them.");
    text.by_name("verdict", totals.by_verdict, kVerdictNames);
    text.family("sluice_bytes_total",
                "Bytes of frames on the wire by what happened to their packets.");
    text.by_name("verdict", totals.bytes_by_verdict, kVerdictNames);
    text.family("sluice_packet_reasons_total",
                help_of("Packets by the reason of their verdict:", kReasons));
    text.by_name("reason", totals.by_reason, kReasons);
    text.family("sluice_table_events_total",
                help_of("Keys without a bucket, and open connections:", kTableEvents));
    text.by_name("event", totals.by_table_event, kTableEvents);
    text.family("sluice_units_total",
                help_of("What was found of later layers where rules read them:", kUnitEvents));
    text.by_name("event", totals.by_unit_event, kUnitEvents);
    text.family("sluice_answers_total",
                help_of("What the box sent in somebody's name, or did not:", kAnswerEvents));
    text.by_name("event", totals.by_answer_event, kAnswerEvents);
    text.family(
        "sluice_would_refuse_total",
        help_of("Packets that services in monitor mode would refuse, by reason:", kReasons));
    text.by_name("reason", totals.would_refuse, kReasons);
    text.family("sluice_service_events_total",
                help_of("What happened to connections of declared services:", kTrackEvents));
    text.by_name("event", totals.by_track_event, kTrackEvents);
}

void put_connections(MetricsWriter& text, const ConnectionStats& stats) {
    for (const auto& gauge : kConnectionGauges) {
        text.single(fmt::format("sluice_{}", gauge.name), gauge.help, stats.*gauge.count);
    }
    text.family("sluice_connection_events_total",
                help_of("What happened to connections, by name:", kConnectionEvents));
    text.by_name("event", stats.by_event, kConnectionEvents);
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

void put_asks(MetricsWriter& text, const AskStats& stats) {
    for (const auto& gauge : kAskGauges) {
        text.single(fmt::format("sluice_ask_{}", gauge.name), gauge.help, stats.*gauge.count);
    }
    text.family("sluice_ask_events_total",
                help_of("Questions of workers to the owners of keys:", kAskEvents));
    text.by_name("event", stats.by_event, kAskEvents);
}

void put_shaping(MetricsWriter& text, const ShapeStats& stats) {
    for (const auto& gauge : kShapeGauges) {
        text.single(fmt::format("sluice_{}", gauge.name), gauge.help, stats.*gauge.count);
    }
}

constexpr auto kStateFamilies = std::to_array<MetricFamily<StateStats>>({
    {"sluice_state_survives", "Whether buckets outlive the dataplane.",
     number<&StateStats::survives>},
    {"sluice_state_buckets_kept",
     "Buckets of the dataplane before this one that were found and go on.",
     number<&StateStats::kept>},
    {"sluice_state_buckets_mended", "Of these, made whole again.", number<&StateStats::mended>},
    {"sluice_state_buckets_unknown", "Buckets that were found, of limits that nobody knows.",
     number<&StateStats::unknown>},
    {"sluice_state_buckets_damaged",
     "Buckets that were found and cannot be true: each counts as a full debt.",
     number<&StateStats::damaged>},
    {"sluice_state_former_tables", "Tables of other shapes that new keys are looked up in.",
     number<&StateStats::former_tables>},
    {"sluice_state_former_debts_total", "Debts that were taken over from such tables.",
     number<&StateStats::former_debts>},
    {"sluice_state_moved_debts_total",
     "Debts of keys that a reload moved to another worker, taken over by it.",
     number<&StateStats::moved_debts>},
    {"sluice_state_put_aside_total",
     "Times that tables, rules or RSS keys could not be read and were kept aside.",
     number<&StateStats::put_aside>},
    {"sluice_state_not_kept_total",
     "Times that the state directory could not take what the next dataplane should find.",
     number<&StateStats::not_kept>},
});
constexpr auto kSnapshotFamilies = std::to_array<MetricFamily<StateStats>>({
    {"sluice_snapshot_bytes", "Size of the latest snapshot.", number<&StateStats::snapshot_bytes>},
    {"sluice_snapshot_age_seconds", "Since when the latest snapshot is there.",
     seconds<&StateStats::snapshot_age_ns, 1'000'000'000>},
});

// A row for each, of which one is 1.
std::array<int, kKeptRulesNames.size()> kept_rules_of(const StateStats& state) {
    std::array<int, kKeptRulesNames.size()> rows{};
    rows[static_cast<std::size_t>(state.rules)] = 1;
    return rows;
}

constexpr auto kClockFamilies = std::to_array<MetricFamily<ClockStats>>({
    {"sluice_clock_set_back_total", "Times that the wall clock was set back.",
     number<&ClockStats::set_back>},
    {"sluice_clock_set_back_seconds_total", "By how much it was set back in all.",
     seconds<&ClockStats::set_back_ns, 1'000'000'000>},
    {"sluice_clock_set_ahead_total", "Times that the wall clock was set ahead.",
     number<&ClockStats::set_ahead>},
    {"sluice_clock_instants_left_seconds",
     "For how long this dataplane's tables are good for the longest limits.",
     seconds<&ClockStats::instants_left_ns, 1'000'000'000>},
});

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

void put_control(MetricsWriter& text, const ControlStats& control) {
    text.family("sluice_control_refused_total",
                "What the dataplane's control socket refused: clients that may not use it "
                "(stranger), found no place (full) or were silent for long (idle), messages beyond "
                "what may come in at once (uploads), rule sets for which there was no memory "
                "(memory), or whose patterns carry no sum of the box's key (unsealed).");
    text.sample({{"reason", "stranger"}}, control.strangers);
    text.sample({{"reason", "full"}}, control.full);
    text.sample({{"reason", "idle"}}, control.idle);
    text.sample({{"reason", "uploads"}}, control.uploads);
    text.sample({{"reason", "memory"}}, control.memory);
    text.sample({{"reason", "unsealed"}}, control.unsealed);
    text.single("sluice_rules_unkept_total",
                "Rule sets in force that could not be kept for the next start.", control.unkept);
}

void put_state(MetricsWriter& text, const StateStats& state) {
    const auto put_all = [&](const auto& families) {
        for (const MetricFamily<StateStats>& family : families) {
            text.single(family.name, family.help, family.value(state));
        }
    };
    put_all(kStateFamilies);
    text.family("sluice_state_rules",
                "What the dataplane found of the rules that were kept: none, found, before (they "
                "cannot be read, and it goes on with the set before them), unreadable.");
    text.by_name("found", kept_rules_of(state), kKeptRulesNames);
    if (state.snapshots) {
        text.family("sluice_snapshots_total", "Snapshots of the tables, by outcome.");
        text.sample({{"outcome", "done"}}, state.snapshots_done);
        text.sample({{"outcome", "failed"}}, state.snapshots_failed);
    }
    if (state.snapshots && state.snapshots_done != 0) {
        put_all(kSnapshotFamilies);
    }
}

constexpr auto kPortFamilies = std::to_array<MetricFamily<PortStats>>({
    {"sluice_port_up", "Whether frames can leave through the port.", number<&PortStats::link_up>},
    {"sluice_port_held_down", "Whether the port is down because the other side of its pair is.",
     number<&PortStats::held_down>},
    {"sluice_port_gone", "Whether the interface of the port is gone, and the port down for it.",
     number<&PortStats::gone>},
    {"sluice_port_gone_total", "How often the interface of the port was gone.",
     number<&PortStats::times_gone>},
    {"sluice_port_handed_over", "Whether workers spread the port's frames among themselves.",
     number<&PortStats::handed_over>},
    {"sluice_port_mtu_bytes", "The port's MTU.", number<&PortStats::mtu>},
    {"sluice_port_receive_packets_total", "Frames received.", number<&PortStats::rx_packets>},
    {"sluice_port_receive_bytes_total", "Bytes received.", number<&PortStats::rx_bytes>},
    {"sluice_port_transmit_packets_total", "Frames sent.", number<&PortStats::tx_packets>},
    {"sluice_port_transmit_bytes_total", "Bytes sent.", number<&PortStats::tx_bytes>},
    {"sluice_port_receive_missed_total", "Frames lost because the receive ring was full.",
     number<&PortStats::rx_missed>},
    {"sluice_port_receive_no_mbuf_total", "Frames lost for want of a packet buffer.",
     number<&PortStats::rx_no_mbuf>},
    {"sluice_port_receive_errors_total", "Frames the port received with an error.",
     number<&PortStats::rx_errors>},
    {"sluice_port_transmit_errors_total", "Frames the port failed to send.",
     number<&PortStats::tx_errors>},
    {"sluice_port_transmit_full_total", "Frames dropped because the transmit queue was full.",
     number<&PortStats::tx_full>},
});

constexpr auto kWorkerFamilies = std::to_array<MetricFamily<WorkerStats>>({
    {"sluice_worker_rounds_total", "Rounds of a worker over its queues: its heartbeat.",
     number<&WorkerStats::bursts>},
    {"sluice_worker_stalled_seconds", "For how long a worker has stood still; 0 while it runs.",
     seconds<&WorkerStats::stalled_ms, 1'000>},
    {"sluice_worker_stalls_total", "How often a worker was seen to stall.",
     number<&WorkerStats::stalls>},
    {"sluice_worker_handed_over_total",
     "Frames that a worker received and passed on to the worker they belong to.",
     number<&WorkerStats::handed_over>},
    {"sluice_worker_table_full_total", "New keys that found no place in a worker's bucket table.",
     [](const WorkerStats& worker) { return fmt::to_string(no_place(worker)); }},
    {"sluice_worker_table_slots", "Places in a worker's bucket table.",
     number<&WorkerStats::table_slots>},
    {"sluice_worker_table_entries",
     "Live buckets in a worker's tables, as far as it has seen them end.",
     number<&WorkerStats::table_entries>},
    {"sluice_worker_table_evictions_total",
     "Buckets that had nothing to say any more and went from a worker's tables.",
     number<&WorkerStats::table_evictions>},
});

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
    put(text, kPortFamilies, ports, [&](const PortStats& port, const std::string& value) {
        text.sample({{"pair", port.pair}, {"side", port.side}}, value);
    });
}

// Of ports that have a program in the kernel.
constexpr auto kKernelFamilies = std::to_array<MetricFamily<KernelPortStats>>({
    {"sluice_kernel_bridged_packets_total", "Frames that the kernel forwarded without a box.",
     number<&KernelPortStats::bridged_packets>},
    {"sluice_kernel_dropped_packets_total", "Frames that the kernel dropped without a box.",
     number<&KernelPortStats::dropped_packets>},
    {"sluice_kernel_early_networks", "Networks whose packets the kernel drops for the box.",
     number<&KernelPortStats::early_networks>},
    {"sluice_kernel_early_left_out",
     "Networks that the kernel had no room for, so that the box drops their packets.",
     number<&KernelPortStats::early_left_out>},
    {"sluice_kernel_managed_packets_total", "Frames for the box itself, given to the kernel.",
     number<&KernelPortStats::managed_packets>},
    {"sluice_kernel_managed_refused_total",
     "Frames for the box itself that were dropped beyond the rate of `management`.",
     number<&KernelPortStats::managed_refused>},
});

// Nothing where no port has one.
void put_kernel(MetricsWriter& text, const std::vector<PortStats>& ports) {
    if (std::none_of(ports.begin(), ports.end(),
                     [](const PortStats& port) { return port.kernel.attached; })) {
        return;
    }
    for (const MetricFamily<KernelPortStats>& family : kKernelFamilies) {
        text.family(family.name, family.help);
        for (const PortStats& port : ports) {
            text.sample({{"pair", port.pair}, {"side", port.side}}, family.value(port.kernel));
        }
    }
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
    put(text, kWorkerFamilies, workers, [&](const WorkerStats& worker, const std::string& value) {
        text.sample({{"lcore", std::to_string(worker.lcore)}}, value);
    });
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
    put_rule_modes(text, rules);
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
    const WorkerStats totals = total_of(stats->workers);
    put_packets(text, totals);
    put_connections(text, totals.connections);
    put_asks(text, totals.asks);
    put_shaping(text, totals.shaping);
    put_rule_counts(text, stats->rules);
    put_rule_details(text, stats->rules);
    put_ports(text, stats->ports);
    put_workers(text, stats->workers);
    put_services(text, stats->services);
    text.single("sluice_merge_interval_seconds",
                "The longest that a worker's charges stay unknown to the other workers.",
                static_cast<double>(stats->merge_interval_ns) / 1e9);
    for (const MetricFamily<ClockStats>& family : kClockFamilies) {
        text.single(family.name, family.help, family.value(stats->clock));
    }
    put_state(text, stats->state);
    put_control(text, stats->control);
    put_events(text, stats->events);
    put_kernel(text, stats->ports);
    return text.take();
}

}  // namespace sluice

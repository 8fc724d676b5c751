#include "control/daemon/api/metrics_text.hpp"

#include "control/daemon/api/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <utility>

namespace sluice {
namespace {

struct Label {
    std::string_view name;
    std::string_view value;
};

// Backslash, quote and line end are escaped; everything else stands as it is.
std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out;
}

class Text {
public:
    void family(std::string_view name, std::string_view type, std::string_view help) {
        out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
        name_ = name;
    }
    template <typename Number>
    void sample(std::initializer_list<Label> labels, Number value) {
        out_ += name_;
        std::string_view separator = "{";
        for (const Label& label : labels) {
            out_ += fmt::format("{}{}=\"{}\"", separator, label.name, escaped(label.value));
            separator = ",";
        }
        out_ += fmt::format("{} {}\n", labels.size() == 0 ? "" : "}", value);
    }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    std::string out_;
    std::string_view name_;
};

// One line: every reason with its meaning.
std::string help_of_reasons() {
    std::string help;
    for (const ReasonRow& row : kReasons) {
        help += fmt::format("{}{} ({})", help.empty() ? "" : ", ", row.name, row.help);
    }
    return help + ".";
}

void put_packets(Text& text, const Totals& totals) {
    text.family("sluice_packets_total", "counter", "Packets by what happened to them.");
    for (std::size_t i = 0; i < kVerdictCount; ++i) {
        text.sample({{"verdict", kVerdictNames[i]}}, totals.by_verdict[i]);
    }
    text.family("sluice_packet_reasons_total", "counter",
                "Packets by the reason of their verdict: " + help_of_reasons());
    for (std::size_t i = 0; i < kReasonCount; ++i) {
        text.sample({{"reason", kReasons[i].name}}, totals.by_reason[i]);
    }
}

void put_table_events(Text& text, const Totals& totals) {
    std::string help = "What keys without a bucket met:";
    for (const TableEventRow& row : kTableEvents) {
        help += fmt::format(" {} ({})", row.name, row.help);
    }
    text.family("sluice_table_events_total", "counter", help + ".");
    for (std::size_t i = 0; i < kTableEventCount; ++i) {
        text.sample({{"event", kTableEvents[i].name}}, totals.by_table_event[i]);
    }
}

void put_rules(Text& text, const std::vector<RuleStats>& rules) {
    text.family("sluice_rule_packets_total", "counter",
                "Packets that a rule matched, by what its limits said.");
    for (const RuleStats& rule : rules) {
        text.sample({{"rule", rule.id}, {"outcome", "admitted"}}, rule.admitted);
        text.sample({{"rule", rule.id}, {"outcome", "exceeded"}}, rule.exceeded);
        text.sample({{"rule", rule.id}, {"outcome", "skipped"}}, rule.skipped);
    }
    text.family("sluice_rule_exempted_packets_total", "counter",
                "Of the packets that a rule admitted, those whose key is exempt.");
    for (const RuleStats& rule : rules) {
        text.sample({{"rule", rule.id}}, rule.exempted);
    }
    text.family("sluice_rule_banned_packets_total", "counter",
                "Of the packets that exceeded a rule, those whose key is banned.");
    for (const RuleStats& rule : rules) {
        text.sample({{"rule", rule.id}}, rule.banned);
    }
    text.family("sluice_rule_bans_total", "counter",
                "How often a rule has put a key into its penalty box.");
    for (const RuleStats& rule : rules) {
        text.sample({{"rule", rule.id}}, rule.bans);
    }
}

// Rules whose keys several workers share.
void put_merged_rules(Text& text, const std::vector<RuleStats>& rules) {
    const auto each = [&](std::uint64_t RuleStats::* number) {
        for (const RuleStats& rule : rules) {
            if (rule.max_unsynced != 0) {
                text.sample({{"rule", rule.id}}, rule.*number);
            }
        }
    };
    text.family("sluice_rule_max_unsynced_units", "gauge",
                "What a worker may have charged beyond the last total it holds of a key.");
    each(&RuleStats::max_unsynced);
    text.family("sluice_rule_promised_overshoot_units", "gauge",
                "What a key may be admitted beyond its limit, at most, since workers share it.");
    each(&RuleStats::promised_overshoot);
    text.family("sluice_rule_measured_overshoot_units", "gauge",
                "The most by which the total of a key was seen beyond its limit.");
    each(&RuleStats::measured_overshoot);
}

void put_ledger(Text& text, const std::vector<WorkerStats>& workers) {
    std::string help = "What workers told each other of the keys they share:";
    for (const LedgerEventRow& row : kLedgerEvents) {
        help += fmt::format(" {} ({})", row.name, row.help);
    }
    text.family("sluice_worker_ledger_events_total", "counter", help + ".");
    for (const WorkerStats& worker : workers) {
        for (std::size_t i = 0; i < kLedgerEventCount; ++i) {
            text.sample({{"lcore", std::to_string(worker.lcore)}, {"event", kLedgerEvents[i].name}},
                        worker.by_ledger_event[i]);
        }
    }
}

struct StateFamily {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    std::uint64_t StateStats::* number;
};
constexpr auto kStateFamilies = std::to_array<StateFamily>({
    {"sluice_state_buckets_kept", "gauge",
     "Buckets of the dataplane before this one that were found and go on.", &StateStats::kept},
    {"sluice_state_buckets_mended", "gauge", "Of these, made whole again.", &StateStats::mended},
    {"sluice_state_buckets_unknown", "gauge",
     "Buckets that were found, of limits that nobody knows.", &StateStats::unknown},
    {"sluice_state_former_tables", "gauge",
     "Tables of other shapes that new keys are looked up in.", &StateStats::former_tables},
    {"sluice_state_former_debts_total", "counter", "Debts that were taken over from such tables.",
     &StateStats::former_debts},
    {"sluice_state_moved_debts_total", "counter",
     "Debts of keys that a reload moved to another worker, taken over by it.",
     &StateStats::moved_debts},
    {"sluice_state_put_aside_total", "counter",
     "Times that tables or rules could not be read and were kept aside.", &StateStats::put_aside},
});

void put_snapshots(Text& text, const StateStats& state) {
    text.family("sluice_snapshots_total", "counter", "Snapshots of the tables, by outcome.");
    text.sample({{"outcome", "done"}}, state.snapshots_done);
    text.sample({{"outcome", "failed"}}, state.snapshots_failed);
    if (state.snapshots_done == 0) {
        return;
    }
    text.family("sluice_snapshot_bytes", "gauge", "Size of the latest snapshot.");
    text.sample({}, state.snapshot_bytes);
    text.family("sluice_snapshot_age_seconds", "gauge", "Since when the latest snapshot is there.");
    text.sample({}, static_cast<double>(state.snapshot_age_ns) / 1e9);
}

void put_state(Text& text, const StateStats& state) {
    text.family("sluice_state_survives", "gauge", "Whether buckets outlive the dataplane.");
    text.sample({}, state.survives ? 1 : 0);
    for (const StateFamily& family : kStateFamilies) {
        text.family(family.name, family.type, family.help);
        text.sample({}, state.*family.number);
    }
    if (state.snapshots) {
        put_snapshots(text, state);
    }
}

struct PortFamily {
    std::string_view name;
    std::string_view help;
    std::uint64_t PortStats::* counter;
};
constexpr auto kPortFamilies = std::to_array<PortFamily>({
    {"sluice_port_receive_packets_total", "Frames received.", &PortStats::rx_packets},
    {"sluice_port_receive_bytes_total", "Bytes received.", &PortStats::rx_bytes},
    {"sluice_port_transmit_packets_total", "Frames sent.", &PortStats::tx_packets},
    {"sluice_port_transmit_bytes_total", "Bytes sent.", &PortStats::tx_bytes},
    {"sluice_port_receive_missed_total", "Frames lost because the receive ring was full.",
     &PortStats::rx_missed},
    {"sluice_port_receive_no_mbuf_total", "Frames lost for want of a packet buffer.",
     &PortStats::rx_no_mbuf},
    {"sluice_port_receive_errors_total", "Frames the port received with an error.",
     &PortStats::rx_errors},
    {"sluice_port_transmit_errors_total", "Frames the port failed to send.", &PortStats::tx_errors},
    {"sluice_port_transmit_full_total", "Frames dropped because the transmit queue was full.",
     &PortStats::tx_full},
});

void put_ports(Text& text, const std::vector<PortStats>& ports) {
    const auto each = [&](auto&& value) {
        for (const PortStats& port : ports) {
            text.sample({{"pair", port.pair}, {"side", port.side}, {"device", port.device}},
                        value(port));
        }
    };
    text.family("sluice_port_up", "gauge", "Whether frames can leave through the port.");
    each([](const PortStats& port) { return port.link_up ? 1 : 0; });
    text.family("sluice_port_held_down", "gauge",
                "Whether the port is down because the other side of its pair is.");
    each([](const PortStats& port) { return port.held_down ? 1 : 0; });
    text.family("sluice_port_handed_over", "gauge",
                "Whether workers spread the port's frames among themselves.");
    each([](const PortStats& port) { return port.handed_over ? 1 : 0; });
    text.family("sluice_port_mtu_bytes", "gauge", "The port's MTU.");
    each([](const PortStats& port) { return port.mtu; });
    for (const PortFamily& family : kPortFamilies) {
        text.family(family.name, "counter", family.help);
        each([&](const PortStats& port) { return port.*family.counter; });
    }
}

void put_workers(Text& text, const std::vector<WorkerStats>& workers) {
    const auto each = [&](auto&& value) {
        for (const WorkerStats& worker : workers) {
            text.sample({{"lcore", std::to_string(worker.lcore)}}, value(worker));
        }
    };
    text.family("sluice_worker_rounds_total", "counter",
                "Rounds of a worker over its queues: its heartbeat.");
    each([](const WorkerStats& worker) { return worker.bursts; });
    text.family("sluice_worker_stalled_seconds", "gauge",
                "For how long a worker has stood still; 0 while it runs.");
    each([](const WorkerStats& worker) { return static_cast<double>(worker.stalled_ms) / 1000; });
    text.family("sluice_worker_stalls_total", "counter", "How often a worker was seen to stall.");
    each([](const WorkerStats& worker) { return worker.stalls; });
    text.family("sluice_worker_handed_over_total", "counter",
                "Frames that a worker received and passed on to the worker they belong to.");
    each([](const WorkerStats& worker) { return worker.handed_over; });
    text.family("sluice_worker_table_full_total", "counter",
                "New keys that found no place in a worker's bucket table.");
    each([](const WorkerStats& worker) { return no_place(worker.by_table_event); });
    text.family("sluice_worker_table_slots", "gauge", "Places in a worker's bucket table.");
    each([](const WorkerStats& worker) { return worker.table_slots; });
}

}  // namespace

std::string metrics_text(const std::optional<Stats>& stats, const RuleView& rules) {
    Text text;
    text.family("sluice_build_info", "gauge", "The version of sluiced.");
    text.sample({{"version", SLUICE_VERSION}}, 1);
    text.family("sluice_rules_unconfirmed", "gauge",
                "Whether the rules in force go again unless they are confirmed.");
    text.sample({}, rules.unconfirmed ? 1 : 0);
    text.family("sluice_rules_reverts_total", "counter",
                "Rule sets that went again by themselves, since sluiced started.");
    text.sample({}, rules.reverts);
    text.family("sluice_dataplane_up", "gauge", "Whether the dataplane answers.");
    text.sample({}, stats ? 1 : 0);
    if (!stats) {
        return text.take();
    }
    text.family("sluice_dataplane_uptime_seconds", "gauge", "Since when the dataplane runs.");
    text.sample({}, static_cast<double>(stats->uptime_ns) / 1e9);
    text.family("sluice_generation_info", "gauge", "The rule set in force.");
    text.sample({{"generation", fmt::format("{:016x}", stats->generation)}}, 1);
    text.family("sluice_panic", "gauge", "Whether everything is forwarded unjudged.");
    text.sample({}, stats->panic ? 1 : 0);
    put_packets(text, total_of(stats->workers));
    put_table_events(text, total_of(stats->workers));
    put_rules(text, stats->rules);
    put_merged_rules(text, stats->rules);
    put_ports(text, stats->ports);
    put_workers(text, stats->workers);
    put_ledger(text, stats->workers);
    text.family("sluice_merge_interval_seconds", "gauge",
                "How old an amount may get before workers tell each other of it.");
    text.sample({}, static_cast<double>(stats->merge_interval_ns) / 1e9);
    put_state(text, stats->state);
    return text.take();
}

}  // namespace sluice

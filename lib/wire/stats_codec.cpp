#include "lib/wire/stats_codec.hpp"

namespace sluice {
namespace {

void put_rule_stats(Writer& out, const RuleStats& m) {
    out.text(m.id);
    out.number(m.admitted);
    out.number(m.exceeded);
    out.number(m.skipped);
    out.number(m.exempted);
    out.number(m.banned);
    out.number(m.bans);
    out.number(m.max_unsynced);
    out.number(m.promised_overshoot);
    out.number(m.measured_overshoot);
}
RuleStats get_rule_stats(Reader& in) {
    RuleStats m;
    m.id = in.text();
    m.admitted = in.number<std::uint64_t>();
    m.exceeded = in.number<std::uint64_t>();
    m.skipped = in.number<std::uint64_t>();
    m.exempted = in.number<std::uint64_t>();
    m.banned = in.number<std::uint64_t>();
    m.bans = in.number<std::uint64_t>();
    m.max_unsynced = in.number<std::uint64_t>();
    m.promised_overshoot = in.number<std::uint64_t>();
    m.measured_overshoot = in.number<std::uint64_t>();
    return m;
}

// The counters of a port, in the order of the wire.
template <typename Port, typename Fn>
void each_counter(Port& port, Fn&& fn) {
    for (auto* counter :
         {&port.rx_packets, &port.rx_bytes, &port.tx_packets, &port.tx_bytes, &port.rx_missed,
          &port.rx_no_mbuf, &port.rx_errors, &port.tx_errors, &port.tx_full}) {
        fn(*counter);
    }
}

void put_port(Writer& out, const PortStats& m) {
    out.text(m.pair);
    out.text(m.side);
    out.text(m.device);
    out.text(m.driver);
    out.number<std::uint8_t>(m.link_up ? 1 : 0);
    out.number<std::uint8_t>(m.held_down ? 1 : 0);
    out.number(m.mtu);
    out.number(m.rx_queues);
    out.number(m.tx_queues);
    out.number<std::uint8_t>(m.rss ? 1 : 0);
    out.text(m.hashes);
    out.number<std::uint8_t>(m.handed_over ? 1 : 0);
    each_counter(m, [&](std::uint64_t value) { out.number(value); });
}
PortStats get_port(Reader& in) {
    PortStats m;
    m.pair = in.text();
    m.side = in.text();
    m.device = in.text();
    m.driver = in.text();
    m.link_up = in.flag();
    m.held_down = in.flag();
    m.mtu = in.number<std::uint16_t>();
    m.rx_queues = in.number<std::uint16_t>();
    m.tx_queues = in.number<std::uint16_t>();
    m.rss = in.flag();
    m.hashes = in.text();
    m.handed_over = in.flag();
    each_counter(m, [&](std::uint64_t& value) { value = in.number<std::uint64_t>(); });
    return m;
}

void put_worker(Writer& out, const WorkerStats& m) {
    out.number(m.lcore);
    out.number(m.bursts);
    out.number(m.stalled_ms);
    out.number(m.stalls);
    for (const std::uint64_t count : m.by_verdict) {
        out.number(count);
    }
    for (const std::uint64_t count : m.by_reason) {
        out.number(count);
    }
    for (const std::uint64_t count : m.by_table_event) {
        out.number(count);
    }
    out.number(m.table_slots);
    out.number(m.handed_over);
    for (const std::uint64_t count : m.by_ledger_event) {
        out.number(count);
    }
    out.list(m.lanes, [](Writer& o, const std::string& lane) { o.text(lane); });
}
WorkerStats get_worker(Reader& in) {
    WorkerStats m;
    m.lcore = in.number<std::uint32_t>();
    m.bursts = in.number<std::uint64_t>();
    m.stalled_ms = in.number<std::uint64_t>();
    m.stalls = in.number<std::uint64_t>();
    for (std::uint64_t& count : m.by_verdict) {
        count = in.number<std::uint64_t>();
    }
    for (std::uint64_t& count : m.by_reason) {
        count = in.number<std::uint64_t>();
    }
    for (std::uint64_t& count : m.by_table_event) {
        count = in.number<std::uint64_t>();
    }
    m.table_slots = in.number<std::uint64_t>();
    m.handed_over = in.number<std::uint64_t>();
    for (std::uint64_t& count : m.by_ledger_event) {
        count = in.number<std::uint64_t>();
    }
    m.lanes = in.list<std::string>(4, [](Reader& i) { return i.text(); });
    return m;
}

void put_state(Writer& out, const StateStats& m) {
    out.number<std::uint8_t>(m.survives ? 1 : 0);
    out.number<std::uint8_t>(m.snapshots ? 1 : 0);
    for (const std::uint64_t number :
         {m.kept, m.mended, m.unknown, m.former_tables, m.former_debts, m.moved_debts, m.put_aside,
          m.snapshots_done, m.snapshots_failed, m.snapshot_bytes, m.snapshot_age_ns}) {
        out.number(number);
    }
}

StateStats get_state(Reader& in) {
    StateStats m;
    m.survives = in.flag();
    m.snapshots = in.flag();
    for (std::uint64_t* number : {&m.kept, &m.mended, &m.unknown, &m.former_tables, &m.former_debts,
                                  &m.moved_debts, &m.put_aside, &m.snapshots_done,
                                  &m.snapshots_failed, &m.snapshot_bytes, &m.snapshot_age_ns}) {
        *number = in.number<std::uint64_t>();
    }
    return m;
}

}  // namespace

void put_stats(Writer& out, const Stats& m) {
    out.number(m.generation);
    out.number(m.uptime_ns);
    out.number<std::uint8_t>(m.panic ? 1 : 0);
    out.number(m.merge_interval_ns);
    put_state(out, m.state);
    out.list(m.rules, put_rule_stats);
    out.list(m.ports, put_port);
    out.list(m.workers, put_worker);
}

Stats get_stats(Reader& in) {
    constexpr std::size_t kRuleStatsSize = 76;
    constexpr std::size_t kPortSize = 102;
    constexpr std::size_t kWorkerSize = 56 + 8 * (kVerdictCount + kReasonCount);
    Stats m;
    m.generation = in.number<std::uint64_t>();
    m.uptime_ns = in.number<std::uint64_t>();
    m.panic = in.flag();
    m.merge_interval_ns = in.number<std::uint64_t>();
    m.state = get_state(in);
    m.rules = in.list<RuleStats>(kRuleStatsSize, get_rule_stats);
    m.ports = in.list<PortStats>(kPortSize, get_port);
    m.workers = in.list<WorkerStats>(kWorkerSize, get_worker);
    return m;
}

}  // namespace sluice

#pragma once
#include "lib/wire/message.hpp"
#include "lib/wire/rule_set_fields.hpp"

#include <cstddef>
#include <cstdint>

// Every request and reply, field by field.
namespace sluice {

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, Hello>& m) {
    archive(m.version, m.program);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, ApplyRules>& m) {
    archive(m.rules, m.source, m.modes);
}
// As the ApplyRules that says the same.
inline void serialize(Writer& out, const RulesInForce& m) {
    out(m.rules, m.source, m.modes);
}
template <typename Archive>
void serialize(Archive&, Serialized<Archive, GetRules>&) {}
template <typename Archive>
void serialize(Archive&, Serialized<Archive, GetStats>&) {}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, SetPanic>& m) {
    archive(m.pass);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, TryRules>& m) {
    archive(m.rules);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, KeepRules>& m) {
    archive(m.generation);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, GetTop>& m) {
    archive(m.rule);
    archive.word(m.order, TopOrder::Remaining);
    archive(m.count);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, AskKey>& m) {
    archive.word(m.action, KeyAction::Unban);
    archive(m.generation, m.rule, m.key, m.bytes, m.limit, m.units, m.cost);
    archive.check(m.bytes.size() <= kMaxKeySize);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, SetMergeInterval>& m) {
    archive(m.interval_ns);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, PortRssMapping>& m) {
    archive(m.pair);
    archive.word(m.dir, Direction::Out);
    archive.word(m.by, PortRssMapping::By::Unknown);
    archive.word(m.rss, Rss::SourcePrefix);
    archive(m.way);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, RssMapping>& m) {
    auto workers = static_cast<std::uint32_t>(m.workers);
    archive(m.ports, m.tunnels, workers, m.merge_interval);
    if constexpr (Archive::kReads) {
        m.workers = workers;
    }
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, Welcome>& m) {
    archive(m.version, m.pid, m.generation, m.spread);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, Applied>& m) {
    archive(m.generation);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, RunningRules>& m) {
    archive(m.generation, m.source, m.modes);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, PanicSet>& m) {
    archive(m.pass);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, Failure>& m) {
    archive(m.what);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, MergeIntervalSet>& m) {
    archive(m.interval_ns, m.shared_limits);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, RuleStats>& m) {
    archive(m.id, m.admitted, m.exceeded, m.skipped, m.exempted, m.banned, m.bans, m.max_unsynced,
            m.promised_overshoot, m.measured_overshoot);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, PortStats>& m) {
    archive(m.pair, m.side, m.device, m.driver, m.link_up, m.held_down, m.mtu, m.rx_queues,
            m.tx_queues, m.rss, m.hashes, m.handed_over, m.rx_packets, m.rx_bytes, m.tx_packets,
            m.tx_bytes, m.rx_missed, m.rx_no_mbuf, m.rx_errors, m.tx_errors, m.tx_full);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, WorkerStats>& m) {
    archive(m.lcore, m.bursts, m.stalled_ms, m.stalls, m.by_verdict, m.by_reason, m.by_table_event,
            m.table_slots, m.handed_over, m.by_ledger_event, m.lanes);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, StateStats>& m) {
    archive(m.survives, m.snapshots, m.kept, m.mended, m.unknown, m.former_tables, m.former_debts,
            m.moved_debts, m.put_aside, m.snapshots_done, m.snapshots_failed, m.snapshot_bytes,
            m.snapshot_age_ns);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, Stats>& m) {
    archive(m.generation, m.uptime_ns, m.panic, m.merge_interval_ns, m.state, m.rules, m.ports,
            m.workers);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, TopKey>& m) {
    archive(m.rule, m.key, m.hits, m.hits_error, m.denied, m.denied_error, m.remaining);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, Top>& m) {
    archive(m.window_ns, m.samples, m.lost, m.keys);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, KeyBucketState>& m) {
    archive(m.limit, m.own, m.overridden, m.aggregation_level, m.before, m.remaining, m.most,
            m.wait_ns, m.given_wider);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, KeyOnWorker>& m) {
    archive(m.lcore, m.answered, m.exempt, m.banned, m.begun, m.refusals, m.after, m.ban_left_ns,
            m.lifted, m.ban_level, m.limits);
}
template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, KeyState>& m) {
    archive(m.limits, m.workers);
}

}  // namespace sluice

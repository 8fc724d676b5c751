#include "lib/wire/codec.hpp"

#include "random_message.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace sluice::codec_test {
namespace {

using Payload = std::vector<std::byte>;

constexpr std::uint64_t kSeeds = 60;
constexpr std::uint64_t kCutSeeds = 8;  // each message is cut at every byte, some at thousands

// Round trips are compared field by field through this second spelling of every message, which
// shares nothing with the codec.
using Fields = std::vector<std::string>;

template <typename T>
void add(Fields& out, const T& value) {
    if constexpr (std::is_convertible_v<T, std::string>) {
        out.push_back(value);
    } else if constexpr (std::is_enum_v<T>) {
        out.push_back(std::to_string(static_cast<unsigned>(value)));
    } else {
        out.push_back(std::to_string(value));
    }
}
template <typename... T>
void add_all(Fields& out, const T&... values) {
    (add(out, values), ...);
}
template <typename T>
void add_optional(Fields& out, const std::optional<T>& value) {
    out.push_back(value ? std::to_string(*value) : "none");
}

void spell_numbers(Fields& out, const Limit& limit) {
    add_all(out, limit.period(), limit.parts(), limit.burst());
}
void spell_numbers(Fields& out, const TokenBucketLimit& limit) {
    add(out, 0);
    spell_numbers(out, limit.gcra);
}
void spell_numbers(Fields& out, const LeakyBucketLimit& limit) {
    add(out, 1);
    spell_numbers(out, limit.gcra);
}
void spell_numbers(Fields& out, const FixedWindowLimit& limit) {
    add_all(out, 2, limit.numbers.count, limit.numbers.window, limit.phase, limit.utc_offset,
            limit.clock);
}
void spell_numbers(Fields& out, const SlidingWindowLimit& limit) {
    add_all(out, 3, limit.numbers.count, limit.numbers.window, limit.clock);
}
void spell_numbers(Fields& out, const SlidingCountersLimit& limit) {
    add_all(out, 4, limit.numbers.count, limit.numbers.window, limit.buckets, limit.edge);
}
void spell_numbers(Fields& out, const SlidingLogLimit& limit) {
    add_all(out, 5, limit.numbers.count, limit.numbers.window);
}
void spell_numbers(Fields& out, const DayWindowLimit& limit) {
    add_all(out, 10, limit.numbers.count, limit.numbers.window);
    add_all(out, limit.zone->name, limit.zone->first, limit.zone->changes.size());
    for (const ZoneOffsets::Change& change : limit.zone->changes) {
        add_all(out, change.at, change.ahead);
    }
}
void spell_numbers(Fields& out, const ColorLimit& limit) {
    add_all(out, 6, limit.variant(), limit.mode());
    spell_numbers(out, limit.first());
    spell_numbers(out, limit.second());
}

void spell_numbers(Fields& out, const PenaltyLimit& limit) {
    add_all(out, 7, limit.after, limit.within, limit.lasts);
}

void spell_numbers(Fields& out, const ConcurrencyLimit& limit) {
    add_all(out, 8, limit.numbers.count, limit.numbers.window, limit.half_open_ms, limit.from);
}

void spell_numbers(Fields& out, const DistinctLimit& limit) {
    add_all(out, 9, limit.numbers.count, limit.numbers.window);
}

void spell(Fields& out, const Rule& rule) {
    add_all(out, rule.id, rule.mode, rule.on_match, rule.missing_key, rule.on_full,
            rule.match_action, rule.on_exceed);
    add_all(out, rule.coarsen_factor, rule.table_share, rule.cost, rule.rejected_spend,
            rule.candidate, rule.events.bits(), rule.asks_clients, rule.heatmap);
    add(out, rule.path_costs.size());
    for (const PathCost& cost : rule.path_costs) {
        add_all(out, cost.prefix, cost.cost);
    }
    for (const ActionIndex action : rule.on_color) {
        add(out, action);
    }
    add_all(out, rule.owner_group, rule.schedule, rule.keys.size());
    for (const GroupingKey& key : rule.keys) {
        add(out, key.size());
        for (const KeyPart& part : key) {
            add_all(out, part.field, part.v4_length, part.v6_length, part.unwrapping.bits(),
                    part.text.has_value(), part.text.value_or(TextField{}), part.lower, part.room);
        }
    }
    add_all(out, rule.limits.size(), rule.ban.boxes.size(), rule.ban.action, rule.ban.applies_to,
            rule.ban.spoofable);
    for_each_state(rule, [&out](const MeteredLimit& limit) {
        add_all(out, limit.identity, limit.name, limit.key, limit.per, limit.scope,
                limit.max_unsynced, limit.rss_mapping_at_ports, limit.of.size());
        for (const KeyPart& part : limit.of) {
            add_all(out, part.field, part.v4_length, part.v6_length);
        }
        std::visit([&out](const auto& numbers) { spell_numbers(out, numbers); }, limit.limit);
    });
    add(out, rule.overrides != nullptr);
    if (rule.overrides == nullptr) {
        return;
    }
    for (const LimitOverride& numbers : rule.overrides->numbers) {
        add_all(out, numbers.limit, numbers.until.count());
        std::visit([&out](const auto& one) { spell_numbers(out, one); }, numbers.numbers);
    }
    for (const OverridePlan& plan : rule.overrides->plans) {
        add_all(out, plan.exempt, plan.exempt_until.count(), plan.banned, plan.banned_until.count(),
                plan.first, plan.count);
    }
    for (const auto* all : {&rule.overrides->keys, &rule.overrides->networks}) {
        add(out, all->size());
        for (const KeyOverrides& keys : *all) {
            add(out, keys.bytes.size());
            for (const KeyOverrides::Row& row : keys.rows) {
                add_all(out, row.end, row.plan);
            }
        }
    }
}
template <typename T>
void add_list(Fields& out, const std::vector<T>& list) {
    add(out, list.size());
    for (const T& item : list) {
        add(out, item);
    }
}
void spell(Fields& out, const DimensionParts& dimension) {
    add_all(out, dimension.field, dimension.absent_row, dimension.steps.size(),
            dimension.v6_steps.size());
    for (const auto& step : dimension.steps) {
        add_all(out, step.first, step.row);
    }
    for (const auto& step : dimension.v6_steps) {
        add_all(out, static_cast<std::uint64_t>(step.first),
                static_cast<std::uint64_t>(step.first >> 64), step.row);
    }
    add_list(out, dimension.used);
    add_list(out, dimension.open);
    add_list(out, dimension.references);
}
void spell(Fields& out, const RuleSet& set) {
    const ClassifierParts& parts = set.classifier.parts();
    add_all(out, set.generation, set.rules.size(), parts.dimensions.size(), parts.blocks.size());
    add_list(out, parts.always);
    add_list(out, parts.rule_of);
    for (const DimensionParts& dimension : parts.dimensions) {
        spell(out, dimension);
    }
    for (const Block& block : parts.blocks) {
        for (const std::uint64_t word : block.words) {
            add(out, word);
        }
    }
    for (const Rule& rule : set.rules) {
        spell(out, rule);
    }
    add(out, set.actions.size());
    for (const Action& action : set.actions) {
        add(out, action.verdict);
        add_optional(out, action.tag.dscp);
        add_optional(out, action.tag.pcp);
    }
    for (const OwnerGroup& group : set.owner_groups) {
        add_all(out, group.parts.size(), group.salt);
    }
    for (const Schedule& schedule : set.schedules) {
        add_all(out, schedule.zone->name, schedule.zone->first);
        for (const ZoneOffsets::Change& change : schedule.zone->changes) {
            add_all(out, change.at, change.ahead);
        }
        for (const Schedule::Range& range : schedule.active) {
            add_all(out, range.begin, range.end);
        }
    }
    add(out, set.suffixes != nullptr);
    for (std::size_t i = 0; set.suffixes != nullptr && i < set.suffixes->size(); ++i) {
        add_all(out, (*set.suffixes)[i].name, (*set.suffixes)[i].kinds);
    }
    for (const TextName& name : set.named_texts) {
        add_all(out, name.kind, name.name, name.source, name.segments);
    }
}
void spell(Fields& out, const Hello& m) {
    add_all(out, m.version, m.program, m.audit_dir);
}
void spell(Fields& out, const ApplyRules& m) {
    spell(out, m.rules);
    add_all(out, m.source, m.modes);
    for (const std::uint64_t word : m.seal) {
        add(out, word);
    }
    add(out, m.forgive);
}
void spell(Fields&, const GetRules&) {}
void spell(Fields&, const GetStats&) {}
void spell(Fields&, const Ping&) {}
void spell(Fields& out, const SetPanic& m) {
    add_all(out, m.pass, m.not_after_ns);
}
void spell(Fields& out, const TryRules& m) {
    spell(out, m.rules);
}
void spell(Fields& out, const KeepRules& m) {
    add_all(out, m.generation, m.forgive);
}
void spell(Fields& out, const AskKey& m) {
    add_all(out, m.action, m.generation, m.rule, m.key, m.bytes.size(), m.limit, m.units);
}
void spell(Fields& out, const AskedFrame& m) {
    add_all(out, m.bytes.size(), m.wire_size, m.dir, m.age_ns);
}
void spell(Fields& out, const AskPacket& m) {
    add_all(out, m.generation, m.pair, m.before.size());
    for (const AskedFrame& frame : m.before) {
        spell(out, frame);
    }
    spell(out, m.packet);
}
void spell(Fields& out, const DecisionState& m) {
    add_all(out, m.verdict, m.reason, m.rule, m.limit, m.action, m.wait_ns);
}
void spell(Fields& out, const PacketState& m) {
    add_all(out, m.lcore, m.is_sure, m.answered, m.enforces);
    spell(out, m.decision);
    for (const DecisionState& unit : m.units) {
        spell(out, unit);
    }
    for (const FoundLimit& found : m.limits) {
        add_all(out, found.rule, found.limit, found.unit, found.asked, found.admitted,
                found.charged, found.at_owner, found.has_bucket, found.aggregation_level,
                found.cost, found.remaining, found.wait_ns);
    }
    for (const FoundBan& found : m.bans) {
        add_all(out, found.rule, found.key, found.unit, found.refusals, found.after, found.left_ns);
    }
}
void spell(Fields& out, const KeyState& m) {
    add_list(out, m.limits);
    add(out, m.workers.size());
    for (const KeyOnWorker& worker : m.workers) {
        add_all(out, worker.lcore, worker.answered, worker.exempt, worker.banned, worker.begun,
                worker.refusals, worker.after, worker.ban_left_ns, worker.lifted, worker.ban_level,
                worker.exempt_range, worker.limits.size());
        for (const KeyBucketState& bucket : worker.limits) {
            add_all(out, bucket.limit, bucket.own, bucket.overridden, bucket.rate_units,
                    bucket.rate_ns, bucket.aggregation_level, bucket.before, bucket.remaining,
                    bucket.most, bucket.wait_ns, bucket.given_wider, bucket.range);
        }
    }
}
void spell(Fields& out, const Welcome& m) {
    add_all(out, m.version, m.pid, m.generation, m.rss_mapping.tunnels, m.rss_mapping.workers,
            m.rss_mapping.merge_interval.count(), m.rss_mapping.ports.size());
    for (const PortRssMapping& port : m.rss_mapping.ports) {
        add_all(out, port.pair, port.dir, port.by, port.rss, port.way);
    }
    const PacketTreatment& treatment = m.treatment;
    const UnitOptions& units = treatment.units;
    add_all(out, treatment.malformed, treatment.tunnels.gre, treatment.tunnels.vxlan,
            treatment.tunnels.ipip, treatment.tunnels.geneve, treatment.tunnels.gtpu,
            treatment.tunnels.others.front().port, treatment.tunnels.others.front().tunnel,
            units.connections.max, units.connections.head_bytes, units.connections.timeout.count(),
            units.connections.when_full, units.fragments.policy, units.fragments.table,
            units.fragments.timeout.count(), units.on_ambiguous, units.quic_initials_percent);
}
void spell(Fields& out, const SetMergeInterval& m) {
    add(out, m.interval_ns);
}
void spell(Fields& out, const MergeIntervalSet& m) {
    add_all(out, m.interval_ns, m.shared_limits);
}
void spell(Fields& out, const Applied& m) {
    add(out, m.generation);
}
void spell(Fields& out, const RunningRules& m) {
    add_all(out, m.generation, m.source, m.modes);
}
void spell(Fields& out, const PanicSet& m) {
    add_all(out, m.pass, m.before, m.audit_dir);
}
void spell(Fields& out, const Failure& m) {
    add(out, m.what);
}
void spell(Fields& out, const PortStats& m) {
    add_all(out, m.pair, m.side, m.device, m.driver, m.link_up, m.held_down, m.gone, m.times_gone,
            m.mtu, m.rx_queues, m.tx_queues, m.rss, m.asked, m.hashes, m.handed_over, m.rx_packets,
            m.rx_bytes, m.tx_packets, m.tx_bytes, m.rx_missed, m.rx_no_mbuf, m.rx_errors,
            m.tx_errors, m.tx_full);
    add_all(out, m.kernel.attached, m.kernel.native, m.kernel.fail_open, m.kernel.program,
            m.kernel.heartbeat_ns, m.kernel.beat_age_ns, m.kernel.bridged_packets,
            m.kernel.bridged_bytes, m.kernel.dropped_packets, m.kernel.dropped_bytes,
            m.kernel.early_capacity, m.kernel.early_networks, m.kernel.early_left_out,
            m.kernel.managed_packets, m.kernel.managed_refused);
}
void spell(Fields& out, const ConnectionStats& m) {
    for (const std::uint64_t count : m.by_event) {
        add(out, count);
    }
    for (const std::uint64_t count : m.unread) {
        add(out, count);
    }
    add_all(out, m.connections, m.half_heads, m.held_lines, m.refused, m.given_up, m.quic_hellos,
            m.quic_half_hellos);
}
void spell(Fields& out, const AskStats& m) {
    for (const std::uint64_t count : m.by_event) {
        add(out, count);
    }
    add_all(out, m.waiting, m.reservations);
}
void spell(Fields& out, const WorkerStats& m) {
    add_all(out, m.lcore, m.bursts, m.stalled_ms, m.stalls, m.table_slots, m.table_entries,
            m.table_evictions, m.handed_over);
    for (const std::uint64_t count : m.bytes_by_verdict) {
        add(out, count);
    }
    for (const std::uint64_t count : m.by_table_event) {
        add(out, count);
    }
    for (const std::uint64_t count : m.by_unit_event) {
        add(out, count);
    }
    for (const std::uint64_t count : m.by_answer_event) {
        add(out, count);
    }
    spell(out, m.connections);
    spell(out, m.asks);
    add_all(out, m.shaping.held, m.shaping.room);
    for (const std::uint64_t cycles : m.stages.cycles) {
        add(out, cycles);
    }
    add_all(out, m.stages.packets, m.stages.turns, m.stages.cycles_per_second);
    for (const std::uint64_t count : m.by_ledger_event) {
        add(out, count);
    }
    for (const std::uint64_t count : m.by_verdict) {
        add(out, count);
    }
    for (const std::uint64_t count : m.by_reason) {
        add(out, count);
    }
    add(out, m.lanes.size());
    for (const std::string& lane : m.lanes) {
        add(out, lane);
    }
}
void spell(Fields& out, const Stats& m) {
    add_all(out, m.generation, m.uptime_ns, m.panic, m.rules.size(), m.ports.size(),
            m.workers.size());
    add_all(out, m.clock.set_back, m.clock.set_back_ns, m.clock.set_ahead,
            m.clock.instants_left_ns);
    add_all(out, m.heatmaps.epochs, m.heatmaps.late_workers, m.heatmaps.forgotten,
            m.heatmaps.left_out, m.heatmaps.lost_names, m.heatmaps.watched_limits,
            m.heatmaps.unwatched_limits);
    add_all(out, m.merge_interval_ns, m.state.rules, m.state.survives, m.state.has_snapshots,
            m.state.kept, m.state.mended, m.state.unknown, m.state.damaged, m.state.former_tables,
            m.state.former_debts, m.state.moved_debts, m.state.put_aside, m.state.not_kept,
            m.state.snapshots.done, m.state.snapshots.failed, m.state.snapshots.latest.bytes,
            m.state.snapshots.latest.age_ns);
    add_all(out, m.control.strangers, m.control.full, m.control.idle, m.control.uploads,
            m.control.memory, m.control.unsealed, m.control.unkept);
    for (const std::uint64_t count : m.events.by_kind) {
        add_all(out, count);
    }
    for (const RuleStats& rule : m.rules) {
        const RuleCounts& counts = rule.counts;
        add_all(out, rule.id, counts.admitted, counts.exceeded, counts.skipped, counts.exempted,
                counts.banned, counts.bans, rule.open_connections.has_value(),
                rule.open_connections.value_or(0), rule.limited_now.value_or(99),
                rule.overshoot.max_unsynced, rule.overshoot.promised, rule.overshoot.measured,
                counts.early_dropped, counts.admitted_bytes, counts.exceeded_bytes, rule.entries,
                rule.limits.size());
        for (const LimitStats& limit : rule.limits) {
            add_all(out, limit.name, limit.refused, limit.entries);
        }
    }
    for (const PortStats& port : m.ports) {
        spell(out, port);
    }
    for (const WorkerStats& worker : m.workers) {
        spell(out, worker);
    }
    add(out, m.services.size());
    for (const ServiceStats& service : m.services) {
        add_all(out, service.id, service.clients, service.servers);
    }
}
void spell(Fields& out, const GetTop& m) {
    add_all(out, m.rule, m.order, m.window, m.count);
}
void spell(Fields& out, const Top& m) {
    add_all(out, m.window_ns, m.samples, m.lost, m.keys.size());
    for (const TopKey& key : m.keys) {
        add_all(out, key.rule, key.key, key.window_ns, key.hits, key.hits_error, key.denied,
                key.denied_error, key.bytes, key.bytes_error);
        add_optional(out, key.remaining);
    }
}
void spell(Fields& out, const ListKeys& m) {
    add_all(out, m.generation, m.rule, m.bans, m.worker, m.position, m.most);
}
void spell(Fields& out, const KeyPage& m) {
    add_all(out, m.ends, m.worker, m.position, m.live, m.keys.size());
    for (const ListedKey& key : m.keys) {
        add_all(out, key.key, key.limit, key.named, key.text, key.digest, key.lcore, key.shared,
                key.level, key.own_numbers, key.remaining, key.most, key.left_ns, key.ban);
    }
}
void spell(Fields& out, const CountOwed& m) {
    add_all(out, m.generation, m.rule, m.limit, m.most, m.rate_units, m.rate_ns, m.worker,
            m.position);
}
void spell(Fields& out, const OwedKeys& m) {
    add_all(out, m.keys, m.longest_ns, m.ends, m.worker, m.position);
}
void spell(Fields& out, const IpPrefix& m) {
    add_all(out, m.version, m.length);
    for (const std::byte one : m.address.bytes) {
        add_all(out, std::to_integer<int>(one));
    }
}
void spell(Fields& out, const FindEarlyDrops& m) {
    spell(out, m.network);
    add_all(out, m.most);
}
void spell(Fields& out, const FoundEarlyDrops& m) {
    add_all(out, m.state, m.more, m.ports.size(), m.entries.size());
    for (const EarlyDropPort& port : m.ports) {
        add_all(out, port.pair, port.side, port.interface, port.capacity, port.networks,
                port.attached, port.whole);
    }
    for (const EarlyDropEntry& one : m.entries) {
        add_all(out, one.port, one.rule, one.source, one.of_source, one.left_ns, one.packets);
        spell(out, one.network);
    }
}
void spell(Fields& out, const ReadHeatmap& m) {
    add_all(out, m.origin, m.after, m.looked_at.size());
    for (const std::string& rule : m.looked_at) {
        add(out, rule);
    }
}
void spell(Fields& out, const HeatLimit& m) {
    add_all(out, m.rule, m.limit, m.sampling_bits, m.left_out, m.samples.size(), m.names.size());
    for (const HeatSample& sample : m.samples) {
        add_all(out, sample.digest, sample.offered, sample.refused, sample.least_left);
    }
    for (const NamedHeatKey& named : m.names) {
        add_all(out, named.digest, named.key, named.packets.size());
        for (const HeatPacket& packet : named.packets) {
            add(out, packet.fields.size());
            for (const HeatField& field : packet.fields) {
                add_all(out, field.name, field.value);
            }
        }
    }
}
void spell(Fields& out, const HeatmapEpochs& m) {
    add_all(out, m.origin, m.latest, m.epochs.size());
    for (const HeatEpoch& epoch : m.epochs) {
        add_all(out, epoch.number, epoch.generation, epoch.began_utc_ns, epoch.ended_utc_ns,
                epoch.late_workers, epoch.lost_names, epoch.limits.size());
        for (const HeatLimit& limit : epoch.limits) {
            spell(out, limit);
        }
    }
}
void spell(Fields& out, const GetEvents& m) {
    add_all(out, m.origin, m.from, m.most);
}
void spell(Fields& out, const Events& m) {
    add_all(out, m.origin, m.next, m.missed, m.events.size());
    for (const KeyEvent& event : m.events) {
        add_all(out, event.number, event.kind, event.utc_ns, event.for_ns, event.lcore, event.lost,
                event.rule, event.limit, event.key);
    }
}
void spell(Fields& out, const BeginTrace& m) {
    spell(out, m.condition);
    add_all(out, m.conditional, m.rule, m.refused, m.would_refuse, m.snap, m.preview);
    for (const std::uint64_t word : m.seal) {
        add(out, word);
    }
}
void spell(Fields& out, const ReadTrace& m) {
    add_all(out, m.origin, m.number);
}
void spell(Fields& out, const EndTrace& m) {
    add_all(out, m.origin, m.number);
}
void spell(Fields& out, const TraceBegun& m) {
    add_all(out, m.origin, m.number, m.most_per_second, m.unread_after_ms, m.unread_fields.size());
    for (const std::string& field : m.unread_fields) {
        add(out, field);
    }
}
void spell(Fields& out, const TracedPackets& m) {
    add_all(out, m.known, m.other_start, m.judges, m.has_rule, m.left_out, m.packets.size());
    for (const TracedPacket& packet : m.packets) {
        add_all(out, packet.utc_ns, packet.lcore, packet.pair, packet.dir, packet.verdict,
                packet.reason, packet.rule, packet.key, packet.limit, packet.wait_ns,
                packet.matched_count, packet.service, packet.would_refuse, packet.why_would_refuse,
                packet.has_ip, packet.has_ports, packet.is_v6, packet.proto, packet.sport,
                packet.dport, packet.wire_size, packet.frame.size());
        for (const std::string& rule : packet.matched) {
            add(out, rule);
        }
        for (std::size_t i = 0; i < packet.src.bytes.size(); ++i) {
            add_all(out, packet.src.bytes[i], packet.dst.bytes[i]);
        }
    }
}
void spell(Fields& out, const ReadPreview& m) {
    add_all(out, m.origin, m.number, m.bits);
}
void spell(Fields& out, const PreviewedPackets& m) {
    const PreviewAmounts& counted = m.counted;
    add_all(out, m.known, m.other_start, m.judges, m.generation, m.bits, counted.packets,
            counted.bytes, counted.openings, counted.units, m.decided, m.keyless, m.left_out,
            m.records.size(), m.keys.size());
    for (const PreviewRecord& record : m.records) {
        add_all(out, record.utc_ns, record.digests[0], record.digests[1], record.amounts.packets,
                record.amounts.bytes, record.amounts.openings, record.amounts.units);
    }
    for (const PreviewKeyText& key : m.keys) {
        add_all(out, key.digest, key.text);
    }
}
template <typename Message>
Fields spelled(const Message& message) {
    Fields out{std::to_string(message.index())};
    std::visit([&](const auto& m) { spell(out, m); }, message);
    return out;
}

// Every message of both directions, encoded, with what decodes it to a second encoding.
struct Encoded {
    Payload bytes;
    std::function<std::optional<Payload>(ByteView)> again;
};
std::optional<Payload> request_again(ByteView bytes) {
    const Result<Request> request = decode_request(bytes);
    return request ? std::optional{encode(*request)} : std::nullopt;
}
std::optional<Payload> reply_again(ByteView bytes) {
    const Result<Reply> reply = decode_reply(bytes);
    return reply ? std::optional{encode(*reply)} : std::nullopt;
}
std::vector<Encoded> encoded_messages(std::uint64_t seed) {
    std::vector<Encoded> all;
    RandomMessage random{seed};
    for (const Request& request : random.requests()) {
        all.push_back({encode(request), request_again});
    }
    for (const Reply& reply : random.replies()) {
        all.push_back({encode(reply), reply_again});
    }
    return all;
}

TEST(Codec, EveryMessageComesBackAsItWas) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomMessage random{seed};
        for (const Request& request : random.requests()) {
            const Result<Request> back = decode_request(encode(request));
            ASSERT_TRUE(back) << back.error().what;
            EXPECT_EQ(spelled(*back), spelled(request));
        }
        for (const Reply& reply : random.replies()) {
            const Result<Reply> back = decode_reply(encode(reply));
            ASSERT_TRUE(back) << back.error().what;
            EXPECT_EQ(spelled(*back), spelled(reply));
        }
    }
}

TEST(Codec, EveryTruncationIsAnError) {
    for (std::uint64_t seed = 0; seed < kCutSeeds; ++seed) {
        for (const Encoded& message : encoded_messages(seed)) {
            for (std::size_t size = 0; size < message.bytes.size(); ++size) {
                EXPECT_FALSE(message.again(ByteView{message.bytes}.first(size)))
                    << "kind " << std::to_integer<int>(message.bytes[0]) << " cut to " << size;
            }
        }
    }
}

TEST(Codec, BytesAfterTheMessageAreAnError) {
    for (Encoded& message : encoded_messages(1)) {
        message.bytes.push_back(std::byte{0});
        EXPECT_FALSE(message.again(message.bytes));
    }
}

// What survives a wrong byte is a message like any other: every message has one encoding. Each
// seed's messages are wrong in their own way, at every byte.
TEST(Codec, AWrongByteIsAnErrorOrAnotherMessage) {
    for (const std::uint64_t flip : {0x01U, 0x80U, 0xFFU}) {
        for (const Encoded& message : encoded_messages(flip)) {
            Payload bytes = message.bytes;
            for (std::size_t at = 0; at < message.bytes.size(); ++at) {
                bytes[at] ^= static_cast<std::byte>(flip);
                if (const std::optional<Payload> again = message.again(bytes)) {
                    EXPECT_EQ(*again, bytes);
                }
                bytes[at] = message.bytes[at];
            }
        }
    }
}

TEST(Codec, UnknownMessagesAndFlagsAreErrors) {
    for (const int kind : {7, 8, 0x7F, 0xFF}) {
        EXPECT_FALSE(decode_request(Payload{static_cast<std::byte>(kind)}));
    }
    EXPECT_FALSE(decode_reply(Payload{std::byte{6}}));
    EXPECT_FALSE(decode_request(Payload{std::byte{4}, std::byte{2}}));  // panic: neither on nor off
}

TEST(Codec, APromiseThatTheBytesCannotKeepIsRefused) {
    // ApplyRules: generation, then a count of numbers that would take 16 GB.
    Payload bytes(1 + 8, std::byte{0});
    bytes[0] = std::byte{1};
    bytes.insert(bytes.end(), 4, std::byte{0xFF});
    bytes.resize(1000, std::byte{0});
    EXPECT_FALSE(decode_request(bytes));
    // Failure with a text of 4 GB.
    EXPECT_FALSE(decode_reply(
        Payload{std::byte{5}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}}));
}

Schedule schedule_of(std::vector<Schedule::Range> hours,
                     std::vector<ZoneOffsets::Change> changes = {}) {
    ZoneOffsets zone{.name = "Zone/One"};
    zone.changes = std::move(changes);
    return {.zone = std::make_shared<const ZoneOffsets>(std::move(zone)),
            .active = std::move(hours)};
}

struct Unsound {
    const char* what;
    void (*break_it)(RuleSet&);
};
const Unsound kUnsound[] = {
    {"field", [](RuleSet& s) { s.rules[0].keys[0] = {{.field = Field{99}}}; }},
    {"mode off", [](RuleSet& s) { s.rules[0].mode = Mode::Off; }},
    {"mode", [](RuleSet& s) { s.rules[0].mode = Mode{9}; }},
    {"a heat map that is neither on nor off", [](RuleSet& s) { s.rules[0].heatmap = Heatmap{2}; }},
    {"an action that is not there", [](RuleSet& s) { s.rules[0].on_exceed = 2; }},
    {"an action that is not built",
     [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Shape}); }},
    {"a response that is not there",
     [](RuleSet& s) {
         s.actions.push_back({.verdict = Verdict::Reply, .answer = {.response = 1}});
     }},
    {"a decoy without a response",
     [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Decoy}); }},
    {"an answer that goes on to an answer",
     [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Reply, .answer = {.then = 2}}); }},
    {"a drop that answers",
     [](RuleSet& s) { s.actions.push_back({.verdict = Verdict::Drop, .answer = {.slip = 1}}); }},
    {"no actions", [](RuleSet& s) { s.actions.clear(); }},
    {"condition", [](RuleSet& s) { s.classifier = Classifier{{.always = {1}}}; }},
    {"a key too many", [](RuleSet& s) { s.rules[0].keys.emplace_back(); }},
    {"a key that is not there", [](RuleSet& s) { s.rules[0].limits[0].key = 1; }},
    {"no limit", [](RuleSet& s) { s.rules[0].limits.clear(); }},
    {"scope", [](RuleSet& s) { s.rules[0].limits[0].scope = LimitScope{4}; }},
    {"an owner group that is not there", [](RuleSet& s) { s.rules[0].owner_group = 1; }},
    {"more owner groups than rules", [](RuleSet& s) { s.owner_groups.resize(2); }},
    {"what owners go by", [](RuleSet& s) { s.owner_groups = {{.parts = {{.field = Field{99}}}}}; }},
    {"a schedule that is not there", [](RuleSet& s) { s.rules[0].schedule = 1; }},
    {"hours of no week", [](RuleSet& s) { s.schedules = {schedule_of({{0, 604'801}})}; }},
    {"hours that end before they begin",
     [](RuleSet& s) { s.schedules = {schedule_of({{3600, 3600}})}; }},
    {"hours in another order",
     [](RuleSet& s) { s.schedules = {schedule_of({{7200, 9000}, {0, 3600}})}; }},
    {"a zone further from UTC than any",
     [](RuleSet& s) { s.schedules = {schedule_of({}, {{0, 100'000}})}; }},
    {"a zone whose changes are in another order",
     [](RuleSet& s) { s.schedules = {schedule_of({}, {{7, 3600}, {7, 0}})}; }},
    {"more schedules than a word has bits",
     [](RuleSet& s) { s.schedules.assign(kMaxSchedules + 1, schedule_of({})); }},
    {"a name that is no token",
     [](RuleSet& s) { s.named_texts = {{TextName::Kind::Header, "x y"}}; }},
    {"a name of no kind",
     [](RuleSet& s) { s.named_texts = {{static_cast<TextName::Kind>(4), "x"}}; }},
    {"one header twice",
     [](RuleSet& s) {
         s.named_texts = {{TextName::Kind::Header, "x"}, {TextName::Kind::Header, "X"}};
     }},
    {"a derived text of another field",
     [](RuleSet& s) {
         s.named_texts = {
             {.kind = TextName::Kind::PathPrefix, .source = TextField::TlsSni, .segments = 1}};
     }},
    {"a domain without a list that says what one is",
     [](RuleSet& s) {
         s.named_texts = {{.kind = TextName::Kind::RegistrableDomain, .source = TextField::TlsSni}};
         s.rules[0].keys[0] = {{.text = named_text(0), .room = 16}};
     }},
    {"a list of suffixes that is none",
     [](RuleSet& s) {
         s.suffixes = std::make_shared<const std::vector<SuffixRule>>(
             std::vector<SuffixRule>{{"com.", SuffixRule::kExact}});
     }},
    {"a text that has no name",
     [](RuleSet& s) { s.rules[0].keys[0] = {{.text = named_text(0), .room = 16}}; }},
    {"two of a name", [](RuleSet& s) { s.rules.push_back(s.rules[0]); }},
};

RuleSet one_rule() {
    RuleSet set;
    Rule rule;
    rule.id = "one";
    rule.keys.emplace_back();
    rule.limits = {
        {.identity = 1,
         .name = "1",
         .per = Per::Packet,
         .limit = TokenBucketLimit{*Limit::make({Units{7}, std::chrono::seconds{3}}, Units{9})}}};
    set.rules = {rule};
    return set;
}

TEST(Codec, ARuleSetThatIsNotSoundIsRefused) {
    ASSERT_TRUE(decode_request(encode(Request{ApplyRules{one_rule(), "", ""}})));
    for (const Unsound& row : kUnsound) {
        RuleSet set = one_rule();
        row.break_it(set);
        EXPECT_FALSE(decode_request(encode(Request{ApplyRules{set, "", ""}}))) << row.what;
        EXPECT_FALSE(decode_request(encode(Request{TryRules{{set, "", ""}}}))) << row.what;
    }
}

TEST(Codec, ANetworkThatIsNoneIsRefused) {
    const auto is_taken = [](const FindEarlyDrops& asked) {
        return decode_request(encode(Request{asked})).has_value();
    };
    const IpAddress address = parse_address("10.1.0.0")->address;
    EXPECT_TRUE(is_taken({{IpVersion::V4, address, 16}, 1}));
    EXPECT_TRUE(is_taken({{IpVersion::V6, address, 16}, kMostEarlyDrops}));
    EXPECT_FALSE(is_taken({{IpVersion::V4, address, 15}, 1})) << "host bits";
    EXPECT_FALSE(is_taken({{IpVersion::V4, address, 33}, 1}));
    EXPECT_FALSE(is_taken({{IpVersion::V6, address, 129}, 1}));
    EXPECT_FALSE(is_taken({{IpVersion{5}, address, 16}, 1}));
    EXPECT_FALSE(is_taken({{IpVersion::V4, address, 16}, 0}));
    EXPECT_FALSE(is_taken({{IpVersion::V4, address, 16}, kMostEarlyDrops + 1}));
    FoundEarlyDrops found;
    found.ports.resize(1);
    found.entries.push_back({.port = 0, .network = {IpVersion::V4, address, 16}});
    EXPECT_TRUE(decode_reply(encode(Reply{found})));
    found.entries[0].port = 1;
    EXPECT_FALSE(decode_reply(encode(Reply{found}))) << "a port that is not there";
}

// 7 in 3 s is not reduced as 14 in 6 s: only one spelling of a limit is taken.
TEST(Codec, ALimitThatBreaksItsInvariantIsRefused) {
    const Payload good = encode(Request{ApplyRules{one_rule(), "", ""}});
    // period, parts and burst stand before a count (values of no field), no ban (an action, no tag,
    // no boxes), a flag (no overrides), the counts of no owner groups, no schedules, no names and
    // no databases, the two empty texts, and the seal.
    const std::size_t burst =
        good.size() - sizeof(DatabaseSeal) - 8 - 4 - 4 - 4 - 4 - 1 - 9 - 4 - 8;
    const std::size_t parts = burst - 4;
    const std::size_t period = parts - 8;
    for (const std::size_t at : {burst, parts, period}) {
        Payload zero = good;
        std::fill_n(zero.begin() + static_cast<std::ptrdiff_t>(at), at == parts ? 4 : 8,
                    std::byte{0});
        EXPECT_FALSE(decode_request(zero)) << at;
        Payload huge = good;
        std::fill_n(huge.begin() + static_cast<std::ptrdiff_t>(at), at == parts ? 4 : 8,
                    std::byte{0xFF});
        EXPECT_EQ(decode_request(huge).has_value(), false) << at;
    }
    Payload doubled = good;
    doubled[parts] = std::byte{14};
    const std::uint64_t six = 6'000'000'000;
    std::memcpy(doubled.data() + period, &six, sizeof(six));
    EXPECT_FALSE(decode_request(doubled));
}

TEST(Generation, BelongsToWhatTheWorkersActOn) {
    const std::uint64_t base = generation_of(one_rule());
    EXPECT_NE(base, 0U);
    EXPECT_EQ(generation_of(one_rule()), base);

    RuleSet renamed = one_rule();
    renamed.generation = base;
    EXPECT_EQ(generation_of(renamed), base) << "its own number does not count";

    const auto other = [&](void (*change)(RuleSet&)) {
        RuleSet set = one_rule();
        change(set);
        return generation_of(set);
    };
    EXPECT_NE(other([](RuleSet& s) { s.rules[0].mode = Mode::Enforce; }), base);
    EXPECT_NE(other([](RuleSet& s) { s.rules[0].id = "two"; }), base);
    EXPECT_NE(other([](RuleSet& s) { s.rules.clear(); }), base);
    EXPECT_NE(other([](RuleSet& s) { s.services.push_back({.id = "web"}); }), base);
    EXPECT_NE(other([](RuleSet& s) {
                  ClassifierParts parts;
                  parts.always = {0};
                  s.service_classifier = Classifier{parts};
              }),
              base);
    EXPECT_NE(generation_of(RuleSet{}), 0U);
}

}  // namespace
}  // namespace sluice::codec_test

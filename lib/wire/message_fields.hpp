#pragma once
#include "lib/wire/config_fields.hpp"
#include "lib/wire/message.hpp"
#include "lib/wire/rule_set_fields.hpp"

#include <cstdint>

// Fields of messages whose structs belong to layers that know nothing of the wire.
namespace sluice {

void serialize(auto& archive, Of<PortRssMapping> auto& m) {
    archive(m.pair);
    archive.word(m.dir, Direction::Out);
    archive.word(m.by, PortRssMapping::By::Unknown);
    archive.word(m.rss, Rss::SourcePrefix);
    archive(m.way);
}
template <typename Archive>
void serialize(Archive& archive, Of<RssMapping> auto& m) {
    auto workers = static_cast<std::uint32_t>(m.workers);
    archive(m.ports, m.tunnels, workers, m.merge_interval);
    if constexpr (Archive::kReads) {
        m.workers = workers;
    }
}
void serialize(auto& archive, Of<PacketTreatment> auto& m) {
    archive.word(m.malformed, MalformedPolicy::Pass);
    archive(m.tunnels, m.units);
}
void serialize(auto& archive, Of<KeyEvent> auto& m) {
    archive.word(m.kind, KeyEventKind::DebtsForgiven);
    archive(m.number, m.utc_ns, m.for_ns, m.lcore, m.lost, m.packets, m.rule, m.limit, m.key);
}
void serialize(auto& archive, Of<TracedPacket> auto& m) {
    archive(m.utc_ns, m.lcore, m.pair);
    archive.word(m.dir, Direction::Out);
    archive.word(m.verdict, Verdict::Drop);
    archive.word(m.reason, static_cast<Reason>(kReasonCount - 1));
    archive(m.rule, m.key, m.limit, m.wait_ns, m.matched, m.matched_count, m.has_ip, m.has_ports);
    archive(m.service, m.would_refuse);
    archive.word(m.why_would_refuse, static_cast<Reason>(kReasonCount - 1));
    archive(m.is_v6, m.src.bytes, m.dst.bytes, m.proto, m.sport, m.dport, m.wire_size, m.frame);
    archive.check(m.frame.size() <= kMostTracedBytes);
}
void serialize(auto& archive, Of<PreviewAmounts> auto& m) {
    archive(m.packets, m.bytes, m.openings, m.units);
}
void serialize(auto& archive, Of<PreviewRecord> auto& m) {
    archive(m.utc_ns, m.digests, m.amounts);
}
void serialize(auto& archive, Of<HeatStats> auto& m) {
    serialize_rows(archive, m);
}
void serialize(auto& archive, Of<HeatSample> auto& m) {
    archive(m.digest, m.offered, m.refused, m.least_left);
    archive.check(m.digest >> HeatSample::kDigestBits == 0);
}
void serialize(auto& archive, Of<HeatField> auto& m) {
    archive(m.name, m.value);
}
void serialize(auto& archive, Of<HeatPacket> auto& m) {
    archive(m.fields);
}
void serialize(auto& archive, Of<NamedHeatKey> auto& m) {
    archive(m.digest, m.key, m.packets);
    archive.check(m.packets.size() <= kMostPacketsOfKey);
}
void serialize(auto& archive, Of<HeatLimit> auto& m) {
    archive(m.rule, m.limit, m.sampling_bits, m.left_out, m.samples, m.names);
    archive.check(m.sampling_bits < 64);
}
void serialize(auto& archive, Of<HeatEpoch> auto& m) {
    archive(m.number, m.generation, m.began_utc_ns, m.ended_utc_ns, m.late_workers, m.lost_names,
            m.limits);
}
void serialize(auto& archive, Of<TopKey> auto& m) {
    archive(m.rule, m.key, m.window_ns, m.hits, m.hits_error, m.denied, m.denied_error, m.bytes,
            m.bytes_error, m.remaining, m.exempt, m.banned);
}

}  // namespace sluice

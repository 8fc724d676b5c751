#include "lib/l7/stream/service_tracking.hpp"

#include "lib/l7/stream/agreed_upgrade.hpp"
#include "lib/l7/stream/made_reset.hpp"
#include "lib/l7/stream/service_rows.hpp"
#include "lib/l7/stream/track/segment_bytes.hpp"
#include "lib/l7/stream/track_reasons.hpp"
#include "lib/packet/ip_options.hpp"
#include "lib/packet/transport.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace sluice {
namespace {

// Segments that begin no request are forwarded for so long after a service was first read, or a
// gap.
constexpr Nanoseconds kGrace = std::chrono::seconds{60};
// Servers wait for a handshake over datagrams for so long.
constexpr Nanoseconds kDatagramHandshake = std::chrono::seconds{10};
// Connections that have timed out are forgotten at the pace of bursts.
constexpr unsigned kForgottenPerBurst = 4;

// The number of a connection is the same in every process: ends are a keyed digest already.
constexpr HashSecret kFixedSecret{};

TrackBudget track_budget(const ConnectionBudget& budget) noexcept {
    return {.connections = budget.connections,
            .half_open = std::max<std::size_t>(budget.connections / 4, 64),
            .midstream = std::max<std::size_t>(budget.connections / 16, 64)};
}

bool is_of_udp(const Service& service) noexcept {
    return service.protocol == ServiceProtocol::Dns || service.protocol == ServiceProtocol::Quic;
}

// Rows that may be fragments of UDP: those of one datagram of IPv6 may name other protocols.
RowMask fragments_of(const HeaderColumns& headers, RowMask rows) noexcept {
    RowMask fragments = 0;
    for_each_row(rows & headers.present_rows(Field::IpFrag) & ~headers.common,
                 [&](std::size_t row) {
                     const bool is_later_v6 =
                         headers.frag[row] == Fragment::Later && has_row(headers.v6, row);
                     const bool is_udp = headers.proto[row] == kProtoUdp || is_later_v6;
                     fragments |= headers.frag[row] != Fragment::None && is_udp ? row_bit(row) : 0;
                 });
    return fragments;
}

// A segment to the tracker; nullopt: its header is not all at hand.
std::optional<TrackedSegment> segment_of(const UnitColumns& burst, std::size_t row,
                                         std::uint16_t slot) noexcept {
    std::optional<TrackedSegment> segment =
        read_tracked_segment(burst.headers.headers(row), burst.frames.frame(row).bytes);
    if (segment) {
        segment->ends = burst.ends[row].digest;
        segment->from_low = burst.ends[row].from_low;
        segment->service = slot;
    }
    return segment;
}

TrackPolicy policy_of(const Service& service, Instant grace_until) noexcept {
    return {.enforced = service.mode == Mode::Enforce,
            .inbound_only = service.path == ServicePath::Inbound,
            .midstream = static_cast<MidstreamPolicy>(service.midstream),
            .min_ttl = service.min_ttl,
            .grace_until = grace_until,
            .protocol = static_cast<std::uint8_t>(service.protocol)};
}
static_assert(static_cast<int>(ChecksumPolicy::Auto) == static_cast<int>(Checksums::Auto) &&
              static_cast<int>(ChecksumPolicy::Verify) == static_cast<int>(Checksums::Verify) &&
              static_cast<int>(ChecksumPolicy::Trust) == static_cast<int>(Checksums::Trust));
static_assert(kMaxServices == kMostServices);
static_assert(static_cast<int>(MidstreamPolicy::Inspect) == static_cast<int>(Midstream::Inspect) &&
              static_cast<int>(MidstreamPolicy::Reset) == static_cast<int>(Midstream::Reset) &&
              static_cast<int>(MidstreamPolicy::Pass) == static_cast<int>(Midstream::Pass));

}  // namespace

ServiceTracking::ServiceTracking(const UnitBudget& budget, KeptMemory& memory)
    : kept_names_{memory.take(sizeof(ServiceSlots::Names))},
      is_kept_{memory.is_kept()},
      tracker_{track_budget(budget.connections), KeyHasher{kFixedSecret}, memory},
      datagrams_{budget.datagrams} {}

std::uint64_t ServiceTracking::kept_of(const UnitBudget& budget) noexcept {
    return KeptMemory::taken_for(sizeof(ServiceSlots::Names)) +
           ConnectionTracker::kept_of(track_budget(budget.connections));
}

void ServiceTracking::take_over(Instant now) {
    ServiceSlots::Names names{};
    std::memcpy(names.data(), kept_names_.data(), sizeof(names));
    slots_.take_over(names);
    tracker_.take_over(now);
}

void ServiceTracking::keep_names() noexcept {
    if (is_kept_) {
        std::memcpy(kept_names_.data(), slots_.names().data(), sizeof(ServiceSlots::Names));
    }
}

std::uint64_t ServiceTracking::memory_of(const UnitBudget& budget) noexcept {
    return ConnectionTracker::memory_of(track_budget(budget.connections)) +
           ServiceDatagrams::memory_of(budget.datagrams);
}

// Services keep their connections from one rule set to the next. Where sets came between that this
// worker was not shown, or packets were forwarded unread, what is remembered has gaps.
void ServiceTracking::adopt(const TrackedColumns& burst) noexcept {
    const Instant now = burst.burst.now;
    const bool has_gap = burst.untracked_bursts != untracked_bursts_;
    if (has_gap) {
        tracker_.note_unseen(now);
    }
    // Services of an earlier process have their numbers, and nothing else.
    std::array<bool, kMaxServices> is_new{};
    is_new.fill(load_ == 0);
    slots_.adopt(burst.services, [&](std::uint16_t slot) { is_new[slot] = true; });
    keep_names();
    for (std::size_t index = 0; index < burst.services.all.size(); ++index) {
        const std::uint16_t slot = slots_.slot_of(index);
        const bool begins_to_enforce = !is_new[slot] && !policies_[slot].enforced &&
                                       burst.services.all[index].mode == Mode::Enforce;
        const bool begins = is_new[slot] || has_gap || begins_to_enforce;
        const Instant grace = begins ? now + kGrace : policies_[slot].grace_until;
        policies_[slot] = policy_of(burst.services.all[index], grace);
        if (begins_to_enforce) {
            // Nothing was kept from its servers but what the path drops, and clients say what that
            // is: what was read may be what no server has.
            tracker_.note_unseen_of(slot, now);
            ++modes_[slot];
        }
        const Checksums checksums = burst.services.all[index].checksums;
        const bool is_other = is_new[slot] || checksums != checksum_policies_[slot];
        checksum_policies_[slot] = checksums;
        for (PortChecksums* const side : {&checksums_[slot], &server_checksums_[slot]}) {
            // A service that monitors forwards what a forged proof of offloads is made of. What
            // verifies by then goes on, without the sources that were believed.
            const bool is_doubtful =
                begins_to_enforce && side->state() != PortChecksums::State::Verifying;
            if (is_other || is_doubtful) {
                *side =
                    PortChecksums{static_cast<ChecksumPolicy>(checksums), UnfinishedSums::ByProof};
            } else if (begins_to_enforce) {
                side->forget_takers();
            }
        }
    }
    reads_datagrams_ = std::any_of(burst.services.all.begin(), burst.services.all.end(), is_of_udp);
    for (std::uint16_t slot = 0; slot < kMaxServices; ++slot) {
        publish(slot);
    }
    load_ = burst.load;
    untracked_bursts_ = burst.untracked_bursts;
}

void ServiceTracking::track(const TrackedColumns& burst, RowMask rows, const Following& follow,
                            ServiceRowsOutcome& outcome) noexcept {
    const UnitColumns& columns = burst.burst;
    if (burst.load != load_ || burst.untracked_bursts != untracked_bursts_) [[unlikely]] {
        adopt(burst);
    }
    ServiceRows found;
    const RowMask reaching =
        find_services(columns.headers, rows, burst.services, burst.scratch, found);
    const RowMask segments = rows & columns.headers.present_rows(HeaderPart::Tcp);
    for_each_row(segments, [&](std::size_t row) { tracker_.prefetch(columns.ends[row].digest); });
    (void)tracker_.expire(columns.now, kForgottenPerBurst);
    const RowMask fragments =
        reads_datagrams_ ? fragments_of(columns.headers, rows & ~segments) : 0;
    for_each_row(fragments, [&](std::size_t row) {
        const bool reaches = has_row(reaching, row) && is_of_udp(burst.services.all[found[row]]);
        take_fragment(burst, row, reaches ? slots_.slot_of(found[row]) : kNoService, outcome);
    });
    for_each_row(reaching & ~(segments | fragments),
                 [&](std::size_t row) { take_datagram(burst, row, found[row], outcome); });
    for_each_row(segments, [&](std::size_t row) {
        const bool reaches = has_row(reaching, row);
        // Rows before it in the burst may have made its connection known.
        if (reaches || tracker_.may_know(columns.ends[row].digest)) {
            track_segment(burst, row, reaches ? slots_.slot_of(found[row]) : kNoService, follow,
                          outcome);
        }
    });
}

// Clients of datagrams may be in the middle of a handshake.
bool ServiceTracking::has_begun_lately(std::uint16_t slot, Instant now) const noexcept {
    return now < policies_[slot].grace_until - kGrace + kDatagramHandshake;
}

void ServiceTracking::meet_again(const TrackedColumns& burst,
                                 ServiceRowsOutcome& outcome) noexcept {
    if (burst.load != load_ || burst.untracked_bursts != untracked_bursts_) [[unlikely]] {
        adopt(burst);
    }
    for_each_row(outcome.with_service, [&](std::size_t row) {
        ServicePacket& packet = outcome.packets[row];
        const std::uint16_t index = slots_.index_of(packet.slot);
        if (index != ServiceSlots::kNone) {
            packet.service = &burst.services.all[index];
        } else {
            packet = {};
            outcome.with_service &= ~row_bit(row);
        }
    });
}

void ServiceTracking::track_segment(const TrackedColumns& burst, std::size_t row,
                                    std::uint16_t slot, const Following& follow,
                                    ServiceRowsOutcome& outcome) noexcept {
    const UnitColumns& columns = burst.burst;
    std::optional<TrackedSegment> segment = segment_of(columns, row, slot);
    if (!segment) {
        return;
    }
    // A connection that is known may turn out to be another one, which begins with its SYN.
    if (slot != kNoService &&
        (segment->has(kTcpSyn) || tracker_.service_of(segment->ends) == kNoService)) {
        segment->source = source_of_client(columns, row);
    }
    look_at_checksum(columns, row, slot, *segment);
    TrackVerdict verdict = tracker_.track(*segment, policies_, columns.now);
    const bool is_asked = verdict.kind == TrackVerdict::Kind::Inspect;
    if (is_asked || (verdict.may_miss_some && verdict.readable)) [[unlikely]] {
        const std::uint16_t index = slots_.index_of(verdict.service);
        const ClientBytes bytes =
            index == ServiceSlots::kNone
                ? ClientBytes::BeginNone
                : follow.follows(
                      follow.reader, columns, row,
                      {.connection = connection_of(verdict, columns.ends[row]),
                       .seq = segment->seq,
                       .protocol = burst.services.all[index].protocol,
                       .is_taken_up = !is_asked,
                       .is_late = columns.now >= policies_[verdict.service].grace_until});
        if (is_asked) {
            verdict = tracker_.settle_midstream(*segment, policies_, bytes, columns.now);
        } else if (bytes == ClientBytes::BeginHalf) {
            tracker_.refuse_half(*segment, verdict);
        }
    }
    note_proofs(verdict);
    take_verdict(verdict, burst, row, outcome);
}

// A fragment of a datagram that may be of a service.
void ServiceTracking::take_fragment(const TrackedColumns& burst, std::size_t row,
                                    std::uint16_t slot, ServiceRowsOutcome& outcome) noexcept {
    using What = FragmentReading::What;
    const UnitColumns& columns = burst.burst;
    const FragmentReading reading = datagrams_.take({.headers = columns.headers.headers(row),
                                                     .frame = columns.frames.frame(row),
                                                     .hash = columns.hash,
                                                     .now = columns.now,
                                                     .counters = burst.counters},
                                                    slot, checksums_);
    if (reading.what == What::NotMine || slots_.index_of(reading.service) == ServiceSlots::kNone) {
        return;
    }
    outcome.with_service |= row_bit(row);
    outcome.packets[row] = {.service = &burst.services.all[slots_.index_of(reading.service)],
                            .slot = reading.service,
                            .datagram = reading.datagram,
                            .share = reading.what == What::Read      ? DatagramShare::Last
                                     : reading.what == What::Follows ? DatagramShare::Copy
                                                                     : DatagramShare::Fragment,
                            .is_from_client = true,
                            .is_readable = reading.what == What::Read,
                            .may_miss_some = has_begun_lately(reading.service, columns.now)};
    if (reading.what == What::Refused) {
        outcome.refuse(row, reading.why);
    } else if (reading.what != What::Passes) {
        outcome.in_fragments |= row_bit(row);
        outcome.ports[row] = reading.ports;
    }
}

// A datagram to a service, or a later fragment: those of TCP have no ports, and are of no segment.
void ServiceTracking::take_datagram(const TrackedColumns& burst, std::size_t row, std::size_t index,
                                    ServiceRowsOutcome& outcome) noexcept {
    const bool is_tcp = burst.burst.headers.proto[row] == kProtoTcp;
    outcome.with_service |= row_bit(row);
    outcome.packets[row] = {
        .service = &burst.services.all[index],
        .slot = slots_.slot_of(index),
        .is_from_client = true,
        .may_miss_some = has_begun_lately(slots_.slot_of(index), burst.burst.now)};
    if (is_tcp) {
        outcome.refuse(row, Reason::TcpFragment);
    } else if (!is_taken_by_hosts(burst.burst.headers.headers(row),
                                  burst.burst.frames.frame(row).bytes)) {
        outcome.refuse(row, Reason::DoubtfulOptions);
    } else if (is_wrong_datagram(burst.burst, row, slots_.slot_of(index))) {
        outcome.refuse(row, Reason::WrongChecksum);
    } else {
        outcome.packets[row].is_readable = true;
    }
}

void ServiceTracking::note_reset(const MadeReset& reset, Instant now) noexcept {
    const TrackedSegment segment{.ends = reset.ends.digest,
                                 .from_low = reset.ends.from_low,
                                 .seq = reset.seq,
                                 .flags = kTcpRst,
                                 .ttl = UINT8_MAX,  // nothing is to be raised
                                 .is_made_here = true};
    (void)tracker_.track(segment, policies_, now);
}

void ServiceTracking::note_upgrade(const AgreedUpgrade& upgrade) noexcept {
    tracker_.mark(upgrade.ends.digest, upgrade.connection,
                  upgrade.is_passed ? TrackMark::Upgraded : TrackMark::Unreadable);
}

// One without an identity of its own is another one once its service has begun to enforce.
std::uint64_t ServiceTracking::connection_of(const TrackVerdict& verdict,
                                             const ConnectionEnds& ends) const noexcept {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
    return verdict.id != 0 ? verdict.id : ends.along() + kOdd * modes_[verdict.service];
}

void ServiceTracking::take_verdict(const TrackVerdict& verdict, const TrackedColumns& burst,
                                   std::size_t row, ServiceRowsOutcome& outcome) const noexcept {
    if (verdict.kind == TrackVerdict::Kind::Untracked || verdict.service == kNoService ||
        slots_.index_of(verdict.service) == ServiceSlots::kNone) {
        return;
    }
    const LoadedService& service = burst.services.all[slots_.index_of(verdict.service)];
    const ConnectionEnds ends = burst.burst.ends[row];
    const bool forwards = verdict.forwards();
    const bool is_upgraded = verdict.has(TrackMark::Upgraded);
    const bool is_other_syn =
        (burst.burst.headers.tcp_flags[row] & kTcpSyn) != 0 && verdict.id != 0;
    outcome.with_service |= row_bit(row);
    outcome.packets[row] = {
        .service = &service,
        .slot = verdict.service,
        .connection = connection_of(verdict, ends),
        .first = verdict.first,
        .is_other_syn = is_other_syn,
        .is_next = verdict.is_next,
        .acknowledged = verdict.take_from,
        .sent = verdict.sent,
        .client_fin = verdict.client_fin,
        .client_ends = forwards && !is_upgraded && !is_other_syn && verdict.client_ends,
        .is_from_client = verdict.from_client,
        .is_proxied = verdict.from_client && !service.proxies.empty() &&
                      service.is_proxied(burst.burst.headers.address(Field::IpSrc, row)),
        .is_readable = forwards && verdict.readable && !is_upgraded,
        .is_unreadable = verdict.has(TrackMark::Unreadable),
        .is_midstream = verdict.midstream,
        .may_miss_some = verdict.may_miss_some,
        .is_server_unheard = verdict.is_server_unheard,
        .is_beginning = !verdict.midstream && !verdict.is_long && verdict.id != 0 &&
                        verdict.take_from == verdict.first,
        .is_long = verdict.is_long,
        .is_established = verdict.established,
        .is_end = forwards && verdict.ended};
    if (!forwards) {
        outcome.refuse(row, reason_of(verdict.reason));
        // The server has acknowledged the very number that the segment begins at, or that it has.
        const bool resets = verdict.kind == TrackVerdict::Kind::Reset &&
                            (verdict.reason == TrackReason::MidstreamReset || verdict.ends_revived);
        outcome.resets |= resets ? outcome.refused & row_bit(row) : 0;
        return;
    }
    const bool changes =
        verdict.clear_urgent || verdict.clear_options || verdict.raise_ttl || verdict.is_probe;
    if (changes && outcome.packets[row].is_enforced()) {
        Normalization& change = outcome.normalize(row);
        change.clears_urgent = verdict.clear_urgent;
        change.clears_options = verdict.clear_options;
        change.is_probe = verdict.is_probe;
        change.raises_to = verdict.raise_ttl ? service.min_ttl : std::uint8_t{0};
    }
}

}  // namespace sluice

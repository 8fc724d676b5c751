#include "lib/units/service_tracking.hpp"

#include "lib/conn/track/segment_bytes.hpp"
#include "lib/packet/transport.hpp"
#include "lib/pipeline/service_rows.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

// Segments that begin no request are forwarded for so long after a service was first read, or a
// gap.
constexpr Nanoseconds kGrace = std::chrono::seconds{60};
// Connections that have timed out are forgotten at the pace of bursts.
constexpr unsigned kForgottenPerBurst = 4;

// The number of a connection is the same in every process: ends are a keyed digest already.
constexpr HashSecret kFixedSecret{};

TrackBudget track_budget(const ConnectionBudget& budget) noexcept {
    return {.connections = budget.connections,
            .half_open = std::max<std::size_t>(budget.connections / 4, 64),
            .midstream = std::max<std::size_t>(budget.connections / 16, 64)};
}

Reason reason_of(TrackReason reason) noexcept {
    switch (reason) {
        case TrackReason::ChecksumWrong:
            return Reason::WrongChecksum;
        case TrackReason::Fragment:
            return Reason::TcpFragment;
        case TrackReason::NoAck:
        case TrackReason::AckUnsent:
        case TrackReason::AckTooOld:
            return Reason::BadAck;
        case TrackReason::BeyondWindow:
        case TrackReason::OutOfWindow:
            return Reason::OutOfWindow;
        case TrackReason::ResetOutOfWindow:
            return Reason::RstOutOfWindow;
        case TrackReason::BehindFin:
        case TrackReason::FinMoved:
        case TrackReason::BehindReset:
            return Reason::BehindEnd;
        case TrackReason::Midstream:
        case TrackReason::MidstreamReset:
            return Reason::Midstream;
        default:
            return Reason::BadHandshake;
    }
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
            .grace_until = grace_until};
}
static_assert(static_cast<int>(ChecksumPolicy::Auto) == static_cast<int>(Checksums::Auto) &&
              static_cast<int>(ChecksumPolicy::Verify) == static_cast<int>(Checksums::Verify) &&
              static_cast<int>(ChecksumPolicy::Trust) == static_cast<int>(Checksums::Trust));
static_assert(static_cast<int>(MidstreamPolicy::Inspect) == static_cast<int>(Midstream::Inspect) &&
              static_cast<int>(MidstreamPolicy::Reset) == static_cast<int>(Midstream::Reset) &&
              static_cast<int>(MidstreamPolicy::Pass) == static_cast<int>(Midstream::Pass));

}  // namespace

ServiceTracking::ServiceTracking(const ConnectionBudget& budget)
    : tracker_{track_budget(budget), KeyHasher{kFixedSecret}} {}

std::uint64_t ServiceTracking::memory_of(const ConnectionBudget& budget) noexcept {
    return ConnectionTracker::memory_of(track_budget(budget));
}

// Services keep their connections from one rule set to the next. Where sets came between that this
// worker was not shown, or packets were forwarded unread, what is remembered has gaps.
void ServiceTracking::adopt(const TrackedColumns& burst) noexcept {
    const Instant now = burst.burst.now;
    const bool has_gap =
        burst.unread_bursts != unread_bursts_ || (load_ != 0 && burst.load > load_ + 1);
    if (has_gap) {
        tracker_.note_unseen(now);
    }
    std::array<bool, kMaxServices> is_new{};
    slots_.adopt(burst.services, [&](std::uint16_t slot) { is_new[slot] = true; });
    for (std::size_t index = 0; index < burst.services.all.size(); ++index) {
        const std::uint16_t slot = slots_.slot_of(index);
        const bool begins = is_new[slot] || has_gap;
        const Instant grace = begins ? now + kGrace : policies_[slot].grace_until;
        policies_[slot] = policy_of(burst.services.all[index], grace);
        const Checksums checksums = burst.services.all[index].checksums;
        if (is_new[slot] || checksums != checksum_policies_[slot]) {
            checksum_policies_[slot] = checksums;
            checksums_[slot] = PortChecksums{static_cast<ChecksumPolicy>(checksums)};
        }
    }
    load_ = burst.load;
    unread_bursts_ = burst.unread_bursts;
}

void ServiceTracking::track(const TrackedColumns& burst, RowMask rows, const Following& follow,
                            ServiceRowsOutcome& outcome) noexcept {
    const UnitColumns& columns = burst.burst;
    if (burst.load != load_ || burst.unread_bursts != unread_bursts_) [[unlikely]] {
        adopt(burst);
    }
    ServiceRows found;
    const RowMask reaching =
        find_services(columns.headers, rows, burst.services, burst.scratch, found);
    const RowMask segments = rows & columns.headers.present_rows(HeaderPart::Tcp);
    for_each_row(segments, [&](std::size_t row) { tracker_.prefetch(columns.ends[row].digest); });
    (void)tracker_.expire(columns.now, kForgottenPerBurst);
    for_each_row(reaching & ~segments,
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

void ServiceTracking::track_segment(const TrackedColumns& burst, std::size_t row,
                                    std::uint16_t slot, const Following& follow,
                                    ServiceRowsOutcome& outcome) noexcept {
    const UnitColumns& columns = burst.burst;
    std::optional<TrackedSegment> segment = segment_of(columns, row, slot);
    if (!segment) {
        return;
    }
    segment->checksum_wrong = slot != kNoService && is_wrong(columns, row, slot);
    TrackVerdict verdict = tracker_.track(*segment, policies_, columns.now);
    if (verdict.kind == TrackVerdict::Kind::Inspect) {
        const std::uint16_t index = slots_.index_of(verdict.service);
        const bool begins =
            index != ServiceSlots::kNone &&
            follow.follows(follow.reader, columns, row, burst.services.all[index].protocol);
        verdict = tracker_.settle_midstream(*segment, policies_, begins, columns.now);
    }
    take_verdict(verdict, burst, row, outcome);
}

// A datagram to a service, or a later fragment: those of TCP have no ports, and are of no segment.
void ServiceTracking::take_datagram(const TrackedColumns& burst, std::size_t row, std::size_t index,
                                    ServiceRowsOutcome& outcome) noexcept {
    const bool is_tcp = burst.burst.headers.proto[row] == kProtoTcp;
    outcome.with_service |= row_bit(row);
    outcome.packets[row] = {.service = &burst.services.all[index], .is_from_client = true};
    if (is_tcp) {
        outcome.refuse(row, Reason::TcpFragment);
    } else if (is_wrong(burst.burst, row, slots_.slot_of(index))) {
        outcome.refuse(row, Reason::WrongChecksum);
    } else {
        outcome.packets[row].is_readable = true;
    }
}

void ServiceTracking::note_reset(const MadeReset& reset, Instant now) noexcept {
    const TrackedSegment segment{.ends = reset.ends.digest,
                                 .from_low = reset.ends.from_low,
                                 .seq = reset.seq,
                                 .flags = kTcpRst};
    (void)tracker_.track(segment, policies_, now);
}

void ServiceTracking::note_upgrade(const AgreedUpgrade& upgrade) noexcept {
    tracker_.mark(upgrade.ends.digest, upgrade.connection, TrackMark::Upgraded);
}

// Checksums of clients' packets count in segments whose bytes are read, or that change the state of
// their connection, and datagrams.
bool ServiceTracking::is_wrong(const UnitColumns& burst, std::size_t row,
                               std::uint16_t slot) noexcept {
    constexpr std::uint16_t kChanges = kTcpSyn | kTcpFin | kTcpRst;
    PortChecksums& checksums = checksums_[slot];
    const PacketHeaders& headers = burst.headers.headers(row);
    const bool matters = headers.payload_len != 0 || (headers.tcp_flags & kChanges) != 0;
    if (!matters || headers.frag != Fragment::None || !checksums.needs_finding()) {
        return false;
    }
    return checksums.judge(find_checksums(headers, burst.frames.frame(row))).is_wrong;
}

void ServiceTracking::take_verdict(const TrackVerdict& verdict, const TrackedColumns& burst,
                                   std::size_t row, ServiceRowsOutcome& outcome) const noexcept {
    if (verdict.kind == TrackVerdict::Kind::Untracked || verdict.service == kNoService ||
        slots_.index_of(verdict.service) == ServiceSlots::kNone) {
        return;
    }
    const Service& service = burst.services.all[slots_.index_of(verdict.service)];
    const ConnectionEnds ends = burst.burst.ends[row];
    const bool forwards = verdict.forwards();
    const bool is_upgraded = verdict.has(TrackMark::Upgraded);
    outcome.with_service |= row_bit(row);
    outcome.packets[row] = {
        .service = &service,
        .connection = verdict.id != 0 ? verdict.id : ends.along(),
        .first = verdict.first,
        .acknowledged = verdict.take_from,
        .client_fin = verdict.client_fin,
        .client_ends = forwards && !is_upgraded && verdict.client_ends,
        .is_from_client = verdict.from_client,
        .is_readable = forwards && verdict.readable && !is_upgraded,
        .is_midstream = verdict.midstream,
        .is_beginning = !verdict.midstream && verdict.id != 0 && verdict.take_from == verdict.first,
        .is_established = verdict.established};
    if (!forwards) {
        outcome.refuse(row, reason_of(verdict.reason));
        return;
    }
    const bool changes = verdict.clear_urgent || verdict.raise_ttl;
    if (changes && outcome.packets[row].is_enforced()) {
        Normalization& change = outcome.normalize(row);
        change.clears_urgent = verdict.clear_urgent;
        change.raises_to = verdict.raise_ttl ? service.min_ttl : std::uint8_t{0};
    }
}

}  // namespace sluice

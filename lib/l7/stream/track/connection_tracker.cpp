#include "lib/l7/stream/track/connection_tracker.hpp"

#include "lib/l7/stream/tick.hpp"

namespace sluice {
namespace {

constexpr TrackPolicy kDefaultPolicy{};

const TrackPolicy& policy_of(std::span<const TrackPolicy> policies,
                             std::uint16_t service) noexcept {
    return service < policies.size() ? policies[service] : kDefaultPolicy;
}

}  // namespace

std::uint64_t ConnectionTracker::memory_of(const TrackBudget& budget) noexcept {
    return HopscotchLines<Line>::memory_of(lines_of(budget)) +
           HopscotchLines<Line>::line_bytes(lines_of(budget)) / sizeof(Line) *
               sizeof(SourceMember) +
           SourceShares::memory_of(budget.connections, budget.connections) +
           RefusedConnections::memory_of(evicted_of(budget));
}

TrackVerdict ConnectionTracker::track(const TrackedSegment& segment,
                                      std::span<const TrackPolicy> policies, Instant now) noexcept {
    now_ = now;
    ticks_ = ticks_of(now.time_since_epoch());
    const ConnectionIndex index = find_of_protocol(segment, policies);
    TrackVerdict verdict;
    begin_change(segment.ends, index);
    if (index == kNoConnection) {
        if (segment.service == kNoService) {
            change_.end();
            return verdict;
        }
        verdict.service = segment.service;
        verdict.from_client = true;
    } else {
        Line& line = lines_[index];
        verdict.from_client = line.is(Line::kClientLow) == segment.from_low;
        if (verdict.from_client && segment.service != kNoService) {
            line.service = segment.service;
        }
        verdict.service = line.service;
        verdict.id = line.id;
    }
    verdict = decide({segment, policy_of(policies, verdict.service), index, verdict.from_client},
                     verdict);
    change_.end();
    return verdict;
}

TrackVerdict ConnectionTracker::settle_midstream(const TrackedSegment& segment,
                                                 std::span<const TrackPolicy> policies,
                                                 ClientBytes bytes, Instant now) noexcept {
    now_ = now;
    ticks_ = ticks_of(now.time_since_epoch());
    TrackVerdict verdict;
    verdict.service = segment.service;
    verdict.from_client = true;
    const Arrival arrival{segment, policy_of(policies, segment.service), find_seen(segment.ends),
                          true};
    begin_change(segment.ends, arrival.index);
    settle(arrival, bytes, verdict);
    finish(arrival, verdict);
    change_.end();
    return verdict;
}

// A connection that began under another protocol has a reader that is no use any more.
ConnectionIndex ConnectionTracker::find_of_protocol(
    const TrackedSegment& segment, std::span<const TrackPolicy> policies) noexcept {
    const ConnectionIndex index = find_seen(segment.ends);
    if (index == kNoConnection || lines_[index].id == 0) {
        return index;
    }
    const Line& line = lines_[index];
    const bool from_client = line.is(Line::kClientLow) == segment.from_low;
    const bool names = from_client && segment.service != kNoService;
    const std::uint16_t service = names ? segment.service : line.service;
    if (policy_of(policies, service).protocol != line.protocol) [[unlikely]] {
        count(TrackEvent::Unseen);
        remove(index);
        return kNoConnection;
    }
    return index;
}

ConnectionIndex ConnectionTracker::find_seen(std::uint64_t ends) noexcept {
    const ConnectionIndex index = lines_.may_have(ends) ? lines_.find(ends) : kNoConnection;
    if (has_unseen_ && index != kNoConnection && is_of_before(lines_[index])) [[unlikely]] {
        count(TrackEvent::Unseen);
        remove(index);
        return kNoConnection;
    }
    return index;
}

TrackVerdict ConnectionTracker::decide(const Arrival& arrival, TrackVerdict verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    if (segment.checksum_wrong) {
        drop(verdict, TrackReason::ChecksumWrong);
    } else if (segment.is_fragment) {
        drop(verdict, TrackReason::Fragment);
    } else if (segment.has_doubtful_options && segment.has(kTcpRst)) {
        drop(verdict, TrackReason::ResetOptions);
    } else if (segment.has_doubtful_options && arrival.from_client) {
        drop(verdict, TrackReason::Options);
    } else if (segment.has(kTcpSyn) && segment.has(kTcpFin | kTcpRst)) {
        drop(verdict, TrackReason::BadFlags);
    } else if (segment.has(kTcpSyn)) {
        segment.has(kTcpAck) ? on_syn_ack(arrival, verdict) : on_syn(arrival, verdict);
    } else if (!segment.has(kTcpAck | kTcpRst)) {
        drop(verdict, TrackReason::NoAck);
    } else {
        by_phase(arrival, verdict);
    }
    finish(arrival, verdict);
    return verdict;
}

void ConnectionTracker::by_phase(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (arrival.index == kNoConnection) {
        return on_midstream(arrival, verdict);
    }
    const Line& line = lines_[arrival.index];
    if (line.is(Line::kOneWay)) {
        return on_one_way(arrival, verdict);
    }
    switch (line.phase) {
        case TrackPhase::Free:
        case TrackPhase::SynSent:
            return on_syn_sent(arrival, verdict);
        case TrackPhase::SynReceived:
            return on_syn_received(arrival, verdict);
        case TrackPhase::Established:
            return follow(arrival, verdict);
        case TrackPhase::Reset:
        case TrackPhase::BoxReset:
            return behind_reset(arrival, verdict);
        case TrackPhase::Midstream:
            return on_midstream(arrival, verdict);
    }
}

// All that a verdict says besides what was decided. The line may be gone by now.
void ConnectionTracker::finish(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const ConnectionIndex before = arrival.index;
    const bool stays = before != kNoConnection && lines_[before].digest == segment.ends &&
                       !lines_[before].is_free();
    const ConnectionIndex index = stays ? before : lines_.find(segment.ends);
    verdict.midstream = true;
    if (index != kNoConnection) {
        Line& line = lines_[index];
        if (verdict.began) {
            line.protocol = arrival.policy.protocol & 0xF;
        }
        verdict.id = line.id;
        verdict.marks = line.marks();
        verdict.midstream = line.is(Line::kMidstream) ||
                            (line.phase == TrackPhase::Midstream && !is_at_beginning(line));
        verdict.established = line.id != 0 && !line.is(Line::kOneWay);
        verdict.first = line.client.iss + 1;
        verdict.is_long = line.is(Line::kClientLong);
        verdict.is_server_unheard =
            line.phase == TrackPhase::Established && line.is(Line::kServerUnheard);
        verdict.client_ends = line.is(Line::kClientFin);
        verdict.client_fin = verdict.client_ends ? line.client_fin : 0;
    }
    if (verdict.kind == TrackVerdict::Kind::Pass || verdict.kind == TrackVerdict::Kind::Inspect) {
        verdict.clear_urgent = verdict.from_client && (segment.has(kTcpUrg) || segment.urgent != 0);
        verdict.clear_options = verdict.from_client && segment.has_unknown_options;
        verdict.raise_ttl = verdict.from_client && segment.ttl < arrival.policy.min_ttl;
        if (verdict.clear_urgent && verdict.kind == TrackVerdict::Kind::Pass) {
            count(TrackEvent::UrgentCleared);
        }
        if (verdict.clear_options && verdict.kind == TrackVerdict::Kind::Pass) {
            count(TrackEvent::OptionsCleared);
        }
        if (verdict.raise_ttl && verdict.kind == TrackVerdict::Kind::Pass) {
            count(TrackEvent::TtlRaised);
        }
        if (verdict.is_probe) {
            count(TrackEvent::Probed);
        }
    }
    counters_.count(verdict.reason);
}

void ConnectionTracker::refuse_half(const TrackedSegment& segment, TrackVerdict& verdict) noexcept {
    const bool resets = segment.seq == verdict.take_from;
    drop(verdict, resets ? TrackReason::MidstreamReset : TrackReason::Midstream);
    verdict.kind = resets ? TrackVerdict::Kind::Reset : TrackVerdict::Kind::Drop;
    counters_.count(verdict.reason);
}

bool ConnectionTracker::is_of_before(const Line& line) const noexcept {
    const bool has_slot = line.service < unseen_of_.size();
    const std::uint32_t unseen = has_slot ? unseen_of_[line.service] : unseen_ticks_;
    return sequence_distance(line.touched, unseen) > 0;
}

void ConnectionTracker::note_unseen(Instant now) noexcept {
    unseen_ticks_ = ticks_of(now.time_since_epoch());
    unseen_of_.fill(unseen_ticks_);
    has_unseen_ = true;
}

void ConnectionTracker::note_unseen_of(std::uint16_t service, Instant now) noexcept {
    if (!has_unseen_) {
        // Nothing of the others is of before.
        unseen_of_.fill(ticks_of(now.time_since_epoch()) - ticks_of(budget_.idle_timeout) * 2);
    }
    unseen_ticks_ = ticks_of(now.time_since_epoch());
    unseen_of_[service] = unseen_ticks_;
    has_unseen_ = true;
}

ConnectionTracker::Line* ConnectionTracker::find_id(std::uint64_t ends, std::uint64_t id) noexcept {
    const ConnectionIndex index = lines_.find(ends);
    return id != 0 && index != kNoConnection && lines_[index].id == id ? &lines_[index] : nullptr;
}

void ConnectionTracker::mark(std::uint64_t ends, std::uint64_t id, TrackMark mark) noexcept {
    if (Line* line = find_id(ends, id)) {
        const auto flag = static_cast<std::uint16_t>(static_cast<unsigned>(mark) << Line::kMarksAt);
        if (mark == TrackMark::Upgraded && !line->is(flag)) {
            count(TrackEvent::Upgraded);
        }
        line->set(flag);
    }
}

void ConnectionTracker::note_reset(std::uint64_t ends, std::uint64_t id) noexcept {
    if (Line* line = find_id(ends, id)) {
        line->phase = TrackPhase::BoxReset;
        move_to(lines_.find(ends), TrackClass::Closed);
    }
}

std::optional<TrackedNumbers> ConnectionTracker::numbers(std::uint64_t ends,
                                                         std::uint64_t id) const noexcept {
    const ConnectionIndex index = lines_.find(ends);
    if (id == 0 || index == kNoConnection || lines_[index].id != id) {
        return std::nullopt;
    }
    const Line& line = lines_[index];
    return TrackedNumbers{line.client, line.server, !line.is(Line::kOneWay)};
}

// A connection that was taken up in its middle has the numbers it was taken up at as its first
// ones.
std::uint64_t ConnectionTracker::id_of(const Line& line) const noexcept {
    const std::array<std::uint64_t, 3> words{line.digest,
                                             std::uint64_t{line.client.iss} << 32 | line.server.iss,
                                             line.is(Line::kMidstream) ? 1U : 0U};
    const std::uint64_t id = hash_.digest(std::as_bytes(std::span{words}));
    return id == 0 ? 1 : id;
}

}  // namespace sluice

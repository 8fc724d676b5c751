#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/line_change.hpp"
#include "lib/l7/stream/refused_connections.hpp"
#include "lib/l7/stream/source_shares.hpp"
#include "lib/l7/stream/track/track_verdict.hpp"
#include "lib/l7/stream/track/tracked_connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// One worker's connections of services, both directions, and a verdict for each of their segments:
// what the receiver would take passes and may be read, what it would not take changes nothing here.
//
//   TrackVerdict verdict = tracker.track(segment, policies, now);
//   if (verdict.kind == TrackVerdict::Kind::Inspect) {
//       verdict = tracker.settle_midstream(segment, policies, its_bytes, now);
//   }
//
// The verdicts are the same for services that are monitored; then the caller forwards all the same.
// A segment that passes here may still be dropped by a limit: what the server has is known from its
// own acknowledgements alone.
namespace sluice {

struct TrackBudget {
    std::size_t connections = std::size_t{1} << 16;  // established and ended ones
    std::size_t half_open = std::size_t{1} << 14;    // handshakes under way, beside them
    std::size_t midstream = std::size_t{1} << 12;    // those of unknown beginning, beside them
    Nanoseconds idle_timeout = std::chrono::minutes{15};
    Nanoseconds half_open_timeout = std::chrono::seconds{60};
    Nanoseconds closed_timeout = std::chrono::seconds{60};
    // Servers keep silent connections for as long: none goes sooner, whoever needs room.
    Nanoseconds idle_guard = std::chrono::seconds{90};
};

// Numbers of both sides of a connection.
struct TrackedNumbers {
    TcpHalf client;  // una: what the server has acknowledged
    TcpHalf server;
    bool established = false;
};

class ConnectionTracker {
public:
    // Aborts if there is no memory. Nothing is allocated later. In memory that outlives the
    // process take_over() follows.
    ConnectionTracker(const TrackBudget& budget, const KeyHasher& hash,
                      KeptMemory& memory = no_kept_memory());
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(const TrackBudget& budget) noexcept;
    // Bytes of it that outlive the process.
    [[nodiscard]] static std::uint64_t kept_of(const TrackBudget& budget) noexcept;
    // Connections that an earlier process has left go on, as far as their line can be; what passed
    // since then was seen by nobody. Before the first segment.
    void take_over(Instant now);
    ConnectionTracker(const ConnectionTracker&) = delete;
    ConnectionTracker& operator=(const ConnectionTracker&) = delete;

    void prefetch(std::uint64_t ends) const noexcept { lines_.prefetch(ends); }
    // False: nothing is known of such a connection.
    [[nodiscard]] bool may_know(std::uint64_t ends) const noexcept { return lines_.may_have(ends); }

    // The service of a connection that is known; kNoService: nothing is known.
    [[nodiscard]] std::uint16_t service_of(std::uint64_t ends) const noexcept {
        const ConnectionIndex index = lines_.may_have(ends) ? lines_.find(ends) : kNoConnection;
        return index == kNoConnection ? kNoService : lines_[index].service;
    }

    // The server of a connection has answered a SYN that came unfinished alone: what its client
    // sends unfinished it takes.
    [[nodiscard]] bool takes_unfinished(std::uint64_t ends) const noexcept;

    // `policies` by service; of a service beyond them the defaults hold. `now` never decreases.
    [[nodiscard]] TrackVerdict track(const TrackedSegment& segment,
                                     std::span<const TrackPolicy> policies, Instant now) noexcept;
    // The verdict of a segment that met Inspect.
    [[nodiscard]] TrackVerdict settle_midstream(const TrackedSegment& segment,
                                                std::span<const TrackPolicy> policies,
                                                ClientBytes bytes, Instant now) noexcept;
    // A segment that passes and begins half a request, where its receiver may have the rest: it is
    // dropped after all, and at the number that is acknowledged it ends the connection.
    void refuse_half(const TrackedSegment& segment, TrackVerdict& verdict) noexcept;

    // Segments may have passed unseen up to here: connections of before are forgotten.
    void note_unseen(Instant now) noexcept;
    // The same of one service's: what was seen of them is not to be believed.
    void note_unseen_of(std::uint16_t service, Instant now) noexcept;
    // For connections with this id alone.
    void mark(std::uint64_t ends, std::uint64_t id, TrackMark mark) noexcept;
    // The box has reset it: a RST stands.
    void note_reset(std::uint64_t ends, std::uint64_t id) noexcept;
    [[nodiscard]] std::optional<TrackedNumbers> numbers(std::uint64_t ends,
                                                        std::uint64_t id) const noexcept;

    // Forgets what has timed out, at most so many connections. False: there is no more of it.
    bool expire(Instant now, unsigned most) noexcept;

    // For what its user finds.
    void count(TrackEvent event) noexcept { counters_.count(event); }
    [[nodiscard]] const TrackCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] std::size_t size_of(TrackClass group) const noexcept {
        return sizes_[static_cast<std::size_t>(group)];
    }

private:
    using Line = TrackedConnection;
    // A segment and whom it concerns.
    struct Arrival {
        const TrackedSegment& segment;
        const TrackPolicy& policy;
        ConnectionIndex index;
        bool from_client;
    };

    // Connections of an earlier process: track_kept.cpp.
    [[nodiscard]] static constexpr std::size_t lines_of(const TrackBudget& budget) noexcept {
        return budget.connections + budget.half_open + budget.midstream;
    }
    // RefusedConnections' number: there is room for as many as there are connections.
    [[nodiscard]] static constexpr std::size_t evicted_of(const TrackBudget& budget) noexcept {
        return budget.connections / 16 + 1;
    }
    [[nodiscard]] static bool can_go_on(const Line& line) noexcept;
    [[nodiscard]] static TrackClass class_of(const Line& line) noexcept;
    [[nodiscard]] bool is_inherited(const Line& line) const noexcept {
        return has_taken_over_ && sequence_distance(line.touched, taken_over_ticks_) > 0;
    }
    [[nodiscard]] static bool catch_up(const Arrival& arrival, Line& line) noexcept;
    void take_if_moved_on(const Arrival& arrival) noexcept;
    void begin_change(std::uint64_t ends, ConnectionIndex index) noexcept {
        change_.begin(index == kNoConnection ? nullptr : &lines_[index], ends, index);
    }

    [[nodiscard]] ConnectionIndex find_seen(std::uint64_t ends) noexcept;
    [[nodiscard]] ConnectionIndex find_of_protocol(const TrackedSegment& segment,
                                                   std::span<const TrackPolicy> policies) noexcept;
    [[nodiscard]] Line* find_id(std::uint64_t ends, std::uint64_t id) noexcept;
    [[nodiscard]] TrackVerdict decide(const Arrival& arrival, TrackVerdict verdict) noexcept;
    void by_phase(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void finish(const Arrival& arrival, TrackVerdict& verdict) noexcept;

    // Handshakes: track_handshake.cpp.
    void on_syn(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void note_candidate(const TrackedSegment& segment, Line& line) noexcept;
    [[nodiscard]] bool has_candidate(const Line& line) const noexcept;
    [[nodiscard]] bool took_unfinished(const TrackedSegment& syn_ack,
                                       const Line& line) const noexcept;
    void on_syn_ack(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void accept_syn_ack(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void on_syn_sent(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void on_syn_received(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    [[nodiscard]] TrackedHandshake handshake_of(const TrackedSegment& syn_ack,
                                                const Line& line) const noexcept;
    static void install(const TrackedHandshake& handshake, Line& line) noexcept;
    [[nodiscard]] static TrackedHandshake standing_handshake(const Line& line) noexcept;
    [[nodiscard]] static bool completes(const TrackedSegment& segment, const TcpHalf& sent,
                                        const TcpHalf& other) noexcept;
    [[nodiscard]] static bool is_of_alternate(const Arrival& arrival, const Line& line) noexcept;
    [[nodiscard]] static bool completes_alternate(const TrackedSegment& segment,
                                                  const Line& line) noexcept;
    void replace(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    [[nodiscard]] bool resets_alternate(const Arrival& arrival) noexcept;
    void reset_handshake(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void establish(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    [[nodiscard]] bool begin(ConnectionIndex index, TrackEvent event) noexcept;

    // Both directions of a known connection: track_stream.cpp.
    void follow(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void refuse(const Arrival& arrival, TrackReason reason, TrackVerdict& verdict) noexcept;
    void on_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void stand_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void behind_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void repeated_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void revive(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void note_sums(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    [[nodiscard]] static TrackReason refusal_of(const Arrival& arrival, const Line& line,
                                                DataPlace place) noexcept;
    [[nodiscard]] static TrackReason fin_refusal(const Arrival& arrival, const Line& line) noexcept;
    void apply(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void note_fins(const Arrival& arrival, TrackVerdict& verdict) noexcept;

    // The client's direction alone: track_one_way.cpp.
    void on_one_way(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void begin_one_way(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void follow_one_way(const Arrival& arrival, TrackVerdict& verdict) noexcept;

    // Connections that nobody knows: track_midstream.cpp.
    void on_midstream(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void on_midstream_server(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void settle(const Arrival& arrival, ClientBytes bytes, TrackVerdict& verdict) noexcept;
    [[nodiscard]] static bool reads_in_order(const Arrival& arrival) noexcept;
    [[nodiscard]] bool has_begun_unroomed(const Arrival& arrival) const noexcept;
    [[nodiscard]] bool may_go_on(const Arrival& arrival, ClientBytes bytes) const noexcept;
    void settle_ordered(const Arrival& arrival, ClientBytes bytes, TrackVerdict& verdict) noexcept;
    [[nodiscard]] bool is_evicted(const Arrival& arrival) noexcept;
    [[nodiscard]] static bool is_at_beginning(const Line& line) noexcept;
    void find_room(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void refuse_midstream(const Arrival& arrival, TrackVerdict& verdict) noexcept;
    void become_midstream(ConnectionIndex index) noexcept;
    [[nodiscard]] static bool knows_numbers(const TrackedSegment& segment,
                                            const Line& line) noexcept;
    void take_up(const Arrival& arrival, TrackVerdict& verdict) noexcept;

    // Budgets: track_room.cpp.
    [[nodiscard]] ConnectionIndex open(const TrackedSegment& segment, TrackClass group) noexcept;
    [[nodiscard]] bool make_line_near(std::uint64_t ends, TrackClass group) noexcept;
    [[nodiscard]] bool make_room(TrackClass group, SourceId source = 0) noexcept;
    [[nodiscard]] bool evict_idle() noexcept;
    [[nodiscard]] bool evict_of_most(SourceId source) noexcept;
    [[nodiscard]] bool may_go(const Line& line, TrackClass for_whom) const noexcept;
    void evict(ConnectionIndex index) noexcept;
    void remove(ConnectionIndex index) noexcept;
    void enlist(ConnectionIndex index, TrackClass group) noexcept;
    void leave(ConnectionIndex index) noexcept;
    void relist(ConnectionIndex index) noexcept;
    void move_to(ConnectionIndex index, TrackClass group) noexcept;
    [[nodiscard]] bool expire_oldest(TrackClass group) noexcept;
    [[nodiscard]] std::size_t budget_of(TrackClass group) const noexcept;
    [[nodiscard]] std::uint32_t timeout_of(TrackClass group) const noexcept;
    void publish() noexcept;
    [[nodiscard]] std::uint32_t age_of(const Line& line) const noexcept {
        return ticks_ - line.touched;
    }

    [[nodiscard]] std::uint64_t id_of(const Line& line) const noexcept;
    static void pass(TrackVerdict& verdict) noexcept { verdict.kind = TrackVerdict::Kind::Pass; }
    static void drop(TrackVerdict& verdict, TrackReason reason) noexcept {
        verdict.kind = TrackVerdict::Kind::Drop;
        verdict.readable = false;
        verdict.reason = reason;
    }

    // Nothing has come of it since what was seen may be wrong.
    [[nodiscard]] bool is_of_before(const Line& line) const noexcept;

    TrackBudget budget_;
    KeyHasher hash_;
    // Both lines: a kill at any instruction leaves a connection as it was before the segment under
    // way, or behind it.
    OpenChange<sizeof(Line)> change_;
    HopscotchLines<Line> lines_;
    std::array<AgeList, kTrackClasses> ages_;
    std::array<std::size_t, kTrackClasses> sizes_{};
    std::vector<SourceMember> members_;
    SourceShares shares_;  // of Established
    RefusedConnections evicted_of_most_;
    std::uint32_t ticks_ = 0;  // the segment's instant
    Instant now_ = Instant::min();
    std::uint32_t unseen_ticks_ = 0;  // the latest
    std::array<std::uint32_t, kMostServices> unseen_of_{};
    bool has_unseen_ = false;
    std::uint32_t taken_over_ticks_ = 0;
    bool has_taken_over_ = false;      // and some connection may not have been heard of since
    std::uint32_t evicted_ticks_ = 0;  // when a line of late made room for another last
    bool has_evicted_ = false;
    TrackCounters counters_;
};

}  // namespace sluice

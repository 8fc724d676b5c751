#pragma once
#include "lib/base/line_array.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/reading_stance.hpp"
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/connection_budget.hpp"
#include "lib/l7/stream/connection_event.hpp"
#include "lib/l7/stream/connection_lines.hpp"
#include "lib/l7/stream/framing_bytes.hpp"
#include "lib/l7/stream/held_bytes.hpp"
#include "lib/l7/stream/line_change.hpp"
#include "lib/l7/stream/recent_bytes.hpp"
#include "lib/l7/stream/refused_connections.hpp"
#include "lib/l7/stream/seen_segments.hpp"
#include "lib/l7/stream/source_shares.hpp"
#include "lib/l7/stream/stream_offer.hpp"

#include <array>

// Between TCP segments and the parsers of later layers: one worker's half heads, and verdicts that
// stick to bytes that were judged.
//
//   for (table.take(segment, scratch, now, offer); offer.parses(); table.next(offer)) {
//       parse offer.bytes, then one of finish(), more(), framed(), not_mine()
//   }
//
// Every byte of a connection has one place in its stream. Behind `next` lie units that were judged,
// with their bodies: their retransmission meets the verdict of the unit, and is charged nothing.
// From `next` on lie bytes of a head that is not whole: they are held, the first ones to come
// stand. A body of known size is judged with its head, before its bytes come.
//
// What nobody can do: erase a refusal or a half head with a SYN, RST or FIN of their own making (a
// SYN begins anew only where neither is at stake, the others only make a connection the first to be
// evicted); make bytes pass as retransmissions that no unit held; pass the rest of a head whose
// beginning was given up (it is Refused until the connection has been silent for idle_timeout, even
// where others have its line by then).
namespace sluice {

class ConnectionTable {
public:
    // Aborts if there is no memory. Nothing is allocated later. In memory that outlives the
    // process take_over() follows.
    explicit ConnectionTable(const ConnectionBudget& budget,
                             ReadingStance stance = ReadingStance::Service,
                             KeptMemory& memory = no_kept_memory());
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(
        const ConnectionBudget& budget, ReadingStance stance = ReadingStance::Service) noexcept;
    // Bytes of it that outlive the process.
    [[nodiscard]] static std::uint64_t kept_of(const ConnectionBudget& budget) noexcept;
    // Streams that an earlier process has left are read on from where they were. `can_be`: whether
    // what the caller kept of a body that it frames can be gone on with. Before the first segment.
    void take_over(Instant now, bool (*can_be)(const FramingState& framing) noexcept);
    ConnectionTable(const ConnectionTable&) = delete;
    ConnectionTable& operator=(const ConnectionTable&) = delete;

    // Prefetches the connection's line and what is kept beside it, for take().
    void prefetch(std::uint64_t digest) const noexcept {
        const ConnectionIndex home = lines_.home_of(digest);
        lines_.prefetch(digest);
        seen_[home].prefetch();
        prefetch0(&members_[home]);
        prefetch0(&beside_[home]);
        if (refused_.may_have_any(ticks_)) [[unlikely]] {
            refused_.prefetch(digest);
        }
    }
    // False: nothing is known of such a connection.
    [[nodiscard]] bool may_know(std::uint64_t digest) const noexcept {
        return lines_.may_have(digest) || refused_.may_have_any(ticks_);
    }

    [[nodiscard]] bool knows(std::uint64_t digest) const noexcept {
        return lines_.find(digest) != kNoConnection;
    }
    // True if a head may begin with that byte, as far as is known.
    [[nodiscard]] bool may_begin_at(std::uint64_t digest, std::uint32_t seq) const noexcept;

    // A segment of the client's direction. `scratch` has room for head_bytes and a segment: heads
    // of several segments are put together there. `now` never decreases.
    void take(const TcpSegment& segment, MutableBytes scratch, Instant now,
              StreamOffer& offer) noexcept;
    // The place that a connection is at, as callers say that follow its numbers themselves.
    struct StreamPlace {
        std::uint32_t first = 0;  // the receiver's next byte
        std::uint32_t sent = 0;   // behind all bytes that went on to it before
        bool is_head = true;      // a head begins there; else one may, there or later
    };
    // Begins an unknown connection at that place. False: it cannot, since bytes ahead of the
    // segment went on and are forgotten.
    [[nodiscard]] bool begin_at(const TcpSegment& segment, const StreamPlace& place,
                                Instant now) noexcept;
    // The offer is Refused, and nothing of it is kept: its receiver may have what it goes on with.
    void hold_back(StreamOffer& offer) noexcept { refuse(offer, RefusedWhy::MissedSome); }
    // Offers what the segment holds behind what has been seen to.
    void next(StreamOffer& offer) noexcept;

    // The unit at the beginning of the offer is whole: its head has so many bytes.
    void finish(StreamOffer& offer, std::size_t head, StickyVerdict verdict,
                const UnitBody& body) noexcept;
    // The head is not whole. The offer becomes Held, or Refused.
    void more(StreamOffer& offer, const HeadNeed& need) noexcept;
    // So many bytes of a Framed offer are the body's, all of them where `rest` is more than
    // nothing. A Sized rest with bytes is stepped over as any body of known length. `lines`: places
    // of bytes that say where the body ends, which what repeats them is compared with. Without room
    // for these the offer is Refused until the receiver has acknowledged more.
    void framed(StreamOffer& offer, std::size_t bytes, const UnitBody& rest,
                std::span<const PayloadRange> lines = {}) noexcept;
    // In a service, where a head is looked for: the last line, from `from` on, has no end and may
    // be a head's. It goes on, and is offered again together with what follows it.
    void keep_line(StreamOffer& offer, std::size_t from, bool is_none_at_end) noexcept;
    // The line that these bytes of a stream go on with, and the bytes; else the bytes.
    [[nodiscard]] ByteView with_line_before(std::uint64_t digest, std::uint32_t seq, ByteView bytes,
                                            MutableBytes scratch) noexcept;
    // No head begins there. What follows is looked at afresh; Anywhere, it goes unread.
    void not_mine(StreamOffer& offer) noexcept;
    // Nothing of the connection is read any more from the offer on. In a service it is Refused.
    void go_unread(StreamOffer& offer, UnreadReason reason) noexcept;
    // Units of this protocol begin, or go on, in the offer.
    void note_protocol(const StreamOffer& offer, UnreadProtocol protocol) noexcept;
    // Nothing behind the unit that was finished last is read any more.
    void end_reading(const StreamOffer& offer) noexcept;
    // In a service: what the segment completes, with a FIN that stands at this number, is half a
    // head and the end of its connection. Some servers take that for a whole one. The offer is
    // Refused.
    void end_at(StreamOffer& offer, std::uint32_t fin) noexcept;
    // A segment that may begin a unit has come of a connection that is not known.
    void note_midstream() noexcept { counters_.count(ConnectionEvent::Midstream); }

    // A unit lay in the segment, whose sender acknowledges all before `ack`. True: so it did with
    // the unit before, whose answer may still be on its way, or nothing tells where answers end.
    [[nodiscard]] bool may_await_answer(const StreamOffer& offer, std::uint32_t ack) noexcept;
    // Bytes of heads lay in the segment: what repeats it is compared with it.
    void note_seen(const StreamOffer& offer) noexcept;

    // The segment has been seen to: what it changed stands, whenever the process ends.
    void conclude() noexcept { change_.end(); }

    // The verdict of units that were Undecided: those in these bytes of the stream.
    void settle(std::uint64_t digest, std::uint32_t from, std::uint32_t to,
                StickyVerdict verdict) noexcept;
    // The strictest verdict of these bytes; Unjudged where none is known.
    [[nodiscard]] StickyVerdict verdict_of(std::uint64_t digest, std::uint32_t from,
                                           std::uint32_t to) const noexcept;

    // Segments may have passed unseen up to here. Where a connection goes on ahead of what is known
    // of it since before, a head is looked for.
    void note_unseen(Instant now) noexcept { unseen_until_ = now; }

    // Forgets what has timed out, at most so many connections. False: there is no more of it.
    bool expire(Instant now, unsigned most) noexcept;

    [[nodiscard]] const ConnectionCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] std::size_t half_heads() const noexcept {
        return shares_of(AgeGroup::HalfHead).size();
    }

private:
    // Streams of an earlier process: connection_kept.cpp.
    [[nodiscard]] static bool goes_on(Connection& connection) noexcept;
    void take_over_held(ConnectionIndex torn);
    void take_over_groups();
    void take_over_framing(ConnectionIndex torn);
    [[nodiscard]] bool misses_some(const TcpSegment& segment,
                                   const Connection& connection) noexcept;
    [[nodiscard]] bool hears_again(StreamOffer& offer, Connection& connection) noexcept;
    [[nodiscard]] bool begins_with_oldest(const StreamOffer& offer) noexcept;
    void leave_gap(const StreamOffer& offer, Connection& connection) noexcept;
    [[nodiscard]] bool is_in_gap(const StreamOffer& offer,
                                 const Connection& connection) const noexcept {
        return connection.has_gap &&
               sequence_distance(offer.rest_seq_, gap_ends_[offer.connection_]) > 0;
    }
    [[nodiscard]] ConnectionIndex find_in_time(std::uint64_t digest) noexcept;
    void begin_change(std::uint64_t digest, ConnectionIndex index) noexcept {
        change_.begin(index == kNoConnection ? nullptr : &lines_[index], digest, index);
    }

    [[nodiscard]] Connection* of(const StreamOffer& offer) noexcept {
        return offer.connection_ == kNoConnection ? nullptr : &lines_[offer.connection_];
    }
    [[nodiscard]] HeldHead& held_of(const Connection& connection) noexcept {
        return pool_.at<HeldHead>(connection.held);
    }

    // The segment's place in its connection.
    [[nodiscard]] bool meets_refused(const TcpSegment& segment, StreamOffer& offer) noexcept;
    [[nodiscard]] bool begins_anew(const TcpSegment& segment, Connection& connection) noexcept;
    void begin(StreamOffer& offer) noexcept;
    void go_on(StreamOffer& offer) noexcept;
    void classify(StreamOffer& offer, Connection& connection) noexcept;
    [[nodiscard]] bool behind(StreamOffer& offer, Connection& connection) noexcept;
    [[nodiscard]] bool repeats(StreamOffer& offer, std::uint32_t to, StickyVerdict verdict,
                               Connection& connection) noexcept;
    [[nodiscard]] bool may_repeat(const StreamOffer& offer, std::uint32_t to,
                                  Connection& connection) noexcept;
    void forget_acknowledged(const StreamOffer& offer) noexcept;
    [[nodiscard]] bool framing_agrees(const StreamOffer& offer, ByteView bytes) const noexcept;
    [[nodiscard]] bool note_framing(const StreamOffer& offer, ByteView bytes,
                                    std::span<const PayloadRange> lines) noexcept;
    [[nodiscard]] bool is_same(const StreamOffer& offer, std::size_t size) noexcept;
    void offer_ahead(StreamOffer& offer, Connection& connection) noexcept;
    // True: the phase of the connection alone says what becomes of the segment.
    [[nodiscard]] bool is_settled_by_phase(StreamOffer& offer, Connection& connection,
                                           std::size_t at) noexcept;
    [[nodiscard]] bool missed_some(const Connection& connection, std::size_t at) noexcept;
    [[nodiscard]] static std::uint32_t missed_until(const StreamOffer& offer) noexcept;
    void lose_track(const StreamOffer& offer, Connection& connection,
                    std::uint32_t begins_at) noexcept;
    void in_order(StreamOffer& offer, Connection& connection, std::size_t at) noexcept;
    void out_of_order(StreamOffer& offer, Connection& connection, std::size_t at) noexcept;
    void offer_held(StreamOffer& offer, Connection& connection, ByteView fresh) noexcept;
    [[nodiscard]] bool needs_reading(const Connection& connection, ByteView fresh) noexcept;

    // The place of a head.
    void finish_behind(StreamOffer& offer, Connection& connection, std::uint32_t size,
                       StickyVerdict verdict) noexcept;
    [[nodiscard]] bool move_to(StreamOffer& offer, Connection& connection) noexcept;
    void begin_unit_at(ConnectionIndex index, std::uint32_t seq) noexcept;
    void drop_held(ConnectionIndex index, std::uint64_t bytes) noexcept;
    void extend_long_body(Connection& connection, std::uint32_t until) noexcept;
    void set_body(ConnectionIndex index, const UnitBody& body, std::uint64_t left) noexcept;

    // Half heads and their budget.
    [[nodiscard]] Holding hold(StreamOffer& offer, std::size_t at, ByteView bytes) noexcept;
    [[nodiscard]] bool begin_half_head(StreamOffer& offer) noexcept;
    [[nodiscard]] bool make_room(StreamOffer& offer) noexcept;
    void end_half_head(ConnectionIndex index) noexcept;
    void forget_head(ConnectionIndex index, ConnectionEvent event) noexcept;
    [[nodiscard]] bool time_out(ConnectionIndex index) noexcept;
    void refuse(StreamOffer& offer, RefusedWhy why) noexcept;
    void resync(StreamOffer& offer, std::size_t count) noexcept;
    void stop_reading(ConnectionIndex index, UnreadReason reason) noexcept;
    static void pass(StreamOffer& offer) noexcept;
    [[nodiscard]] bool goes_unread_at_doubt() const noexcept {
        return stance_ == ReadingStance::Anywhere;
    }

    // Connections and their budget.
    [[nodiscard]] bool open(StreamOffer& offer, std::uint32_t seq) noexcept;
    void evict() noexcept;
    [[nodiscard]] ConnectionIndex make_line_near(std::uint64_t digest) noexcept;
    void refuse_from_now_on(std::uint64_t digest) noexcept;
    [[nodiscard]] bool expire_silent(AgeGroup group) noexcept;
    [[nodiscard]] bool expire_half_head() noexcept;
    [[nodiscard]] bool expire_next() noexcept;
    void remove(ConnectionIndex index, ConnectionEvent event) noexcept;
    [[nodiscard]] std::uint32_t age_of(const Connection& connection) const noexcept {
        return ticks_ - connection.touched;
    }
    void publish() noexcept;
    void set_now(Instant now) noexcept;
    void note_end(ConnectionIndex index) noexcept;

    // Groups: a connection whose state has changed moves to where it belongs.
    [[nodiscard]] SourceShares& shares_of(AgeGroup group) noexcept {
        return shares_[static_cast<std::size_t>(group) - kUnshared];
    }
    [[nodiscard]] const SourceShares& shares_of(AgeGroup group) const noexcept {
        return shares_[static_cast<std::size_t>(group) - kUnshared];
    }
    [[nodiscard]] AgeList& ages_of(AgeGroup group) noexcept {
        return ages_[static_cast<std::size_t>(group)];
    }
    void regroup(ConnectionIndex index) noexcept;
    void enter(ConnectionIndex index, AgeGroup group) noexcept;
    void leave(ConnectionIndex index) noexcept;

    ConnectionBudget budget_;
    ReadingStance stance_;
    std::uint32_t half_head_ticks_;
    std::uint32_t idle_ticks_;
    std::uint32_t ticks_ = 0;  // the segment's instant
    Instant unseen_until_ = Instant::min();
    std::uint32_t taken_over_ticks_ = 0;
    OpenChange<sizeof(Connection)> change_;
    OpenChange<sizeof(SeenSegments)> seen_change_;
    ConnectionLines lines_;
    LinePool pool_;
    LineArray<SourceMember> members_;  // by line, as the next two
    LineArray<SeenSegments> seen_;
    // Seldom needed of a connection. The unit's segment that came last acknowledges all before
    // `number`. Of one that an earlier process has read, it is where the oldest bytes begin that
    // came ahead of what was read while it was unheard, and `ahead_since` when they came first, in
    // units of 2^kAheadShift ticks.
    struct Beside {
        std::uint32_t number = 0;
        bool is_ack_known = false;
        bool is_ahead_known = false;
        std::uint16_t ahead_since = 0;
    };
    static_assert(sizeof(Beside) == 8);
    static constexpr int kAheadShift = 6;
    LineArray<Beside> beside_;
    // Ends of the gaps of services' connections, with has_gap.
    LineArray<std::uint32_t> gap_ends_;
    RecentBytes recent_;
    FramingBytes framing_;
    RefusedConnections refused_;
    static constexpr auto kUnshared = static_cast<std::size_t>(AgeGroup::Refusal);
    std::array<SourceShares, kAgeGroups - kUnshared> shares_;  // of Refusal, GivenUp, HalfHead
    std::size_t begun_ = 0;                                    // connections of AgeGroup::Begun
    // Half heads by when they began, others by when they were last moved there; touched since: they
    // move again.
    std::array<AgeList, kAgeGroups> ages_;
    std::size_t tended_ = 0;  // the AgeGroup that is looked at next for one whose time is up
    ConnectionCounters counters_;
};

}  // namespace sluice

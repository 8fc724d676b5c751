#include "lib/base/prefetch.hpp"
#include "lib/l7/stream/connection_table.hpp"
#include "lib/l7/stream/refused_reason.hpp"
#include "lib/l7/stream/tick.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <utility>

// Evictions when there is no room, and when time is up. All of it is bounded for each call.
namespace sluice {
namespace {

// A connection that has ended is remembered for repeated segments for so long.
constexpr std::uint32_t kLingerTicks = 2000;
// Connections looked at for one that has been silent, before the oldest goes.
constexpr int kSecondChances = 4;

ConnectionBudget checked(ConnectionBudget budget) noexcept {
    budget.connections = std::max<std::size_t>(budget.connections, 1);
    for (std::size_t* share :
         {&budget.half_heads, &budget.refusals, &budget.given_up, &budget.begun}) {
        *share = std::clamp<std::size_t>(*share, 1, budget.connections);
    }
    budget.half_heads_per_source = std::max<std::size_t>(budget.half_heads_per_source, 1);
    budget.head_bytes = std::clamp<std::size_t>(budget.head_bytes, 1, kMostHeadBytes);
    return budget;
}

// Recent bytes matter, where doubts pass, only to what is read further.
std::size_t recent_bytes(const ConnectionBudget& budget, ReadingStance stance) noexcept {
    return RecentBytes::size_for(stance == ReadingStance::Service ? budget.recent_bytes : 0);
}

SourceId id_of(std::uint64_t source) noexcept {
    return static_cast<SourceId>(source ^ source >> 32);
}

ConnectionEvent evicted_of(AgeGroup group) noexcept {
    switch (group) {
        case AgeGroup::Refusal:
            return ConnectionEvent::EvictedRefusal;
        case AgeGroup::GivenUp:
            return ConnectionEvent::EvictedGivenUp;
        case AgeGroup::HalfHead:
            return ConnectionEvent::EvictedHalfHead;
        case AgeGroup::Begun:
            return ConnectionEvent::EvictedBegun;
        case AgeGroup::Idle:
            break;
    }
    return ConnectionEvent::EvictedIdle;
}

ConnectionLines lines_in(KeptMemory& memory, std::size_t connections) {
    return memory.is_kept()
               ? ConnectionLines{connections, memory.take(ConnectionLines::line_bytes(connections))}
               : ConnectionLines{connections};
}
// The memory outlives the pool, whoever has it.
LinePool pool_in(KeptMemory& memory, std::size_t lines) {
    return memory.is_kept() ? LinePool{memory.take(LinePool::bytes_for(lines)).data(), lines}
                            : LinePool{lines};
}

// True if a connection went for another one, not because its time was up.
bool made_room(ConnectionEvent event) noexcept {
    switch (event) {
        case ConnectionEvent::EvictedIdle:
        case ConnectionEvent::EvictedRefusal:
        case ConnectionEvent::EvictedGivenUp:
        case ConnectionEvent::EvictedHalfHead:
            return true;
        default:
            return false;
    }
}

}  // namespace

ConnectionTable::ConnectionTable(const ConnectionBudget& budget, ReadingStance stance,
                                 KeptMemory& memory)
    : budget_{checked(budget)},
      stance_{stance},
      half_head_ticks_{ticks_of(budget.half_head_timeout) + 1},
      idle_ticks_{ticks_of(budget.idle_timeout) + 1},
      change_{memory},
      seen_change_{memory},
      lines_{lines_in(memory, budget_.connections)},
      pool_{pool_in(memory, budget_.half_head_lines)},
      members_{array_in<SourceMember>(memory, lines_.capacity())},
      seen_{array_in<SeenSegments>(memory, lines_.capacity())},
      beside_{array_in<Beside>(memory, lines_.capacity())},
      gap_ends_{array_in<std::uint32_t>(memory,
                                        stance == ReadingStance::Service ? lines_.capacity() : 0)},
      recent_{recent_bytes(budget_, stance)},
      framing_{stance == ReadingStance::Service ? lines_.capacity() : 0, memory},
      refused_{budget_.connections, idle_ticks_, budget_.when_full},
      shares_{{{budget_.refusals, budget_.refusals, members_.all()},
               {budget_.given_up, budget_.given_up, members_.all()},
               {budget_.half_heads, budget_.half_heads_per_source, members_.all()}}} {}

std::uint64_t ConnectionTable::kept_of(const ConnectionBudget& wanted) noexcept {
    const ConnectionBudget budget = checked(wanted);
    const std::size_t lines = ConnectionLines::lines_for(budget.connections);
    std::uint64_t all = decltype(change_)::bytes() + decltype(seen_change_)::bytes();
    for (const std::size_t bytes :
         {ConnectionLines::line_bytes(budget.connections),
          LinePool::bytes_for(budget.half_head_lines), lines * sizeof(SourceMember),
          lines * sizeof(SeenSegments), lines * sizeof(Beside), lines * sizeof(std::uint32_t)}) {
        all += KeptMemory::taken_for(bytes);
    }
    return all + FramingBytes::kept_of(lines);
}

std::uint64_t ConnectionTable::memory_of(const ConnectionBudget& wanted,
                                         ReadingStance stance) noexcept {
    const ConnectionBudget budget = checked(wanted);
    const std::size_t lines = ConnectionLines::lines_for(budget.connections);
    const std::size_t of_service = stance == ReadingStance::Service ? lines : 0;
    return ConnectionLines::memory_of(budget.connections) +
           LineArray<SourceMember>::memory_of(lines) + LineArray<SeenSegments>::memory_of(lines) +
           LineArray<Beside>::memory_of(lines) + LineArray<std::uint32_t>::memory_of(of_service) +
           FramingBytes::memory_of(of_service) + RefusedConnections::memory_of(budget.connections) +
           recent_bytes(budget, stance) + LinePool::bytes_for(budget.half_head_lines) +
           SourceShares::memory_of(budget.refusals, budget.refusals) +
           SourceShares::memory_of(budget.given_up, budget.given_up) +
           SourceShares::memory_of(budget.half_heads, budget.half_heads_per_source);
}

void ConnectionTable::set_now(Instant now) noexcept {
    ticks_ = ticks_of(now.time_since_epoch());
}

void ConnectionTable::publish() noexcept {
    counters_.connections.set(lines_.size());
    counters_.half_heads.set(shares_of(AgeGroup::HalfHead).size());
    counters_.refusals.set(shares_of(AgeGroup::Refusal).size());
    counters_.given_up.set(shares_of(AgeGroup::GivenUp).size());
    counters_.held_lines.set(pool_.size() - pool_.free());
}

void ConnectionTable::refuse(StreamOffer& offer, RefusedWhy why) noexcept {
    pass(offer);
    offer.why = why;
    if (!goes_unread_at_doubt()) {
        offer.kind = Offered::Refused;
    } else if (offer.connection_ != kNoConnection) {
        stop_reading(offer.connection_, unread_for(why));
    }
}

bool ConnectionTable::open(StreamOffer& offer, std::uint32_t seq) noexcept {
    if (lines_.size() >= budget_.connections) {
        evict();
    }
    if (lines_.size() >= budget_.connections) {
        return false;
    }
    ConnectionIndex index = lines_.add(offer.digest_);
    if (index == kNoConnection) {
        index = make_line_near(offer.digest_);
    }
    if (index == kNoConnection) {
        return false;
    }
    lines_[index].next = seq;
    lines_[index].touched = ticks_;
    members_[index].id = id_of(offer.source_);
    seen_[index].clear();
    beside_[index] = {};
    framing_.begin(index);
    enter(index, AgeGroup::Idle);
    offer.connection_ = index;
    counters_.count(ConnectionEvent::Opened);
    publish();
    return true;
}

// An idle connection goes. Budgets leave some; where they do not, what is at stake goes in the
// order of how much its sender would gain, of the source with most its oldest.
void ConnectionTable::evict() noexcept {
    AgeList& idle = ages_of(AgeGroup::Idle);
    if (idle.oldest() != kNoConnection) {
        for (int i = 0; i < kSecondChances; ++i) {
            const ConnectionIndex oldest = idle.oldest();
            if (age_of(lines_[oldest]) > idle_ticks_ / 4) {
                break;
            }
            idle.remove(lines_, oldest);
            idle.push_newest(lines_, oldest);
        }
        remove(idle.oldest(), ConnectionEvent::EvictedIdle);
        return;
    }
    if (begun_ != 0) {
        remove(ages_of(AgeGroup::Begun).oldest(), ConnectionEvent::EvictedBegun);
        return;
    }
    if (budget_.when_full == FullHeads::Refuse) {
        return;
    }
    for (const AgeGroup group : {AgeGroup::Refusal, AgeGroup::GivenUp, AgeGroup::HalfHead}) {
        const ConnectionIndex oldest = shares_of(group).oldest_of_most();
        if (oldest != kNoConnection) {
            remove(oldest, evicted_of(group));
            return;
        }
    }
}

// All lines near its home are taken: the one goes whose sender gains least by that, of several
// the longest silent.
ConnectionIndex ConnectionTable::make_line_near(std::uint64_t digest) noexcept {
    const auto gains_less = [&](ConnectionIndex a, ConnectionIndex b) {
        const Connection& one = lines_[a];
        const Connection& other = lines_[b];
        return one.listed != other.listed ? one.listed < other.listed : age_of(one) > age_of(other);
    };
    ConnectionIndex least = lines_.near(digest, 0);
    for (unsigned step = 1; step < ConnectionLines::kReach; ++step) {
        const ConnectionIndex line = lines_.near(digest, step);
        least = gains_less(line, least) ? line : least;
    }
    const AgeGroup group = lines_[least].listed;
    if (is_at_stake(group) && budget_.when_full == FullHeads::Refuse) {
        return kNoConnection;
    }
    remove(least, evicted_of(group));
    return lines_.add(digest);
}

void ConnectionTable::refuse_from_now_on(std::uint64_t digest) noexcept {
    if (!goes_unread_at_doubt() && !refused_.add(digest, ticks_)) {
        counters_.count(ConnectionEvent::RefusedForgotten);
    }
}

void ConnectionTable::remove(ConnectionIndex index, ConnectionEvent event) noexcept {
    if (lines_[index].at_stake() && made_room(event)) {
        refuse_from_now_on(lines_[index].digest);
    }
    if (lines_[index].held != kNoLine) {
        end_half_head(index);
    }
    leave(index);
    lines_.remove(index);
    keep_store_order();
    framing_.forget(index);
    counters_.count(event);
    publish();
}

void ConnectionTable::leave(ConnectionIndex index) noexcept {
    const AgeGroup group = lines_[index].listed;
    ages_of(group).remove(lines_, index);
    begun_ -= group == AgeGroup::Begun ? 1 : 0;
    if (is_at_stake(group)) {
        shares_of(group).remove(index);
    }
}

void ConnectionTable::enter(ConnectionIndex index, AgeGroup group) noexcept {
    lines_[index].listed = group;
    ages_of(group).push_newest(lines_, index);
    begun_ += group == AgeGroup::Begun ? 1 : 0;
    if (is_at_stake(group)) {
        shares_of(group).add(index);
    }
}

// Connections without room in the budget of their group are as idle as the others, and the first to
// become that is the oldest of the source with most.
void ConnectionTable::regroup(ConnectionIndex index) noexcept {
    const AgeGroup group = lines_[index].group();
    if (group == lines_[index].listed) {
        return;
    }
    leave(index);
    if (is_at_stake(group) && shares_of(group).full()) {
        const ConnectionIndex oldest = shares_of(group).oldest_of_most();
        leave(oldest);
        enter(oldest, AgeGroup::Idle);
        counters_.count(group == AgeGroup::Refusal ? ConnectionEvent::RefusalsFull
                                                   : ConnectionEvent::GivenUpFull);
        // The next one that enters finds the next one to leave at hand.
        const ConnectionIndex next = shares_of(group).prefetch_oldest_of_most();
        if (next != kNoConnection) {
            prefetch0(&lines_[next]);
        }
    }
    enter(index, group);
    publish();
}

// Ended connections are the first to go, unless their sender would gain by that.
void ConnectionTable::note_end(ConnectionIndex index) noexcept {
    Connection& connection = lines_[index];
    if (connection.group() != AgeGroup::Idle) {
        return;
    }
    regroup(index);
    connection.touched = ticks_ - (idle_ticks_ - std::min(idle_ticks_, kLingerTicks));
    ages_of(AgeGroup::Idle).remove(lines_, index);
    ages_of(AgeGroup::Idle).push_oldest(lines_, index);
}

bool ConnectionTable::make_room(StreamOffer& offer) noexcept {
    const ConnectionIndex oldest = shares_of(AgeGroup::HalfHead).oldest_of_most();
    if (budget_.when_full == FullHeads::Refuse || oldest == kNoConnection) {
        return false;
    }
    forget_head(oldest, ConnectionEvent::EvictedHalfHead);
    return oldest != offer.connection_;
}

bool ConnectionTable::begin_half_head(StreamOffer& offer) noexcept {
    SourceShares& half_heads = shares_of(AgeGroup::HalfHead);
    const SourceId source = members_[offer.connection_].id;
    if (half_heads.count_of(source) >= budget_.half_heads_per_source) {
        if (budget_.when_full == FullHeads::Refuse) {
            counters_.count(ConnectionEvent::RefusedShare);
            refuse(offer, RefusedWhy::SourceShare);
            return false;
        }
        forget_head(half_heads.oldest_of(source), ConnectionEvent::EvictedShare);
    }
    bool room = !half_heads.full() || make_room(offer);
    PoolLine head = kNoLine;
    while (room && (head = pool_.take()) == kNoLine) {
        room = make_room(offer);
    }
    if (!room) {
        counters_.count(ConnectionEvent::RefusedFull);
        refuse(offer, RefusedWhy::Full);
        return false;
    }
    Connection& connection = lines_[offer.connection_];
    connection.held = head;
    connection.touched = ticks_;
    regroup(offer.connection_);
    counters_.count(ConnectionEvent::HalfHead);
    return true;
}

Holding ConnectionTable::hold(StreamOffer& offer, std::size_t at, ByteView bytes) noexcept {
    const ConnectionIndex index = offer.connection_;
    Holding holding = HeldBytes{pool_, lines_[index].held}.hold(at, bytes);
    while (holding == Holding::NoLines && make_room(offer)) {
        holding = HeldBytes{pool_, lines_[index].held}.hold(at, bytes);
    }
    if (holding == Holding::NoLines) {
        counters_.count(ConnectionEvent::RefusedFull);
        refuse(offer, RefusedWhy::Full);
    } else if (holding == Holding::TooManyPieces) {
        counters_.count(ConnectionEvent::TooManyPieces);
        refuse(offer, RefusedWhy::TooManyPieces);
    }
    const bool holds_none = lines_[index].held != kNoLine && held_of(lines_[index]).count == 0;
    if (holds_none) {
        end_half_head(index);
    }
    publish();
    return holding;
}

void ConnectionTable::end_half_head(ConnectionIndex index) noexcept {
    Connection& connection = lines_[index];
    // Nothing leads to lines that are not its own any more, whenever the process ends.
    const PoolLine held = std::exchange(connection.held, kNoLine);
    keep_store_order();
    HeldBytes{pool_, held}.release();
    pool_.give_back(held);
    connection.touched = ticks_;
    regroup(index);
}

// A head's bytes go; that they went stays known, so that the rest of the head does not pass
// unjudged.
void ConnectionTable::forget_head(ConnectionIndex index, ConnectionEvent event) noexcept {
    Connection& connection = lines_[index];
    if (goes_unread_at_doubt()) {
        stop_reading(index, unread_for(event));
        counters_.count(event);
        return;
    }
    connection.phase =
        connection.phase == StreamPhase::Head ? StreamPhase::Forgotten : StreamPhase::Lost;
    if (connection.held != kNoLine) {
        end_half_head(index);
    }
    regroup(index);
    counters_.count(event);
}

}  // namespace sluice

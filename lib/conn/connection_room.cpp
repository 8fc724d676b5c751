#include "lib/conn/connection_table.hpp"
#include "lib/conn/tick.hpp"

#include <algorithm>

// Who has to go when there is no room, and when time is up. All of it is bounded for each call.
namespace sluice {
namespace {

// A connection that has ended is remembered for repeated segments for so long.
constexpr std::uint32_t kLingerTicks = 2000;
// Connections looked at for one that has been silent, before the oldest goes.
constexpr int kSecondChances = 4;

ConnectionBudget checked(ConnectionBudget budget) noexcept {
    budget.connections = std::max<std::size_t>(budget.connections, 1);
    budget.half_heads = std::clamp<std::size_t>(budget.half_heads, 1, budget.connections);
    budget.half_heads_per_source = std::max<std::size_t>(budget.half_heads_per_source, 1);
    budget.head_bytes = std::clamp<std::size_t>(budget.head_bytes, 1, kMostHeadBytes);
    return budget;
}

}  // namespace

ConnectionTable::ConnectionTable(const ConnectionBudget& budget)
    : budget_{checked(budget)},
      half_head_ticks_{ticks_of(budget.half_head_timeout) + 1},
      idle_ticks_{ticks_of(budget.idle_timeout) + 1},
      lines_{budget_.connections},
      pool_{budget_.half_head_lines},
      half_heads_{budget_.half_heads, budget_.half_heads_per_source, lines_, pool_} {}

void ConnectionTable::set_now(Instant now) noexcept {
    ticks_ = ticks_of(now.time_since_epoch());
}

void ConnectionTable::publish() noexcept {
    counters_.connections.set(lines_.size());
    counters_.half_heads.set(half_heads_.size());
    counters_.held_lines.set(pool_.size() - pool_.free());
}

void ConnectionTable::refuse(StreamOffer& offer, RefusedWhy why) noexcept {
    offer.kind = Offered::Refused;
    offer.why = why;
    offer.bytes = {};
    offer.rest_ = {};
}

bool ConnectionTable::open(StreamOffer& offer, std::uint32_t seq) noexcept {
    if (lines_.size() >= budget_.connections) {
        evict_idle();
    }
    if (lines_.size() >= budget_.connections) {
        return false;
    }
    const ConnectionIndex index = lines_.add(offer.digest_);
    if (index == kNoConnection) {
        return false;
    }
    lines_[index].next = seq;
    lines_[index].touched = ticks_;
    idle_.push_newest(lines_, index);
    offer.connection_ = index;
    counters_.count(ConnectionEvent::Opened);
    publish();
    return true;
}

void ConnectionTable::evict_idle() noexcept {
    if (idle_.oldest() == kNoConnection) {
        if (budget_.when_full == FullHeads::Refuse) {
            return;
        }
        forget_head(half_heads_.oldest_of_most(), ConnectionEvent::EvictedHalfHead);
    }
    for (int i = 0; i < kSecondChances; ++i) {
        const ConnectionIndex oldest = idle_.oldest();
        if (age_of(lines_[oldest]) > idle_ticks_ / 4) {
            break;
        }
        idle_.remove(lines_, oldest);
        idle_.push_newest(lines_, oldest);
    }
    remove(idle_.oldest(), ConnectionEvent::EvictedIdle);
}

void ConnectionTable::remove(ConnectionIndex index, ConnectionEvent event) noexcept {
    if (lines_[index].held != kNoLine) {
        end_half_head(index);
    }
    idle_.remove(lines_, index);
    lines_.remove(index);
    counters_.count(event);
    publish();
}

// What has ended is the first to go, unless its sender would gain by that.
void ConnectionTable::note_end(ConnectionIndex index) noexcept {
    Connection& connection = lines_[index];
    if (connection.at_stake()) {
        return;
    }
    connection.touched = ticks_ - (idle_ticks_ - std::min(idle_ticks_, kLingerTicks));
    idle_.remove(lines_, index);
    idle_.push_oldest(lines_, index);
}

bool ConnectionTable::make_room(StreamOffer& offer) noexcept {
    const ConnectionIndex oldest = half_heads_.oldest_of_most();
    if (budget_.when_full == FullHeads::Refuse || oldest == kNoConnection) {
        return false;
    }
    forget_head(oldest, ConnectionEvent::EvictedHalfHead);
    return oldest != offer.connection_;
}

bool ConnectionTable::begin_half_head(StreamOffer& offer) noexcept {
    if (half_heads_.count_of(offer.source_) >= budget_.half_heads_per_source) {
        if (budget_.when_full == FullHeads::Refuse) {
            counters_.count(ConnectionEvent::RefusedShare);
            refuse(offer, RefusedWhy::SourceShare);
            return false;
        }
        forget_head(half_heads_.oldest_of(offer.source_), ConnectionEvent::EvictedShare);
    }
    bool room = half_heads_.size() < budget_.half_heads || make_room(offer);
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
    idle_.remove(lines_, offer.connection_);
    held_.push_newest(lines_, offer.connection_);
    connection.held = head;
    connection.touched = ticks_;
    half_heads_.add(offer.connection_, offer.source_);
    counters_.count(ConnectionEvent::HalfHead);
    publish();
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
    half_heads_.remove(index);
    HeldBytes{pool_, connection.held}.release();
    pool_.give_back(connection.held);
    connection.held = kNoLine;
    connection.touched = ticks_;
    held_.remove(lines_, index);
    idle_.push_newest(lines_, index);
    publish();
}

// Its bytes go; that they went stays known, so that the rest of the head does not pass unjudged.
void ConnectionTable::forget_head(ConnectionIndex index, ConnectionEvent event) noexcept {
    Connection& connection = lines_[index];
    if (connection.held != kNoLine) {
        end_half_head(index);
    }
    connection.phase =
        connection.phase == StreamPhase::Head ? StreamPhase::Forgotten : StreamPhase::Lost;
    counters_.count(event);
}

void ConnectionTable::expire(Instant now, unsigned most) noexcept {
    set_now(now);
    for (unsigned i = 0; i < most; ++i) {
        const ConnectionIndex half = held_.oldest();
        if (half != kNoConnection && age_of(lines_[half]) > half_head_ticks_) {
            forget_head(half, ConnectionEvent::HalfHeadTimeout);
            continue;
        }
        const ConnectionIndex idle = idle_.oldest();
        if (idle == kNoConnection) {
            return;
        }
        if (age_of(lines_[idle]) > idle_ticks_) {
            remove(idle, ConnectionEvent::IdleTimeout);
        } else if (age_of(lines_[idle]) < idle_ticks_ / 2) {
            // Touched since it was put there: others behind it may be older.
            idle_.remove(lines_, idle);
            idle_.push_newest(lines_, idle);
            return;
        } else {
            return;
        }
    }
}

}  // namespace sluice

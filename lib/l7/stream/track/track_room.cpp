#include "lib/l7/stream/tick.hpp"
#include "lib/l7/stream/track/connection_tracker.hpp"

// Three budgets side by side: handshakes under way, connections of unknown beginning, and those
// that the client has proven. Floods of the first two evict their own kind alone. Where the third
// is full, ended connections go, then the longest silent that no server keeps any more, then one of
// the source with most, so that nobody's many shut out another's few.
namespace sluice {
namespace {

// Lines that were touched since they were listed move on; so many at most in one search.
constexpr unsigned kMostMoves = 16;

TrackEvent event_of(TrackClass group) noexcept {
    switch (group) {
        case TrackClass::HalfOpen:
            return TrackEvent::EvictedHalfOpen;
        case TrackClass::Midstream:
            return TrackEvent::EvictedMidstream;
        case TrackClass::Closed:
            return TrackEvent::EvictedClosed;
        case TrackClass::Established:
            return TrackEvent::EvictedIdle;
    }
    return TrackEvent::EvictedIdle;
}

}  // namespace

ConnectionIndex ConnectionTracker::open(const TrackedSegment& segment, TrackClass group) noexcept {
    if (!make_room(group)) {
        return kNoConnection;
    }
    ConnectionIndex index = lines_.add(segment.ends);
    if (index == kNoConnection && make_line_near(segment.ends, group)) {
        index = lines_.add(segment.ends);
    }
    if (index == kNoConnection) {
        return kNoConnection;
    }
    Line& line = lines_[index];
    line.touched = ticks_;
    line.service = segment.service;
    line.source = segment.source;
    if (segment.from_low) {
        line.set(Line::kClientLow);
    }
    enlist(index, group);
    return index;
}

// All lines near are taken: one of a class that has to make way goes.
bool ConnectionTracker::make_line_near(std::uint64_t ends, TrackClass group) noexcept {
    ConnectionIndex found = kNoConnection;
    for (unsigned step = 0; step < HopscotchLines<Line>::kReach; ++step) {
        const ConnectionIndex near = lines_.near(ends, step);
        if (!may_go(lines_[near], group)) {
            continue;
        }
        if (found == kNoConnection || age_of(lines_[near]) > age_of(lines_[found])) {
            found = near;
        }
    }
    if (found == kNoConnection) {
        return false;
    }
    evict(found);
    return true;
}

bool ConnectionTracker::may_go(const Line& line, TrackClass for_whom) const noexcept {
    switch (line.listed) {
        case TrackClass::HalfOpen:
            return for_whom == TrackClass::HalfOpen;
        case TrackClass::Midstream:
        case TrackClass::Closed:
            return true;
        case TrackClass::Established:
            return false;
    }
    return false;
}

std::size_t ConnectionTracker::budget_of(TrackClass group) const noexcept {
    switch (group) {
        case TrackClass::HalfOpen:
            return budget_.half_open;
        case TrackClass::Midstream:
            return budget_.midstream;
        case TrackClass::Closed:
        case TrackClass::Established:
            return budget_.connections;
    }
    return 0;
}

// Room for one more of this class.
bool ConnectionTracker::make_room(TrackClass group, SourceId source) noexcept {
    if (group == TrackClass::HalfOpen || group == TrackClass::Midstream) {
        if (size_of(group) >= budget_of(group)) {
            const ConnectionIndex oldest = ages_[static_cast<std::size_t>(group)].oldest();
            if (oldest == kNoConnection) {
                return false;
            }
            evict(oldest);
        }
        return true;
    }
    if (size_of(TrackClass::Established) + size_of(TrackClass::Closed) < budget_.connections) {
        return true;
    }
    const ConnectionIndex closed = ages_[static_cast<std::size_t>(TrackClass::Closed)].oldest();
    if (closed != kNoConnection) {
        evict(closed);
        return true;
    }
    return evict_idle() || evict_of_most(source);
}

bool ConnectionTracker::evict_idle() noexcept {
    AgeList& ages = ages_[static_cast<std::size_t>(TrackClass::Established)];
    const std::uint32_t guard = ticks_of(budget_.idle_guard);
    for (unsigned moves = 0; moves < kMostMoves; ++moves) {
        const ConnectionIndex oldest = ages.oldest();
        if (oldest == kNoConnection) {
            return false;
        }
        const Line& line = lines_[oldest];
        if (age_of(line) >= guard) {
            evict(oldest);
            return true;
        }
        if (!is_behind(line.touched, line.listed_at)) {
            return false;
        }
        relist(oldest);
    }
    return false;
}

// The longest silent of the first few of the source with most goes, or of this source where none
// has more. Its server may keep it: what it still sends is known to be of such a connection.
bool ConnectionTracker::evict_of_most(SourceId source) noexcept {
    for (unsigned moves = 0;; ++moves) {
        ConnectionIndex oldest = shares_.oldest_of_most();
        const std::size_t most =
            oldest == kNoConnection ? 0 : shares_.count_of(lines_[oldest].source);
        if (most < 2) {
            return false;
        }
        if (shares_.count_of(source) == most) {
            oldest = shares_.oldest_of(source);
        }
        const Line& line = lines_[oldest];
        if (!is_behind(line.touched, line.listed_at) || moves == kMostMoves) {
            (void)evicted_of_most_.add(line.digest, ticks_);
            count(TrackEvent::EvictedOfMost);
            evicted_ticks_ = ticks_;
            has_evicted_ = true;
            remove(oldest);
            return true;
        }
        relist(oldest);
    }
}

void ConnectionTracker::evict(ConnectionIndex index) noexcept {
    const Line& line = lines_[index];
    count(event_of(line.listed));
    // Nothing is known any more of a SYN that its server may still answer.
    if (age_of(line) <= ticks_of(budget_.half_open_timeout) || has_candidate(line)) {
        evicted_ticks_ = ticks_;
        has_evicted_ = true;
    }
    remove(index);
}

void ConnectionTracker::remove(ConnectionIndex index) noexcept {
    leave(index);
    lines_.remove(index);
}

void ConnectionTracker::enlist(ConnectionIndex index, TrackClass group) noexcept {
    lines_[index].listed = group;
    lines_[index].listed_at = ticks_;
    ages_[static_cast<std::size_t>(group)].push_newest(lines_, index);
    ++sizes_[static_cast<std::size_t>(group)];
    if (group == TrackClass::Established) {
        members_[index].id = lines_[index].source;
        shares_.add(index);
    }
    publish();
}

void ConnectionTracker::leave(ConnectionIndex index) noexcept {
    const auto group = static_cast<std::size_t>(lines_[index].listed);
    ages_[group].remove(lines_, index);
    --sizes_[group];
    if (lines_[index].listed == TrackClass::Established) {
        shares_.remove(index);
    }
    publish();
}

void ConnectionTracker::relist(ConnectionIndex index) noexcept {
    AgeList& ages = ages_[static_cast<std::size_t>(lines_[index].listed)];
    ages.remove(lines_, index);
    ages.push_newest(lines_, index);
    lines_[index].listed_at = ticks_;
    if (lines_[index].listed == TrackClass::Established) {
        shares_.remove(index);
        shares_.add(index);
    }
}

// The old class has one fewer before the new one makes room, so that no connection evicts itself.
void ConnectionTracker::move_to(ConnectionIndex index, TrackClass group) noexcept {
    if (lines_[index].listed == group) {
        return;
    }
    leave(index);
    if (group == TrackClass::HalfOpen || group == TrackClass::Midstream) {
        static_cast<void>(make_room(group));
    }
    enlist(index, group);
}

std::uint32_t ConnectionTracker::timeout_of(TrackClass group) const noexcept {
    switch (group) {
        case TrackClass::HalfOpen:
        case TrackClass::Midstream:
            return ticks_of(budget_.half_open_timeout);
        case TrackClass::Closed:
            return ticks_of(budget_.closed_timeout);
        case TrackClass::Established:
            return ticks_of(budget_.idle_timeout);
    }
    return 0;
}

bool ConnectionTracker::expire(Instant now, unsigned most) noexcept {
    now_ = now;
    ticks_ = ticks_of(now.time_since_epoch());
    // Later than this no connection of before is left.
    if (has_unseen_ && ticks_ - unseen_ticks_ > ticks_of(budget_.idle_timeout)) {
        has_unseen_ = false;
    }
    if (has_taken_over_ && ticks_ - taken_over_ticks_ > ticks_of(budget_.idle_timeout)) {
        has_taken_over_ = false;
    }
    for (std::size_t group = 0; group < kTrackClasses; ++group) {
        while (most != 0 && expire_oldest(static_cast<TrackClass>(group))) {
            --most;
        }
    }
    return most == 0;
}

// True: the oldest of the class has gone, or has moved on because it was touched since it was
// listed. A list is in the order of listing, so a silent connection may stay a quarter longer.
bool ConnectionTracker::expire_oldest(TrackClass group) noexcept {
    const ConnectionIndex oldest = ages_[static_cast<std::size_t>(group)].oldest();
    if (oldest == kNoConnection) {
        return false;
    }
    const Line& line = lines_[oldest];
    const std::uint32_t timeout = timeout_of(group);
    if (age_of(line) >= timeout) {
        count(group == TrackClass::HalfOpen ? TrackEvent::HalfOpenTimeout
                                            : TrackEvent::IdleTimeout);
        remove(oldest);
        return true;
    }
    if (line.touched == line.listed_at || ticks_ - line.listed_at < timeout / 4) {
        return false;
    }
    relist(oldest);
    return true;
}

void ConnectionTracker::publish() noexcept {
    counters_.established.set(size_of(TrackClass::Established));
    counters_.half_open.set(size_of(TrackClass::HalfOpen));
    counters_.closed.set(size_of(TrackClass::Closed));
    counters_.midstream.set(size_of(TrackClass::Midstream));
}

}  // namespace sluice

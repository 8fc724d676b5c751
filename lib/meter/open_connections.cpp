#include "lib/meter/open_connections.hpp"

namespace sluice {
namespace {

std::int64_t ns_of(Instant at) noexcept {
    return at.time_since_epoch().count();
}

}  // namespace

void OpenConnections::make_way(LinePool& pool, Instant now, std::uint64_t count,
                               std::uint64_t cost) noexcept {
    if (anonymous_ != 0 && has_left(anonymous_at_, now)) {
        anonymous_ = 0;
    }
    const bool may_fit = cost <= count;
    for (unsigned dropped = 0; dropped < kDropsAhead || (may_fit && !admits(count, cost));
         ++dropped) {
        if (oldest_ == kNoLine || !has_left(at(pool, oldest_).seen, now)) {
            return;
        }
        leave(pool, oldest_, Left::Idle);
    }
}

PoolLine OpenConnections::find(const LinePool& pool, PoolLine self,
                               std::uint64_t digest) const noexcept {
    PoolLine line = pool.index().first(digest);
    while (line != kNoLine) {
        const auto& connection = pool.at<OpenConnection>(line);
        if (connection.indexed.digest == digest && connection.indexed.owner == self) {
            return line;
        }
        line = connection.indexed.next;
    }
    return kNoLine;
}

bool OpenConnections::has(const LinePool& pool, PoolLine self, std::uint64_t digest,
                          Instant now) const noexcept {
    const PoolLine line = find(pool, self, digest);
    return line != kNoLine && !has_left(pool.at<OpenConnection>(line).seen, now);
}

void OpenConnections::open(LinePool& pool, PoolLine self, const ConnectionStart& start,
                           Instant now) noexcept {
    const PoolLine known = find(pool, self, start.digest);
    if (known != kNoLine) {
        if (!has_left(at(pool, known).seen, now)) {
            // The same SYN again, or the next connection of these ends.
            at(pool, known).sequence.begin_again(start);
            move_to_end(pool, known);
            at(pool, known).seen = ns_of(now);
            return;
        }
        leave(pool, known, Left::Idle);
    }
    if (!make_room(pool)) {
        add_anonymous(1, now);
        return;
    }
    const PoolLine line = spare_;
    OpenConnection& connection = at(pool, line);
    connection.indexed.owner = self;
    store_word(connection.indexed.digest, start.digest);
    connection.seen = ns_of(now);
    connection.sequence.begin(start);
    append(pool, line);
    spare_ = kNoLine;
    pool.index().add(pool, line, group());
}

void OpenConnections::add_anonymous(std::uint64_t units, Instant now) noexcept {
    if (units != 0) {
        anonymous_at_ = std::max(anonymous_at_, ns_of(now));
        keep_store_order();
        anonymous_ += units;
    }
}

bool OpenConnections::follow(LinePool& pool, PoolLine connection, const ConnectionSegment& segment,
                             Instant now) noexcept {
    OpenConnection& followed = at(pool, connection);
    if (has_left(followed.seen, now)) {
        return false;
    }
    switch (followed.sequence.add(segment)) {
        case ConnectionSequence::Closed::Finished:
            leave(pool, connection, Left::Finished);
            return true;
        case ConnectionSequence::Closed::Reset:
            leave(pool, connection, Left::Reset);
            return true;
        default:
            break;
    }
    move_to_end(pool, connection);
    followed.seen = std::max(followed.seen, ns_of(now));
    return false;
}

Nanoseconds OpenConnections::wait(const LinePool& pool, Instant now,
                                  std::uint64_t room) const noexcept {
    std::uint64_t left = used(pool, now);
    if (left <= room) {
        return Nanoseconds{0};
    }
    bool waits_for_anonymous = anonymous_ != 0 && !has_left(anonymous_at_, now);
    std::int64_t last = ns_of(now);
    for (PoolLine line = oldest_; left > room;) {
        const bool none = line == kNoLine;
        if (none && !waits_for_anonymous) {
            break;
        }
        const std::int64_t seen = none ? anonymous_at_ : pool.at<OpenConnection>(line).seen;
        if (waits_for_anonymous && anonymous_at_ <= seen) {
            waits_for_anonymous = false;
            left -= anonymous_;
            last = anonymous_at_;
            continue;
        }
        left -= has_left(seen, now) ? 0 : 1;
        last = seen;
        line = pool.at<OpenConnection>(line).newer;
    }
    return std::max(Nanoseconds{last + idle_ - ns_of(now)}, Nanoseconds{0});
}

void OpenConnections::give_back(LinePool& pool, std::uint64_t units) noexcept {
    const std::uint64_t anonymous = std::min(units, anonymous_);
    anonymous_ -= anonymous;
    for (std::uint64_t left = units - anonymous; left != 0 && oldest_ != kNoLine; --left) {
        leave(pool, oldest_, Left::Forgotten);
    }
}

Instant OpenConnections::fresh_from(const LinePool& pool, Instant now) const noexcept {
    if (total() == 0) {
        return now;
    }
    std::int64_t last = anonymous_ == 0 ? 0 : anonymous_at_;
    if (newest_ != kNoLine) {
        last = std::max(last, pool.at<OpenConnection>(newest_).seen);
    }
    return Instant{Nanoseconds{last + idle_}};
}

void OpenConnections::append(LinePool& pool, PoolLine line) noexcept {
    OpenConnection& added = at(pool, line);
    added.newer = kNoLine;
    added.older = newest_;
    keep_store_order();
    if (newest_ == kNoLine) {
        oldest_ = line;
    } else {
        at(pool, newest_).newer = line;
    }
    keep_store_order();
    newest_ = line;
    keep_store_order();
    ++open_;
}

void OpenConnections::move_to_end(LinePool& pool, PoolLine line) noexcept {
    if (line == newest_) {
        return;
    }
    OpenConnection& moved = at(pool, line);
    const PoolLine older = moved.older;
    const PoolLine newer = moved.newer;
    // Until it is found at the end, it is found from the end.
    if (older == kNoLine) {
        oldest_ = newer;
    } else {
        at(pool, older).newer = newer;
    }
    keep_store_order();
    moved.newer = kNoLine;
    keep_store_order();
    at(pool, newest_).newer = line;
    keep_store_order();
    at(pool, newer).older = older;
    keep_store_order();
    moved.older = newest_;
    keep_store_order();
    newest_ = line;
}

void OpenConnections::leave(LinePool& pool, PoolLine line, Left how) noexcept {
    const PoolLine older = at(pool, line).older;
    const PoolLine newer = at(pool, line).newer;
    if (older == kNoLine) {
        oldest_ = newer;
    } else {
        at(pool, older).newer = newer;
    }
    keep_store_order();
    if (newer == kNoLine) {
        newest_ = older;
    } else {
        at(pool, newer).older = older;
    }
    keep_store_order();
    --open_;
    keep_store_order();
    pool.index().remove(pool, line, static_cast<std::size_t>(how), group());
    pool.give_back(line);
}

void OpenConnections::adopt(LinePool& pool, PoolLine self, PoolLine line) noexcept {
    at(pool, line).indexed.owner = self;
    append(pool, line);
    pool.index().add(pool, line, group());
}

void OpenConnections::link_again(LinePool& pool, PoolLine self, std::uint32_t found,
                                 PoolLine moved) noexcept {
    PoolLine line = oldest_;
    oldest_ = newest_ = kNoLine;
    open_ = 0;
    next_closed_ = kNoLine;
    is_closed_ = 0;
    for (std::uint32_t left = found; left != 0; --left) {
        const PoolLine newer = at(pool, line).newer;
        adopt(pool, self, line);
        line = newer;
    }
    // None stays longer than the last of them; the one that was on its way there had just been
    // seen.
    if (newest_ != kNoLine) {
        const std::int64_t last = at(pool, newest_).seen;
        for (line = oldest_; line != kNoLine; line = at(pool, line).newer) {
            at(pool, line).seen = std::min(at(pool, line).seen, last);
        }
    }
    if (moved != kNoLine) {
        at(pool, moved).seen = newest_ == kNoLine ? at(pool, moved).seen : at(pool, newest_).seen;
        adopt(pool, self, moved);
    }
}

void OpenConnections::close(LinePool& pool, PoolLine self) noexcept {
    auto& state = pool.at<OpenConnections>(self);
    if (state.spare_ != kNoLine) {
        pool.give_back(state.spare_);
        state.spare_ = kNoLine;
    }
    if (state.open_ == 0) {
        pool.give_back(self);
        return;
    }
    pool.index().leave_group(state.group(), state.open_);
    state.is_closed_ = 1;
    state.next_closed_ = pool.index().to_clear;
    pool.index().to_clear = self;
}

void OpenConnections::clear_some(LinePool& pool, unsigned most) noexcept {
    DigestIndex& index = pool.index();
    for (unsigned left = most; left != 0 && index.to_clear != kNoLine; --left) {
        const PoolLine self = index.to_clear;
        auto& state = pool.at<OpenConnections>(self);
        if (state.oldest_ != kNoLine) {
            state.leave(pool, state.oldest_, Left::Idle);
        } else {
            index.to_clear = state.next_closed_;
            pool.give_back(self);
        }
    }
}

}  // namespace sluice

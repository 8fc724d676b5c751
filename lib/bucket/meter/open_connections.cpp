#include "lib/bucket/meter/open_connections.hpp"

#include <limits>

namespace sluice {
namespace {

std::int64_t ns_of(Instant at) noexcept {
    return at.time_since_epoch().count();
}

}  // namespace

void OpenConnections::begin(const ConcurrencyLimit& limit) noexcept {
    idle_ = limit.numbers.window;
    half_open_ms_ = limit.half_open_ms;
    name_.slot_and_tag &= ~kFlags;
    name_.slot_and_tag |= limit.from == CountedFrom::Established ? kFromEstablished : 0;
}

bool OpenConnections::drop_idle(LinePool& pool, unsigned chain, Instant now) noexcept {
    const PoolLine line = chains_[chain].oldest;
    if (line == kNoLine || !has_left(at(pool, line), now)) {
        return false;
    }
    leave(pool, line, Left::Idle);
    return true;
}

void OpenConnections::make_way(LinePool& pool, Instant now, std::uint64_t count,
                               std::uint64_t cost) noexcept {
    if (anonymous_ != 0 && has_passed(anonymous_at_ + idle_, now)) {
        anonymous_ = 0;
    }
    for (const unsigned chain : {kHalfOpen, kEstablished}) {
        for (unsigned left = kDropsAhead; left != 0 && drop_idle(pool, chain, now); --left) {
        }
    }
    for (const unsigned chain : {kHalfOpen, kEstablished}) {
        while (counts(chain) && cost <= count && !admits(count, cost) &&
               drop_idle(pool, chain, now)) {
        }
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

PoolLine OpenConnections::find_known(const LinePool& pool, PoolLine self,
                                     std::uint64_t digest) const noexcept {
    const PoolLine line = find(pool, self, digest);
    return line == kNoLine && counts_established() ? find(pool, self, half_open_digest(digest))
                                                   : line;
}

bool OpenConnections::has(const LinePool& pool, PoolLine self, std::uint64_t digest,
                          Instant now) const noexcept {
    const PoolLine line = find_known(pool, self, digest);
    return line != kNoLine && !has_left(pool.at<OpenConnection>(line), now);
}

bool OpenConnections::completes(const LinePool& pool, PoolLine self, const ConnectionStart& start,
                                Instant now) const noexcept {
    const PoolLine line = find(pool, self, half_open_digest(start.digest));
    if (line == kNoLine) {
        return false;
    }
    const auto& connection = pool.at<OpenConnection>(line);
    return !connection.sequence.is_established() && !has_left(connection, now) &&
           connection.sequence.completes(start.from, start.seq, start.ack);
}

void OpenConnections::open(LinePool& pool, PoolLine self, const ConnectionStart& start,
                           Instant now) noexcept {
    const PoolLine known = find_known(pool, self, start.digest);
    if (known != kNoLine) {
        if (!has_left(at(pool, known), now)) {
            // The same SYN again, or the next connection of these ends.
            at(pool, known).sequence.begin_again(start);
            move_to_end(pool, known);
            at(pool, known).seen = ns_of(now);
            return;
        }
        leave(pool, known, Left::Idle);
    }
    if (!make_room(pool)) {
        add_anonymous(counts_established() ? 0 : 1, now);
        return;
    }
    const PoolLine line = spare_;
    OpenConnection& connection = at(pool, line);
    connection.indexed.owner = self;
    store_word(connection.indexed.digest,
               counts_established() ? half_open_digest(start.digest) : start.digest);
    connection.seen = ns_of(now);
    connection.sequence.begin(start);
    append(pool, line);
    spare_ = kNoLine;
    pool.index().add(pool, line, counts(kHalfOpen) ? IndexedAs{group()} : IndexedAs::unlisted());
}

void OpenConnections::complete(LinePool& pool, PoolLine self, const ConnectionStart& start,
                               Instant now) noexcept {
    const PoolLine line = find(pool, self, half_open_digest(start.digest));
    establish(pool, line);
    at(pool, line).seen = ns_of(now);
}

void OpenConnections::add_anonymous(std::uint64_t units, Instant now) noexcept {
    if (units != 0) {
        anonymous_at_ = std::max(anonymous_at_, ns_of(now));
        keep_store_order();
        constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
        anonymous_ = static_cast<std::uint32_t>(std::min(kMost, anonymous_ + units));
    }
}

// A connection under a limit from the handshake on counts from now on, under its packets' digest.
void OpenConnections::establish(LinePool& pool, PoolLine line) noexcept {
    OpenConnection& connection = at(pool, line);
    connection.sequence.establish();
    keep_store_order();
    move_to_chain(pool, line, kHalfOpen, kEstablished);
    if (counts_established()) {
        const std::uint64_t digest = half_open_digest(connection.indexed.digest);
        pool.index().remove(pool, line, IndexedAs::unlisted());
        store_word(connection.indexed.digest, digest);
        pool.index().add(pool, line, IndexedAs{group()});
        ++open_;
    }
}

// The other way: the next connection of its ends has begun.
void OpenConnections::begin_half_open(LinePool& pool, PoolLine line) noexcept {
    OpenConnection& connection = at(pool, line);
    move_to_chain(pool, line, kEstablished, kHalfOpen);
    if (counts_established()) {
        --open_;
        const std::uint64_t digest = half_open_digest(connection.indexed.digest);
        pool.index().remove(pool, line, IndexedAs{group(), static_cast<std::size_t>(Left::Reset)});
        store_word(connection.indexed.digest, digest);
        pool.index().add(pool, line, IndexedAs::unlisted());
    }
}

// Bytes that a receiver has taken it has acknowledged by then (RFC 9293, 3.8.6.3: within 500 ms).
constexpr Nanoseconds kAcknowledgedWithin = std::chrono::seconds{2};
// A datagram in fragments is taken by then, or never (RFC 8200, 4.5).
constexpr Nanoseconds kTakenWithin = std::chrono::seconds{60};

// An RST whose number is exact, if its receiver has taken no bytes since it acknowledged that.
bool OpenConnections::leave_if_silent(LinePool& pool, PoolLine line, Instant now,
                                      Nanoseconds silence) noexcept {
    if (ns_of(now) - at(pool, line).seen < silence.count()) {
        return false;
    }
    leave(pool, line, Left::Reset);
    return true;
}

bool OpenConnections::follow(LinePool& pool, PoolLine connection, const ConnectionSegment& segment,
                             Instant now) noexcept {
    using Seen = ConnectionSequence::Seen;
    OpenConnection& followed = at(pool, connection);
    if (has_left(followed, now)) {
        return false;
    }
    const bool was_established = followed.sequence.is_established();
    switch (followed.sequence.add(segment)) {
        case Seen::Ignored:
            return false;
        case Seen::Finished:
            leave(pool, connection, Left::Finished);
            return true;
        case Seen::Reset:
            leave(pool, connection, Left::Reset);
            return true;
        case Seen::Doubted:
            return leave_if_silent(pool, connection, now, kAcknowledgedWithin);
        case Seen::DoubtedForLonger:
            return leave_if_silent(pool, connection, now, kTakenWithin + kAcknowledgedWithin);
        case Seen::Uncertain:
            break;
        case Seen::Restarted:
            if (was_established) {
                begin_half_open(pool, connection);
            }
            break;
        case Seen::Followed:
            if (!was_established && !counts_established() && segment.has_ack && !segment.syn &&
                (followed.sequence.completes(segment.from, segment.seq, segment.ack) ||
                 followed.sequence.has_taken_bytes())) {
                establish(pool, connection);
            }
            break;
    }
    move_to_end(pool, connection);
    followed.seen = std::max(followed.seen, ns_of(now));
    return false;
}

PoolLine OpenConnections::first_to_leave(const LinePool& pool) const noexcept {
    const auto end = [&](unsigned chain) {
        const PoolLine line = counts(chain) ? chains_[chain].oldest : kNoLine;
        return line == kNoLine ? std::numeric_limits<std::int64_t>::max()
                               : end_of(pool.at<OpenConnection>(line));
    };
    const unsigned chain = end(kHalfOpen) < end(kEstablished) ? kHalfOpen : kEstablished;
    return counts(chain) ? chains_[chain].oldest : kNoLine;
}

Nanoseconds OpenConnections::wait(const LinePool& pool, Instant now,
                                  std::uint64_t room) const noexcept {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    std::uint64_t left = used(pool, now);
    std::array<PoolLine, 2> next{counts(kHalfOpen) ? chains_[kHalfOpen].oldest : kNoLine,
                                 chains_[kEstablished].oldest};
    const auto end = [&](unsigned chain) {
        return next[chain] == kNoLine ? kNever : end_of(pool.at<OpenConnection>(next[chain]));
    };
    bool waits_for_anonymous = anonymous_ != 0 && !has_passed(anonymous_at_ + idle_, now);
    std::int64_t last = ns_of(now);
    while (left > room) {
        const unsigned chain = end(kHalfOpen) < end(kEstablished) ? kHalfOpen : kEstablished;
        const std::int64_t first = end(chain);
        if (waits_for_anonymous && anonymous_at_ + idle_ <= first) {
            waits_for_anonymous = false;
            left -= std::min<std::uint64_t>(left, anonymous_);
            last = anonymous_at_ + idle_;
            continue;
        }
        if (first == kNever) {
            break;
        }
        left -= has_passed(first, now) ? 0 : 1;
        last = first;
        next[chain] = pool.at<OpenConnection>(next[chain]).newer;
    }
    return std::max(Nanoseconds{last - ns_of(now)}, Nanoseconds{0});
}

void OpenConnections::give_back(LinePool& pool, std::uint64_t units) noexcept {
    const auto anonymous = static_cast<std::uint32_t>(std::min<std::uint64_t>(units, anonymous_));
    anonymous_ -= anonymous;
    for (std::uint64_t left = units - anonymous; left != 0; --left) {
        const PoolLine line = first_to_leave(pool);
        if (line == kNoLine) {
            return;
        }
        leave(pool, line, Left::Forgotten);
    }
}

Instant OpenConnections::fresh_from(const LinePool& pool, Instant now) const noexcept {
    std::int64_t last = ns_of(now);
    if (anonymous_ != 0) {
        last = std::max(last, anonymous_at_ + idle_);
    }
    for (const Chain& chain : chains_) {
        if (chain.newest != kNoLine) {
            last = std::max(last, end_of(pool.at<OpenConnection>(chain.newest)));
        }
    }
    return Instant{Nanoseconds{last}};
}

void OpenConnections::append(LinePool& pool, PoolLine line) noexcept {
    OpenConnection& added = at(pool, line);
    Chain& chain = chains_[chain_of(added)];
    added.newer = kNoLine;
    added.older = chain.newest;
    keep_store_order();
    if (chain.newest == kNoLine) {
        chain.oldest = line;
    } else {
        at(pool, chain.newest).newer = line;
    }
    keep_store_order();
    chain.newest = line;
    keep_store_order();
    open_ += counts(chain_of(added)) ? 1 : 0;
}

void OpenConnections::move_to_end(LinePool& pool, PoolLine line) noexcept {
    const unsigned chain = chain_of(at(pool, line));
    if (line != chains_[chain].newest) {
        move_to_chain(pool, line, chain, chain);
    }
}

// Until it is found at the end of a chain, it is found from the end of the other.
void OpenConnections::move_to_chain(LinePool& pool, PoolLine line, unsigned from,
                                    unsigned to) noexcept {
    OpenConnection& moved = at(pool, line);
    const PoolLine older = moved.older;
    const PoolLine newer = moved.newer;
    if (older == kNoLine) {
        chains_[from].oldest = newer;
    } else {
        at(pool, older).newer = newer;
    }
    keep_store_order();
    moved.newer = kNoLine;
    keep_store_order();
    if (chains_[to].newest == kNoLine) {
        chains_[to].oldest = line;
    } else {
        at(pool, chains_[to].newest).newer = line;
    }
    keep_store_order();
    if (newer == kNoLine) {
        chains_[from].newest = older;
    } else {
        at(pool, newer).older = older;
    }
    keep_store_order();
    moved.older = chains_[to].newest;
    keep_store_order();
    chains_[to].newest = line;
}

void OpenConnections::leave(LinePool& pool, PoolLine line, Left how) noexcept {
    const unsigned of = chain_of(at(pool, line));
    const PoolLine older = at(pool, line).older;
    const PoolLine newer = at(pool, line).newer;
    if (older == kNoLine) {
        chains_[of].oldest = newer;
    } else {
        at(pool, older).newer = newer;
    }
    keep_store_order();
    if (newer == kNoLine) {
        chains_[of].newest = older;
    } else {
        at(pool, newer).older = older;
    }
    keep_store_order();
    open_ -= counts(of) ? 1 : 0;
    keep_store_order();
    pool.index().remove(
        pool, line,
        counts(of) ? IndexedAs{group(), static_cast<std::size_t>(how)} : IndexedAs::unlisted());
    pool.give_back(line);
}

void OpenConnections::adopt(LinePool& pool, PoolLine self, PoolLine line) noexcept {
    at(pool, line).indexed.owner = self;
    append(pool, line);
    pool.index().add(pool, line,
                     counts(chain_of(at(pool, line))) ? IndexedAs{group()} : IndexedAs::unlisted());
}

// None stays longer than the last of its chain; the one that was on its way there had just been
// seen.
void OpenConnections::settle_order(LinePool& pool, unsigned chain) noexcept {
    if (chains_[chain].newest != kNoLine) {
        const std::int64_t last = at(pool, chains_[chain].newest).seen;
        for (PoolLine line = chains_[chain].oldest; line != kNoLine; line = at(pool, line).newer) {
            at(pool, line).seen = std::min(at(pool, line).seen, last);
        }
    }
}

void OpenConnections::link_again(LinePool& pool, PoolLine self, std::array<std::uint32_t, 2> found,
                                 PoolLine moved) noexcept {
    const std::array<Chain, 2> before = chains_;
    chains_ = {};
    open_ = 0;
    for (const unsigned chain : {kHalfOpen, kEstablished}) {
        PoolLine line = before[chain].oldest;
        for (std::uint32_t left = found[chain]; left != 0; --left) {
            const PoolLine newer = at(pool, line).newer;
            adopt(pool, self, line);
            line = newer;
        }
    }
    settle_order(pool, kHalfOpen);
    settle_order(pool, kEstablished);
    if (moved != kNoLine) {
        const PoolLine newest = chains_[chain_of(at(pool, moved))].newest;
        at(pool, moved).seen = newest == kNoLine ? at(pool, moved).seen : at(pool, newest).seen;
        adopt(pool, self, moved);
    }
}

}  // namespace sluice

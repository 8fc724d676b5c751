#pragma once
#include "lib/base/units.hpp"
#include "lib/meter/connection_segment.hpp"
#include "lib/pool/line_pool.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

// The connections of one key that are open, each in a line of the pool, the one that was seen least
// lately first:
//
//   OpenConnections --> [ connection ] <--> [ connection ] <--> [ connection ]
//     oldest, newest      seen at            seen at             seen at
//
// The pool's index finds a connection by its digest, so that a packet costs the same however many a
// key has. Each leaves when it closes, or `idle` after it was last seen. Units of which nothing is
// known but their number (what a key owes from elsewhere) are `anonymous`: all of them leave at
// once, `idle` after the last of them came.
//
// Its stores are in such an order that at any instant one of the two directions leads to every
// connection: mend() takes what either finds.
namespace sluice {

// How a connection has left; what the pool's index counts it under.
enum class Left : std::uint8_t { Finished, Reset, Idle, Forgotten };
static_assert(static_cast<std::size_t>(Left::Forgotten) < DigestIndex::kReasons);

struct OpenConnection {
    IndexedLine indexed;    // its owner is the OpenConnections' line
    std::int64_t seen = 0;  // ns
    PoolLine older = kNoLine;
    PoolLine newer = kNoLine;
    ConnectionSequence sequence;
};
static_assert(sizeof(OpenConnection) <= kLineBytes);

// Of whose table entry the bucket is: its instant follows the packets of the connections.
struct BucketName {
    static constexpr unsigned kTagBits = 25;  // below the slot, as in Entry::key

    std::uint64_t hash = 0;
    std::uint64_t slot_and_tag = 0;

    [[nodiscard]] constexpr std::size_t slot() const noexcept {
        return slot_and_tag >> kTagBits & (DigestIndex::kGroups - 1);
    }
};

class OpenConnections {
public:
    void begin(std::int64_t idle) noexcept { idle_ = idle; }
    void set_name(const BucketName& name) noexcept { name_ = name; }
    [[nodiscard]] const BucketName& name() const noexcept { return name_; }

    // Lets go what is idle: as many as `cost` needs to leave, and a few more.
    void make_way(LinePool& pool, Instant now, std::uint64_t count, std::uint64_t cost) noexcept;
    // After make_way().
    [[nodiscard]] bool admits(std::uint64_t count, std::uint64_t cost) const noexcept {
        return cost <= count && total() <= count - cost;
    }
    // Sees to it that the next open() has a line. False: the pool is full.
    [[nodiscard]] bool make_room(LinePool& pool) noexcept {
        spare_ = spare_ != kNoLine ? spare_ : pool.take();
        return spare_ != kNoLine;
    }

    // Whether that connection is open here; `self` is this state's own line.
    [[nodiscard]] bool has(const LinePool& pool, PoolLine self, std::uint64_t digest,
                           Instant now) const noexcept;
    // Opens it, or goes on with it if it is open. Without a line for it, it is anonymous.
    void open(LinePool& pool, PoolLine self, const ConnectionStart& start, Instant now) noexcept;
    void add_anonymous(std::uint64_t units, Instant now) noexcept;
    // What any packet of an open connection says. Returns whether the connection has left.
    bool follow(LinePool& pool, PoolLine connection, const ConnectionSegment& segment,
                Instant now) noexcept;

    // What is open now.
    [[nodiscard]] std::uint64_t used(const auto& pool, Instant now) const noexcept {
        const std::uint64_t anonymous = has_left(anonymous_at_, now) ? 0 : anonymous_;
        return anonymous + open_ - std::min<std::uint64_t>(open_, idle_by(pool, now));
    }
    // The least time after which no more than `room` are open if nothing else comes.
    [[nodiscard]] Nanoseconds wait(const LinePool& pool, Instant now,
                                   std::uint64_t room) const noexcept;
    // Forgets so many: anonymous ones first, then those that would have left first.
    void give_back(LinePool& pool, std::uint64_t units) noexcept;

    [[nodiscard]] Instant fresh_from(const LinePool& pool, Instant now) const noexcept;

    // Whether its key has gone: its connections count no more.
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_ != 0; }

    // Gives this state's line back. Its connections count no more; their lines are given back by
    // clear_some().
    static void close(LinePool& pool, PoolLine self) noexcept;
    // Gives at most so many lines of closed states back.
    static void clear_some(LinePool& pool, unsigned most) noexcept;

    // For memory that another process left, at any instant. claim(line) says whether a line may be
    // one of this state's.
    template <typename Claim>
    void mend(LinePool& pool, PoolLine self, std::int64_t idle, Claim&& claim) noexcept;

private:
    static constexpr unsigned kDropsAhead = 8;  // more than an open() adds

    [[nodiscard]] std::uint64_t total() const noexcept { return open_ + anonymous_; }
    [[nodiscard]] bool has_left(std::int64_t seen, Instant now) const noexcept {
        return seen + idle_ <= now.time_since_epoch().count();
    }
    [[nodiscard]] static OpenConnection& at(LinePool& pool, PoolLine line) noexcept {
        return pool.at<OpenConnection>(line);
    }
    [[nodiscard]] PoolLine find(const LinePool& pool, PoolLine self,
                                std::uint64_t digest) const noexcept;
    // Those that are idle and have not been let go yet.
    [[nodiscard]] std::uint64_t idle_by(const auto& pool, Instant now) const noexcept {
        std::uint64_t idle = 0;
        for (PoolLine line = oldest_; line != kNoLine && idle < open_; ++idle) {
            const auto& connection = pool.template at<OpenConnection>(line);
            if (!has_left(connection.seen, now)) {
                break;
            }
            line = connection.newer;
        }
        return idle;
    }
    void append(LinePool& pool, PoolLine line) noexcept;
    void move_to_end(LinePool& pool, PoolLine line) noexcept;
    void leave(LinePool& pool, PoolLine line, Left how) noexcept;
    // The limit's slot, by which the index counts what is open: none once its key has gone.
    [[nodiscard]] std::size_t group() const noexcept { return is_closed() ? 0 : name_.slot(); }
    void adopt(LinePool& pool, PoolLine self, PoolLine line) noexcept;
    void link_again(LinePool& pool, PoolLine self, std::uint32_t found, PoolLine moved) noexcept;

    std::uint64_t anonymous_ = 0;
    std::int64_t anonymous_at_ = 0;  // ns, the last of them
    std::int64_t idle_ = 0;          // ns
    BucketName name_;
    std::uint32_t open_ = 0;
    PoolLine oldest_ = kNoLine;
    PoolLine newest_ = kNoLine;
    PoolLine spare_ = kNoLine;  // held for the next open()
    PoolLine next_closed_ = kNoLine;
    std::uint32_t is_closed_ = 0;
};
static_assert(sizeof(OpenConnections) <= kLineBytes);

template <typename Claim>
void OpenConnections::mend(LinePool& pool, PoolLine self, std::int64_t idle,
                           Claim&& claim) noexcept {
    std::uint32_t found = 0;
    for (PoolLine line = oldest_; line != kNoLine && claim(line); line = at(pool, line).newer) {
        ++found;
    }
    // The one that was on its way to another place is found from the other end.
    PoolLine moved = kNoLine;
    PoolLine line = newest_;
    for (std::uint32_t steps = found + 1; steps != 0 && line != kNoLine && line <= pool.size();
         --steps) {
        if (claim(line)) {
            moved = line;
            break;
        }
        line = at(pool, line).older;
    }
    link_again(pool, self, found, moved);
    idle_ = idle;
    spare_ = spare_ != kNoLine && claim(spare_) ? spare_ : kNoLine;
}

}  // namespace sluice

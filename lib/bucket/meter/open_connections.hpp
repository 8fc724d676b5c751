#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/concurrency_limit.hpp"
#include "lib/bucket/meter/connection_segment.hpp"
#include "lib/bucket/pool/line_pool.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

// The connections of one key that are open, each in a line of the pool, the one that was seen least
// lately first. Those whose handshake is not complete are a chain of their own, which leaves after
// a shorter time:
//
//   OpenConnections --> [ half open ] <--> [ half open ]
//     oldest, newest      seen at            seen at
//                   --> [ established ] <--> [ established ] <--> [ established ]
//
// The pool's index finds a connection by its digest, so that a packet costs the same however many a
// key has. Each leaves when it closes, or `idle` (`half_open`) after it was last seen. Units of
// which nothing is known but their number (what a key owes from elsewhere) are `anonymous`: all of
// them leave at once, `idle` after the last of them came.
//
// Under a limit that counts from the handshake on, half-open ones are known and not counted. They
// are filed under half_open_digest(), so that one look tells whether a packet may complete a
// handshake.
//
// Its stores are in such an order that at any instant one of the two directions of a chain leads to
// every connection: mend() takes what either finds.
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

[[nodiscard]] constexpr std::uint64_t half_open_digest(std::uint64_t digest) noexcept {
    return digest ^ 0x5DEE'CE66'D1CE'4E5B;
}

// The table entry that a bucket belongs to: its instant follows the packets of the connections.
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
    void begin(const ConcurrencyLimit& limit) noexcept;
    void set_name(const BucketName& name) noexcept {
        name_ = {name.hash, (name.slot_and_tag & ~kFlags) | (name_.slot_and_tag & kFlags)};
    }
    [[nodiscard]] BucketName name() const noexcept {
        return {name_.hash, name_.slot_and_tag & ~kFlags};
    }

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

    // True if connections count from their handshake on, and not from their SYN on.
    [[nodiscard]] bool counts_established() const noexcept {
        return (name_.slot_and_tag & kFromEstablished) != 0;
    }
    // True if that connection is known here; `self` is this state's own line.
    [[nodiscard]] bool has(const LinePool& pool, PoolLine self, std::uint64_t digest,
                           Instant now) const noexcept;
    // True if it completes the handshake of a connection that is known and not counted.
    [[nodiscard]] bool completes(const LinePool& pool, PoolLine self, const ConnectionStart& start,
                                 Instant now) const noexcept;
    // Opens it, or goes on with it if it is known. Without a line for it, it is anonymous.
    void open(LinePool& pool, PoolLine self, const ConnectionStart& start, Instant now) noexcept;
    // The connection counts from now on: completes() has said so, and it was admitted.
    void complete(LinePool& pool, PoolLine self, const ConnectionStart& start,
                  Instant now) noexcept;
    void add_anonymous(std::uint64_t units, Instant now) noexcept;
    // Takes in a packet of a known connection. True: the connection has left.
    bool follow(LinePool& pool, PoolLine connection, const ConnectionSegment& segment,
                Instant now) noexcept;

    // The number of connections that are open now.
    [[nodiscard]] std::uint64_t used(const auto& pool, Instant now) const noexcept {
        const std::uint64_t anonymous = has_passed(anonymous_at_ + idle_, now) ? 0 : anonymous_;
        return anonymous + open_ - std::min<std::uint64_t>(open_, idle_by(pool, now));
    }
    // The least time after which no more than `room` are open if nothing else comes.
    [[nodiscard]] Nanoseconds wait(const LinePool& pool, Instant now,
                                   std::uint64_t room) const noexcept;
    // Forgets so many: anonymous ones first, then those that would have left first.
    void give_back(LinePool& pool, std::uint64_t units) noexcept;

    [[nodiscard]] Instant fresh_from(const LinePool& pool, Instant now) const noexcept;

    // True if its key has gone: its connections count no more.
    [[nodiscard]] bool is_closed() const noexcept { return (name_.slot_and_tag & kClosed) != 0; }

    // Gives this state's line back. Its connections count no more; their lines are given back by
    // clear_some().
    static void close(LinePool& pool, PoolLine self) noexcept;
    // Gives at most so many lines of closed states back.
    static void clear_some(LinePool& pool, unsigned most) noexcept;

    // For memory that another process left, at any instant. claim(line) says whether a line may be
    // one of this state's.
    template <typename Claim>
    void mend(LinePool& pool, PoolLine self, const ConcurrencyLimit& limit, Claim&& claim) noexcept;

private:
    struct Chain {
        PoolLine oldest = kNoLine;
        PoolLine newest = kNoLine;
    };
    enum ChainOf : unsigned { kHalfOpen, kEstablished };
    static constexpr unsigned kDropsAhead = 8;  // more than an open() adds
    static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
    static constexpr std::uint64_t kFromEstablished = std::uint64_t{1} << 62;
    static constexpr std::uint64_t kFlags = kClosed | kFromEstablished;

    [[nodiscard]] std::uint64_t total() const noexcept { return std::uint64_t{open_} + anonymous_; }
    [[nodiscard]] static bool has_passed(std::int64_t end, Instant now) noexcept {
        return end <= now.time_since_epoch().count();
    }
    [[nodiscard]] std::int64_t half_open() const noexcept {
        return std::int64_t{half_open_ms_} * Nanoseconds{std::chrono::milliseconds{1}}.count();
    }
    [[nodiscard]] static unsigned chain_of(const OpenConnection& connection) noexcept {
        return connection.sequence.is_established() ? kEstablished : kHalfOpen;
    }
    // The instant at which it leaves if nothing of it is seen until then.
    [[nodiscard]] std::int64_t end_of(const OpenConnection& connection) const noexcept {
        return connection.seen + (chain_of(connection) == kEstablished ? idle_ : half_open());
    }
    [[nodiscard]] bool has_left(const OpenConnection& connection, Instant now) const noexcept {
        return has_passed(end_of(connection), now);
    }
    [[nodiscard]] bool counts(unsigned chain) const noexcept {
        return chain == kEstablished || !counts_established();
    }
    [[nodiscard]] bool has_any() const noexcept {
        return chains_[kHalfOpen].oldest != kNoLine || chains_[kEstablished].oldest != kNoLine;
    }
    [[nodiscard]] static OpenConnection& at(LinePool& pool, PoolLine line) noexcept {
        return pool.at<OpenConnection>(line);
    }
    [[nodiscard]] PoolLine find(const LinePool& pool, PoolLine self,
                                std::uint64_t digest) const noexcept;
    [[nodiscard]] PoolLine find_known(const LinePool& pool, PoolLine self,
                                      std::uint64_t digest) const noexcept;
    // Connections that are counted, idle and have not been let go yet.
    [[nodiscard]] std::uint64_t idle_by(const auto& pool, Instant now) const noexcept {
        std::uint64_t idle = 0;
        for (const unsigned chain : {kHalfOpen, kEstablished}) {
            PoolLine line = counts(chain) ? chains_[chain].oldest : kNoLine;
            for (; line != kNoLine && idle < open_; ++idle) {
                const auto& connection = pool.template at<OpenConnection>(line);
                if (!has_left(connection, now)) {
                    break;
                }
                line = connection.newer;
            }
        }
        return idle;
    }
    [[nodiscard]] bool drop_idle(LinePool& pool, unsigned chain, Instant now) noexcept;
    // The counted connection that leaves first; kNoLine: there is none.
    [[nodiscard]] PoolLine first_to_leave(const LinePool& pool) const noexcept;
    void append(LinePool& pool, PoolLine line) noexcept;
    void move_to_end(LinePool& pool, PoolLine line) noexcept;
    void move_to_chain(LinePool& pool, PoolLine line, unsigned from, unsigned to) noexcept;
    void establish(LinePool& pool, PoolLine line) noexcept;
    void begin_half_open(LinePool& pool, PoolLine line) noexcept;
    void leave(LinePool& pool, PoolLine line, Left how) noexcept;
    bool leave_if_silent(LinePool& pool, PoolLine line, Instant now, Nanoseconds silence) noexcept;
    // The limit's slot, by which the index counts what is open: none once its key has gone.
    [[nodiscard]] std::size_t group() const noexcept { return is_closed() ? 0 : name_.slot(); }
    void adopt(LinePool& pool, PoolLine self, PoolLine line) noexcept;
    void link_again(LinePool& pool, PoolLine self, std::array<std::uint32_t, 2> found,
                    PoolLine moved) noexcept;
    void settle_order(LinePool& pool, unsigned chain) noexcept;

    std::int64_t anonymous_at_ = 0;  // ns, the last of them
    std::int64_t idle_ = 0;          // ns
    BucketName name_;                // and flags
    std::uint32_t half_open_ms_ = 0;
    std::uint32_t anonymous_ = 0;
    std::uint32_t open_ = 0;  // those that count
    std::array<Chain, 2> chains_{};
    PoolLine spare_ = kNoLine;  // held for the next open(); of a closed state, the next closed one
};
static_assert(sizeof(OpenConnections) <= kLineBytes);

template <typename Claim>
void OpenConnections::mend(LinePool& pool, PoolLine self, const ConcurrencyLimit& limit,
                           Claim&& claim) noexcept {
    std::array<std::uint32_t, 2> found{};
    for (const unsigned chain : {kHalfOpen, kEstablished}) {
        for (PoolLine line = chains_[chain].oldest; line != kNoLine && claim(line);
             line = at(pool, line).newer) {
            ++found[chain];
        }
    }
    // The one that was on its way to another place is found from the other end.
    PoolLine moved = kNoLine;
    for (const unsigned chain : {kHalfOpen, kEstablished}) {
        PoolLine line = chains_[chain].newest;
        for (std::uint32_t steps = found[chain] + 1;
             moved == kNoLine && steps != 0 && line != kNoLine && line <= pool.size(); --steps) {
            moved = claim(line) ? line : kNoLine;
            line = at(pool, line).older;
        }
    }
    const bool keeps_spare = spare_ != kNoLine && !is_closed() && claim(spare_);
    spare_ = keeps_spare ? spare_ : kNoLine;
    begin(limit);
    link_again(pool, self, found, moved);
}

}  // namespace sluice

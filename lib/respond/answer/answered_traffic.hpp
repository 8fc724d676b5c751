#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/base/units.hpp"
#include "lib/l7/stream/agreed_upgrade.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/l7/stream/made_reset.hpp"
#include "lib/respond/answer/answered_connections.hpp"
#include "lib/respond/answer/segment_numbers.hpp"
#include "lib/respond/answer/served_traffic.hpp"
#include "lib/respond/answer/server_direction.hpp"
#include "lib/respond/answer/tcp_facts.hpp"
#include "lib/share/digest_board.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Another one's numbers are those of a connection that somebody has guessed the ends of.
[[nodiscard]] bool goes_on(const AnsweredConnection& connection, std::uint32_t seq) noexcept;

// Knowledge that all workers share of connections that may be, or were, answered.
struct AnswerBoards {
    DigestBoard servers;  // the servers' directions of those that were
    DigestBoard sent;     // SentNumbers

    explicit AnswerBoards(std::size_t answered = kAnsweredServers,
                          std::size_t numbers = kSentNumbers)
        : servers{answered, static_cast<std::uint32_t>(kAnsweredSilence / std::chrono::seconds{1})},
          sent{numbers, kSentSeconds} {}
};

// Answered connections that one worker knows of: the clients that it has answered, and the servers
// of those that any worker has. What comes on them is of no rule.
class AnsweredTraffic {
public:
    AnsweredTraffic(std::size_t connections, AnswerBoards& boards)
        : connections_{connections},
          servers_{boards.servers},
          served_{std::min(connections, kServedConnections), boards.sent} {}

    // False: no segment is of such a connection.
    [[nodiscard]] bool may_have_any(Instant now) const noexcept {
        return connections_.may_have_any(now) || servers_.may_have_any(seconds_of(now)) ||
               may_have_waiting(now);
    }
    [[nodiscard]] bool may_have_displaced(Instant now) const noexcept {
        return connections_.may_have_displaced(now);
    }
    // Prefetches what meet() and begin() touch for these ends.
    void prefetch(const ConnectionEnds& ends) const noexcept {
        connections_.prefetch(ends.along());
        servers_.prefetch(ends.along());
        servers_.prefetch(ends.against());
    }
    [[nodiscard]] ServedTraffic& served() noexcept { return served_; }
    [[nodiscard]] const ServedTraffic& served() const noexcept { return served_; }

    // The sender of a segment: a client that was answered, a server whose client was, or neither. A
    // client whose refusal waits goes on with what it sent before the request.
    struct Met {
        AnsweredConnection* client = nullptr;
        bool is_server = false;
        bool goes_on = false;
        [[nodiscard]] explicit operator bool() const noexcept {
            return (client != nullptr && !goes_on) || is_server;
        }
    };
    [[nodiscard]] Met meet(const ConnectionEnds& ends, const SegmentNumbers& came,
                           Instant now) noexcept;

    // The connection of a server's segment whose client's refusal waits; nullptr: there is none.
    [[nodiscard]] AnsweredConnection* waiting_behind(const ConnectionEnds& ends,
                                                     Instant now) noexcept;

    // A SYN begins another connection between the same ends. One whose client's refusal waits is
    // another one only once its server says so (end_wait()).
    void forget(const ConnectionEnds& ends, std::uint32_t seq, Instant now) noexcept;
    void end_wait(std::uint64_t client, Instant now) noexcept;
    // The connection whose client's segment this is has been answered from now on.
    [[nodiscard]] AnsweredConnections::Added begin(const ConnectionEnds& ends,
                                                   Instant now) noexcept {
        ++begun_;
        return connections_.add(ends.along(), now);
    }
    // A refusal that waited goes out: what was looked up before is to be looked up again.
    void note_begun() noexcept { ++begun_; }
    // A refusal has begun to wait; may_have_waiting() is true for as long as one may still do.
    void note_wait(Instant now) noexcept { waits_until_ = now + kLongestAnswerWait; }
    [[nodiscard]] bool may_have_waiting(Instant now) const noexcept { return now < waits_until_; }
    // The server's segments are known by the first byte that it did not get.
    void begin_server(const ConnectionEnds& ends, std::uint32_t request, Instant now) noexcept {
        post_server(servers_, ends.against(), request, seconds_of(now));
    }
    // Resets beyond the room for a burst's are forgotten.
    void note_reset(const MadeReset& reset) noexcept {
        if (reset_count_ < resets_.size()) {
            resets_[reset_count_++] = reset;
        }
    }
    [[nodiscard]] std::span<const MadeReset> resets() const noexcept {
        return std::span{resets_}.first(reset_count_);
    }
    // Likewise upgrades: one that is forgotten stays HTTP.
    void note_upgrade(const AgreedUpgrade& upgrade) noexcept {
        if (upgrade_count_ < upgrades_.size()) {
            upgrades_[upgrade_count_++] = upgrade;
        }
    }
    [[nodiscard]] std::span<const AgreedUpgrade> upgrades() const noexcept {
        return std::span{upgrades_}.first(upgrade_count_);
    }
    // Forgets them: the follower of connections has been told of them.
    void forget_ends() noexcept { reset_count_ = upgrade_count_ = 0; }
    // How many have been begun: while it stands, what has been looked up here stays as it was.
    [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }

private:
    [[nodiscard]] static std::uint32_t seconds_of(Instant now) noexcept {
        return static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::seconds{1});
    }

    AnsweredConnections connections_;
    DigestBoard& servers_;
    ServedTraffic served_;
    std::uint64_t begun_ = 0;
    std::array<MadeReset, std::size_t{2} * kMaxBurst> resets_;
    std::size_t reset_count_ = 0;
    std::array<AgreedUpgrade, kMaxBurst> upgrades_;
    std::size_t upgrade_count_ = 0;
    Instant waits_until_{};
};

}  // namespace sluice

#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/respond/answer/answer_bounds.hpp"
#include "lib/respond/answer/answered_packet.hpp"
#include "lib/respond/answer/segment_numbers.hpp"
#include "lib/respond/answer/sent_numbers.hpp"
#include "lib/respond/answer/served_connections.hpp"
#include "lib/respond/answer/tcp_facts.hpp"
#include "lib/share/digest_board.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// A connection's two directions as digests.
struct BothWays {
    std::uint64_t along;    // of the packet at hand
    std::uint64_t against;  // the other one

    explicit BothWays(const ConnectionEnds& ends) noexcept
        : along{ends.along()}, against{ends.against()} {}
    BothWays(const PacketHeaders& headers, const KeyHasher& hash) noexcept
        : BothWays{connection_ends(headers, hash)} {}
};

// The place that an answer of the box would have on the connection of a client's segment.
enum class AnswerStanding : std::uint8_t {
    Unproven,  // nothing tells that its handshake was completed by the segment's sender
    Unframed,  // it was; the server's segments are not all seen here
    Next,      // every answer has ended, and the client has acknowledged all of them
    UnderWay,  // an answer has not ended, or the client does not have all of it
    Ended,     // the server has closed, or another protocol goes on
};

// Connections whose clients may be answered, as one worker sees them: which are proven, and
// where their servers' answers end. It is told of what is forwarded, in the order of arrival.
class ServedTraffic {
public:
    // All workers share `sent`.
    ServedTraffic(std::size_t connections, DigestBoard& sent)
        : connections_{connections}, sent_{sent} {}

    void prefetch(const BothWays& ways) const noexcept {
        connections_.prefetch(ways.along);
        connections_.prefetch(ways.against);
        sent_.prefetch(ways.along);
        sent_.prefetch(ways.against);
    }

    // False: forwarded() of this segment changes nothing.
    [[nodiscard]] bool concerns(const SegmentGlance& segment) const noexcept {
        return segment.has_unit || (segment.flags & kTcpSyn) != 0 ||
               pushes_out(segment.dir, segment.flags) ||
               connections_.may_have(segment.sport, segment.dport);
    }
    // A segment has been forwarded. True: its server begins another connection.
    bool forwarded(const BothWays& ways, const AnsweredPacket& packet, const TcpFacts& facts,
                   Instant now) noexcept;

    // The agreement of a server, in the segment that was forwarded last.
    enum class Agreement : std::uint8_t {
        None,
        Passed,    // an upgrade that its service passes
        Unlisted,  // another one: nobody reads what its client goes on with
    };
    [[nodiscard]] Agreement agreement() const noexcept { return agreement_; }

    // The standing of a client's segment with these numbers.
    [[nodiscard]] AnswerStanding standing(const BothWays& ways, std::uint32_t seq,
                                          std::uint32_t ack, Instant now) const noexcept;

    // The standing of a packet that is to be answered, by what its connection's tracker knows as
    // well. Data of a SYN belongs to no connection yet, and without an ACK nothing says where an
    // answer stands.
    [[nodiscard]] AnswerStanding standing_of(const AnsweredPacket& packet, const BothWays& ways,
                                             const SegmentNumbers& came,
                                             Instant now) const noexcept;

    // standing() of a segment that may acknowledge more than has been read of its server's
    // segments.
    [[nodiscard]] AnswerStanding acknowledge(const BothWays& ways, std::uint32_t seq,
                                             std::uint32_t ack, Instant now) noexcept;

    // True if a segment of a server that begins at `seq` can be read as it comes.
    [[nodiscard]] bool can_read(const BothWays& ways, std::uint32_t seq) const noexcept {
        const ServedConnection* const connection = connections_.find(ways.against);
        return connection == nullptr || connection->answers.can_read(seq);
    }
    // A server has sent what ends before `number`: the segment was seen by whoever tells.
    void note_sent(std::uint64_t direction, std::uint32_t number, Instant now) noexcept {
        post_sent(sent_, direction, number, seconds_of(now));
    }

private:
    [[nodiscard]] static std::uint32_t seconds_of(Instant now) noexcept {
        return static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::seconds{1});
    }
    // Segments that a server inside ends its answers with.
    [[nodiscard]] static bool pushes_out(Direction dir, std::uint16_t flags) noexcept {
        constexpr std::uint16_t kPushes = kTcpPsh | kTcpFin;
        return dir == Direction::Out && (flags & kPushes) != 0;
    }
    bool accept(const BothWays& ways, std::uint32_t number, Instant now) noexcept;
    void follow_client(ServedConnection& connection, const AnsweredPacket& packet,
                       const TcpFacts& facts, Instant now) noexcept;
    void follow_server(ServedConnection& connection, const AnsweredPacket& packet,
                       const TcpFacts& facts, Instant now) noexcept;
    void meet_stranger(const BothWays& ways, const AnsweredPacket& packet, const TcpFacts& facts,
                       Instant now) noexcept;

    ServedConnections connections_;
    DigestBoard& sent_;
    // SYN-ACKs that came to this worker.
    DigestBoard here_{kHandshakesHere, kSentSeconds};
    Agreement agreement_ = Agreement::None;
};

}  // namespace sluice

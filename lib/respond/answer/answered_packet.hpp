#pragma once
#include "lib/l7/http1/response_stream.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/respond/action.hpp"
#include "lib/respond/answer/tcp_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The unit that an answer goes by, beside the headers: the first that the packet completes.
enum class AnsweredUnit : std::uint8_t {
    None,
    HttpRequest,  // of HTTP/1
    HttpHead,     // one whose method is HEAD, so that its answer has no body
    HttpConnect,  // one whose method is CONNECT, which a success would make a tunnel
    ClientHello,  // of TLS, or of QUIC in an Initial that authenticates
    DnsQuery,     // over UDP, on whatever port
};

// Knowledge of the handshake behind a segment that may be answered.
enum class Handshake : std::uint8_t {
    Untracked,  // what has been seen of its server's segments tells (ServedTraffic)
    Completed,  // its client has acknowledged the server's first number
    Open,       // it has not
    OneWay,     // the server's segments do not come to the box, so that nothing proves it
};

inline constexpr std::size_t kHandshakes = 4;

// Facts that tell, before anything is looked up, whether a forwarded segment matters to answers.
struct SegmentGlance {
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::uint16_t flags = 0;
    Direction dir = Direction::In;
    bool has_unit = false;
};

struct AnsweredPacket {
    const PacketHeaders& headers;
    FrameView frame;
    AnsweredUnit unit = AnsweredUnit::None;
    // The Destination Connection ID of a QUIC hello's first Initial, which a later one that
    // completes it need not have.
    ByteView quic_dcid{};
    // A request of a connection on which the answer to the one before may still be on its way, as
    // far as its client's numbers alone tell.
    bool may_wait = false;
    Handshake handshake = Handshake::Untracked;
    // The requests of HTTP/1 that the segment completes, as far as answers are framed by them.
    AskedRequests requests{};
    bool asks_more = false;        // than `requests` has room for
    std::uint64_t connection = 0;  // of a service, as its tracker names it; else 0
};

// True if `action` resets a segment that it has no other answer to.
[[nodiscard]] constexpr bool resets_segments(const Action& action,
                                             std::span<const Action> actions) noexcept {
    return action.verdict == Verdict::Reset ||
           (action.answer.response == 0 && actions[action.answer.then].verdict == Verdict::Reset);
}

// True if the connection of a segment of TCP is known as answered behind this action, which is one
// that answers: a unit has come on it.
[[nodiscard]] constexpr bool ends_connection(const AnsweredPacket& packet, const Action& action,
                                             std::span<const Action> actions) noexcept {
    constexpr std::uint16_t kSynOrRst = kTcpSyn | kTcpRst;
    return packet.unit != AnsweredUnit::None && (packet.headers.tcp_flags & kSynOrRst) == 0 &&
           (action.answer.response != 0 || resets_segments(action, actions));
}

}  // namespace sluice

#pragma once
#include "lib/respond/answer/made_segment.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

// Numbers of a made segment: RFC 9293, 3.10.7, RFC 5961, RFC 7323.
//
//   client                          box                           server
//   seq=S ack=A  request    ----->  |
//                           <-----  | seq=A ack=S response        |
//                           <-----  | seq=.. ack=end FIN          |
//                                   | RST seq=first not forwarded |----->
//                                   |        ACK, if that is not  |<-----  challenge
//                                   |        RCV.NXT: RST at it   |----->
namespace sluice {

// No made segment has more behind its header (RFC 9293, 3.7.1): what a client takes that has not
// said otherwise. The MSS of its SYN would have to be kept for every connection, answered or not.
inline constexpr std::size_t kResponseMss = 536;
inline constexpr std::size_t kMostResponseSegments = 3;
// Options take their part of the MSS (RFC 6691, 2): so many bytes fit in as many segments.
inline constexpr std::size_t kMostResponseBytes = kMostResponseSegments * (kResponseMss - 12);

// Timestamps of a segment that answers this one, in its receiver's name: the value that its sender
// has echoed is the last one it has seen of the receiver's, and passes its PAWS check whatever the
// receiver's clock; the echo is its own value.
[[nodiscard]] std::optional<TcpTimestamps> timestamps_toward_sender(const TcpFacts& came) noexcept;

// How a response is cut. count == 0: it does not fit in kMostResponseSegments.
struct ResponseCut {
    std::size_t count = 0;
    std::size_t piece = 0;  // bytes in each segment but the last
};
[[nodiscard]] ResponseCut cut_response(std::size_t size, bool has_timestamps) noexcept;

// The place of a response in its connection.
struct ResponsePlace {
    std::uint32_t seq = 0;       // of its first byte
    std::uint32_t request = 0;   // of the first byte of the segment that completed the request
    std::uint32_t received = 0;  // behind all that has come from the client in order
    std::optional<TcpTimestamps> timestamps;
};
[[nodiscard]] ResponsePlace response_to(const TcpFacts& request) noexcept;

// Segment `index` of the response. The last one has PSH and FIN and acknowledges all that has come.
// Those before it acknowledge nothing of the request, so that the client sends it again, and gets
// its answer again, if any of them is lost: the box keeps no timer of its own.
[[nodiscard]] MadeSegment response_segment(const ResponsePlace& place, ByteView response,
                                           const ResponseCut& cut, std::size_t index) noexcept;
// Behind the response and its FIN.
[[nodiscard]] constexpr std::uint32_t response_end(const ResponsePlace& place,
                                                   std::size_t size) noexcept {
    return place.seq + static_cast<std::uint32_t>(size) + 1;
}

// A RST to the sender of `came`, with SEG.SEQ = its SEG.ACK; for a segment without ACK, SEG.SEQ = 0
// and SEG.ACK = the number behind its last byte. nullopt: `came` is a RST, which is never answered.
[[nodiscard]] std::optional<MadeSegment> reset_toward_sender(const TcpFacts& came) noexcept;

// A RST to where `came` goes, in its sender's name. `first` is the number of the first byte that
// was not forwarded. Where bytes before it are still on their way it is not RCV.NXT, and the
// receiver asks with a challenge ACK (RFC 5961, 3.2): reset_toward_sender() of that one is
// exact. nullopt: a SYN that was not forwarded has opened nothing, a RST is forwarded as it is.
[[nodiscard]] std::optional<MadeSegment> reset_toward_receiver(const TcpFacts& came,
                                                               std::uint32_t first) noexcept;

// An ACK without data at the end of what the box has sent.
[[nodiscard]] MadeSegment bare_ack(std::uint32_t seq, std::uint32_t ack,
                                   const std::optional<TcpTimestamps>& timestamps) noexcept;

}  // namespace sluice

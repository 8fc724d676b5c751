#pragma once
#include "lib/l7/stream/tcp_segment.hpp"

#include <algorithm>
#include <cstdint>

// Numbers of one direction of a connection, and where a segment stands to them: RFC 9293, 3.4 and
// 3.10.7.4; RFC 5961, 3 to 5. All comparisons are modulo 2^32.
namespace sluice {

// No window is larger (RFC 7323, 2.3), so nothing older is a retransmission.
inline constexpr std::uint32_t kWidestWindow = std::uint32_t{1} << 30;
inline constexpr std::uint8_t kMostScale = 14;
// A connection that was taken up in its middle, or went on where no box was, may have had so many
// bytes sent that are not known of.
inline constexpr std::uint32_t kUnseenFlight = std::uint32_t{1} << 22;

[[nodiscard]] constexpr bool is_behind(std::uint32_t at, std::uint32_t than) noexcept {
    return sequence_distance(than, at) > 0;
}
[[nodiscard]] constexpr std::uint32_t later_of(std::uint32_t a, std::uint32_t b) noexcept {
    return is_behind(a, b) ? a : b;
}

// Numbers of what one end sends. Invariant: iss, then una, then next, in this order, and una not
// behind edge.
struct TcpHalf {
    std::uint32_t iss = 0;   // number of its SYN
    std::uint32_t next = 0;  // behind all that it has sent
    std::uint32_t una = 0;   // all before it the other end has acknowledged
    std::uint32_t edge = 0;  // right edge of the other end's window; it never moves left

    // The distance that a number may be before `una`. A connection of more than 2^30 bytes has no
    // number that lies before its beginning.
    [[nodiscard]] constexpr std::uint32_t age_limit(bool is_long) const noexcept {
        return is_long ? kWidestWindow : std::min(una - iss, kWidestWindow);
    }
};

enum class AckPlace : std::uint8_t { Fits, Unsent, TooOld };

// An acknowledgement of what `half` has sent. `widest`: the largest window ever offered to it.
[[nodiscard]] AckPlace place_of_ack(const TcpHalf& half, std::uint32_t ack, std::uint32_t widest,
                                    bool is_long) noexcept;

enum class DataPlace : std::uint8_t {
    Old,     // nothing of it is new
    Fits,    // it begins before or in the window, and ends in it
    Probe,   // one byte at a closed window
    Beyond,  // it ends beyond the right edge
    Alien,   // the connection cannot have this number
};

// `from` to `to`: its bytes without SYN and FIN, perhaps none.
[[nodiscard]] DataPlace place_of_data(const TcpHalf& half, std::uint32_t from, std::uint32_t to,
                                      bool is_long) noexcept;

// RFC 5961, 3.2.
enum class ResetPlace : std::uint8_t { Exact, InWindow, Outside };
[[nodiscard]] ResetPlace place_of_reset(const TcpHalf& half, std::uint32_t seq) noexcept;

}  // namespace sluice

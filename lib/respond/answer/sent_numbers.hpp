#pragma once
#include "lib/share/digest_board.hpp"

#include <cstdint>

// Numbers that servers have sent: who acknowledges one of them exactly has received it, so that it
// is where it says it is. A digest of a server's direction and a number that the segment ends at:
// of a SYN-ACK, and of what a server pushes where nothing else is known of the connection. A
// blind guess is right once in 2^32 times; a number that is forgotten too soon is one that nobody
// can prove.
namespace sluice {

// The lower bits, which choose the line, are the direction's alone.
[[nodiscard]] constexpr std::uint64_t sent_digest(std::uint64_t direction,
                                                  std::uint32_t number) noexcept {
    return direction ^ (static_cast<std::uint64_t>(number) << 24U);
}
inline void post_sent(DigestBoard& board, std::uint64_t direction, std::uint32_t number,
                      std::uint32_t seconds) noexcept {
    board.post(sent_digest(direction, number), seconds);
}
// True if this server has sent all that `ack` acknowledges.
[[nodiscard]] inline bool was_sent(const DigestBoard& board, std::uint64_t direction,
                                   std::uint32_t ack, std::uint32_t seconds) noexcept {
    return board.has(sent_digest(direction, ack), seconds);
}

}  // namespace sluice

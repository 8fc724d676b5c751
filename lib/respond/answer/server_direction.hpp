#pragma once
#include "lib/respond/answer/answer_bounds.hpp"
#include "lib/share/digest_board.hpp"

#include <cstdint>

// The directions of servers whose connections were answered, on a board that all workers share.
namespace sluice {

// The digest of a server's direction and of the block of numbers that the byte `seq` of its client
// is in. The lower bits, which choose the line, are the direction's alone.
[[nodiscard]] constexpr std::uint64_t server_digest(std::uint64_t direction,
                                                    std::uint32_t seq) noexcept {
    return direction ^ (static_cast<std::uint64_t>(seq / kServerReach) << 24U);
}

// `request`: the first byte that was not forwarded.
inline void post_server(DigestBoard& board, std::uint64_t direction, std::uint32_t request,
                        std::uint32_t seconds) noexcept {
    board.post(server_digest(direction, request), seconds);
}

// True if a server's segment that acknowledges `ack` goes on with a connection whose first byte
// that was not forwarded is `request`: its number is in the block of the request, or in the one
// before.
[[nodiscard]] constexpr bool is_near(std::uint32_t request, std::uint32_t ack) noexcept {
    return ack / kServerReach == request / kServerReach ||
           (ack + kServerReach) / kServerReach == request / kServerReach;
}

// True if a segment in this direction that acknowledges `ack` goes on with a connection that was
// answered (is_near()).
[[nodiscard]] inline bool has_server(const DigestBoard& board, std::uint64_t direction,
                                     std::uint32_t ack, std::uint32_t seconds) noexcept {
    return board.has(server_digest(direction, ack), seconds) ||
           board.has(server_digest(direction, ack + kServerReach), seconds);
}

// A connection that begins with the client's number `seq` is another one, however near.
inline void forget_server(DigestBoard& board, std::uint64_t direction, std::uint32_t seq) noexcept {
    for (const std::uint32_t near : {seq - kServerReach, seq, seq + kServerReach}) {
        board.remove(server_digest(direction, near));
    }
}

}  // namespace sluice

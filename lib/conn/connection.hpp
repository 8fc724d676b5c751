#pragma once
#include "lib/conn/judged_ranges.hpp"
#include "lib/pool/line_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Index of a connection's line in its table.
using ConnectionIndex = std::uint32_t;
inline constexpr ConnectionIndex kNoConnection = ~ConnectionIndex{0};

// What the caller keeps between two pieces of a body that it frames itself.
using FramingState = std::array<std::byte, 16>;

enum class StreamPhase : std::uint8_t {
    Free,
    Head,        // a head begins at `next`
    Framed,      // a body goes on at `next`, and the caller says where it ends
    LongBody,    // a body goes on at `next`, for so many bytes as stand in `framing`
    UntilClose,  // all that follows belongs to the last unit
    Lost,        // a head may begin anywhere from `next` on
    Forgotten,   // a head begins at `next`, and bytes of it that were forwarded are held no more
};

// One line. Place and digest are the table's (connection_lines), neighbours the age lists'.
struct alignas(kLineBytes) Connection {
    std::uint64_t digest = 0;
    std::uint32_t next = 0;     // first byte, in order, of no judged unit
    std::uint32_t touched = 0;  // in ticks; of a half head, when it began
    ConnectionIndex older = kNoConnection;
    ConnectionIndex newer = kNoConnection;
    PoolLine held = kNoLine;    // HeldHead
    std::uint16_t at_home = 0;  // which of the lines from this one on have their home here
    StreamPhase phase = StreamPhase::Free;
    JudgedRanges judged;
    FramingState framing{};

    // It would be missed: a half head, or a refusal.
    [[nodiscard]] bool at_stake() const noexcept {
        return held != kNoLine || phase == StreamPhase::Forgotten || judged.any_blocks();
    }
};
static_assert(sizeof(Connection) == kLineBytes, "a look-up touches one line");

}  // namespace sluice

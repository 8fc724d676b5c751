#pragma once
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/l7/stream/hopscotch_lines.hpp"
#include "lib/l7/stream/judged_ranges.hpp"
#include "lib/l7/stream/unread_reason.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// State that the caller keeps between two pieces of a body that it frames itself.
using FramingState = std::array<std::byte, 16>;

enum class StreamPhase : std::uint8_t {
    Free,
    Head,        // a head begins at `next`
    Begun,       // the same, and nothing but its SYN has come
    Framed,      // a body goes on at `next`, and the caller says where it ends
    LongBody,    // a body goes on at `next`, for so many bytes as stand in `framing`
    UntilClose,  // all that follows belongs to the last unit
    Lost,        // a head may begin anywhere from `next` on
    Forgotten,   // a head begins at `next`, and bytes of it that were forwarded are held no more
    Untaken,     // a head begins at `next` that found no room: none of it was forwarded
    Unread,      // nothing from `next` on is read any more
};

// Connections of a group are remembered for another reason, and have a budget and an order of age
// of their own.
enum class AgeGroup : std::uint8_t {
    Idle,      // nobody gains by its being forgotten
    Begun,     // that it has begun is all there is to know
    Refusal,   // a refusal sticks to bytes of it
    GivenUp,   // Forgotten: the rest of a head must not pass
    HalfHead,  // a head that is not whole
};
inline constexpr std::size_t kAgeGroups = 5;
// True of the groups that have shares of their sources.
[[nodiscard]] constexpr bool is_at_stake(AgeGroup group) noexcept {
    return group >= AgeGroup::Refusal;
}

// One line. Place and digest are the table's (connection_lines), neighbours the age lists'.
struct alignas(kLineBytes) Connection {
    std::uint64_t digest = 0;
    std::uint32_t next = 0;     // first byte, in order, of no judged unit
    std::uint32_t touched = 0;  // in ticks; of a half head, when it began
    ConnectionIndex older = kNoConnection;
    ConnectionIndex newer = kNoConnection;
    PoolLine held = kNoLine;    // HeldHead
    std::uint16_t at_home = 0;  // which of the lines from this one on have their home here
    StreamPhase phase : 4 = StreamPhase::Free;
    AgeGroup listed : 4 = AgeGroup::Idle;  // where its neighbours are
    bool has_framing : 1 = false;          // FramingBytes may keep something of it, or have lost it
    bool is_inherited : 1 = false;         // an earlier process has read it
    bool is_unheard : 1 = false;           // and nothing in order has come of it since
    bool has_gap : 1 = false;              // its receiver may lack unread bytes before a number
    UnreadProtocol protocol : 2 = UnreadProtocol::None;  // of the unit that was read last
    JudgedRanges judged;
    FramingState framing{};

    [[nodiscard]] bool is_free() const noexcept { return phase == StreamPhase::Free; }
    void take() noexcept { phase = StreamPhase::Head; }
    void give_up() noexcept { phase = StreamPhase::Free; }
    [[nodiscard]] AgeGroup group() const noexcept {
        if (held != kNoLine) {
            return AgeGroup::HalfHead;
        }
        if (phase == StreamPhase::Forgotten || phase == StreamPhase::Untaken) {
            return AgeGroup::GivenUp;
        }
        if (judged.any_blocks()) {
            return AgeGroup::Refusal;
        }
        return phase == StreamPhase::Begun ? AgeGroup::Begun : AgeGroup::Idle;
    }
    // True of a line that would be missed: a half head, or a refusal.
    [[nodiscard]] bool at_stake() const noexcept { return is_at_stake(group()); }
};
static_assert(sizeof(Connection) == kLineBytes, "a look-up touches one line");

}  // namespace sluice

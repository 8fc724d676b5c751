#pragma once
#include "lib/base/bytes.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

class KeyHasher;

// How far `at` lies behind `from` in a stream whose numbers wrap; negative: before it.
[[nodiscard]] constexpr std::int32_t sequence_distance(std::uint32_t from,
                                                       std::uint32_t at) noexcept {
    return static_cast<std::int32_t>(at - from);
}

// One segment of the client's direction, as the headers' parser left it.
struct TcpSegment {
    std::uint64_t digest = 0;  // keyed hash of the 5-tuple
    std::uint64_t source = 0;  // keyed hash of whom half heads are accounted to: address or prefix
    std::uint32_t seq = 0;     // of the payload's first byte; a SYN's own number where `syn`
    bool syn = false;
    bool begins = false;  // a SYN of who opens the connection
    bool fin = false;
    bool rst = false;
    ByteView payload;
    const KeyHasher* hash =
        nullptr;  // what repeats judged bytes is compared by; nullptr: it is not
    // All before it the receiver has, as it says itself.
    std::optional<std::uint32_t> acknowledged;
    bool is_word_old = false;    // it said so before a restart, and nothing since: it may have more
    bool refusals_stand = true;  // what is refused is not forwarded

    [[nodiscard]] constexpr std::uint32_t payload_seq() const noexcept {
        return seq + (syn ? 1U : 0U);
    }
};

// The verdict on a unit: a number of the caller's, stricter the larger it is. With the top bit set
// the unit is not forwarded. Two values have a meaning here.
enum class StickyVerdict : std::uint8_t {
    Undecided = 0x7E,  // until settle(): what a burst is still deciding
    Unjudged = 0x7F,   // bytes that no unit held, in the middle of judged ones
    Blocked = 0x80,    // the least strict that does not forward
};

[[nodiscard]] constexpr bool blocks(StickyVerdict verdict) noexcept {
    return verdict >= StickyVerdict::Blocked;
}

}  // namespace sluice

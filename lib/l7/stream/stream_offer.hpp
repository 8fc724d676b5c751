#pragma once
#include "lib/l7/stream/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

enum class Offered : std::uint8_t {
    Nothing,  // all bytes have been seen to
    Head,     // `bytes` begin a head: finish(), more() or not_mine()
    Framed,   // `bytes` go on in a body that the caller frames: framed()
    Resync,   // a head may begin in the first `may_begin` of `bytes`: skip() to it, then as for
              // Head; or not_mine()
    Held,     // kept, or kept before; nothing to judge yet
    Judged,   // `judged` is the verdict of all of it
    Refused,  // `why`: what it completes cannot be judged
};

enum class RefusedWhy : std::uint8_t {
    None,
    Full,         // no room for a half head
    SourceShare,  // its source has as many half heads as it may
    HeadTooLong,
    TooManyPieces,
    OutOfReach,     // further ahead of a half head than a head is long, or before all that is known
    HeadForgotten,  // the bytes before it were given up: timed out or evicted
    MissedSome,     // its receiver may have bytes ahead of it that nobody read
    Unheard,        // its receiver, which may have what lies before it, is to say so first
    Unreadable,     // its connection has gone unread, in a service
};

// A segment's bytes to be parsed, piece by piece. On the caller's stack, good until the next
// segment; its views are good until the next call that takes it.
struct StreamOffer {
    Offered kind = Offered::Nothing;
    RefusedWhy why = RefusedWhy::None;
    bool repeats =
        false;  // some of its bytes were judged before: `judged` is their strictest verdict
    // Repeats bytes with other contents, or what cannot be compared; the first ones stand.
    bool differs = false;
    StickyVerdict judged{};
    ByteView bytes;
    std::uint32_t seq = 0;   // of the first of `bytes`
    FramingState framing{};  // of a Framed one
    // The first bytes of a Resync in which a head may begin; those behind them were judged.
    std::size_t may_begin = 0;

    // True if the caller has something to parse.
    [[nodiscard]] bool parses() const noexcept {
        return kind == Offered::Head || kind == Offered::Framed || kind == Offered::Resync;
    }
    // A Resync's head begins so many bytes later.
    void skip(std::size_t count) noexcept {
        bytes = bytes.subspan(count);
        may_begin -= count;
        seq += static_cast<std::uint32_t>(count);
    }

private:
    friend class ConnectionTable;
    // All that is left, where a head may begin in the first `count` bytes.
    void resync(std::size_t count) noexcept {
        kind = Offered::Resync;
        bytes = rest_;
        seq = rest_seq_;
        may_begin = count;
    }
    // So many bytes from `seq` on have been seen to.
    void take_off(std::uint64_t count) noexcept {
        const std::int64_t done =
            sequence_distance(rest_seq_, seq) + static_cast<std::int64_t>(count);
        const std::size_t over =
            std::min(rest_.size(), static_cast<std::size_t>(std::max<std::int64_t>(done, 0)));
        rest_ = rest_.subspan(over);
        rest_seq_ += static_cast<std::uint32_t>(over);
    }
    ConnectionIndex connection_ = kNoConnection;
    bool may_miss_some_ = false;  // nothing has come of it since segments may have passed unseen
    bool misses_some_ = false;    // its receiver has bytes that were never read
    std::uint64_t digest_ = 0;
    std::uint64_t source_ = 0;
    std::uint32_t rest_seq_ = 0;  // of the first of `rest_`
    ByteView rest_;               // of the payload: not judged, skipped or held yet
    std::uint32_t fresh_seq_ = 0;
    ByteView fresh_;  // of the payload: what did not lie before `next`
    const KeyHasher* hash_ = nullptr;
    std::optional<std::uint32_t> acknowledged_;
    bool is_word_old_ = false;
    bool refusals_stand_ = true;
    MutableBytes scratch_;
};

// How a unit goes on behind its head.
struct UnitBody {
    enum class Kind : std::uint8_t { Sized, Framed, UntilClose, Unknown };
    Kind kind = Kind::Sized;
    std::uint64_t bytes = 0;  // of a Sized one
    FramingState framing{};   // of a Framed one
};

// When a head that is not whole is worth another look.
struct HeadNeed {
    std::size_t bytes = 0;     // so many are there; at least one more than there were
    bool blank_line = false;   // or a blank line has ended
    bool line = false;         // or the first line that is not blank has
    bool bare_return = false;  // or a CR has come that no LF follows
    // So little is there that it may be no head at all: it is not given up before the connection
    // itself would be forgotten, so that a protocol of short words is not refused for its silence.
    bool may_be_none = false;
    // A line in the middle of a stream, which may be a head's: more of it is looked through anew.
    bool is_guess = false;
    bool is_none_at_end = false;  // of a guess: no head, if the stream ends with it
};

}  // namespace sluice

#pragma once
#include "lib/l7/stream/tcp_segment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The verdicts of a connection's bytes up to its next byte, `end`, which its owner keeps: three
// adjacent ranges in order, each with one verdict. Neighbours of one verdict are one range. Where a
// fourth is needed the two oldest become one with the stricter verdict, so that no refusal is ever
// forgotten in favour of a pass: what lies behind a refused byte cannot reach a reader before it.
class JudgedRanges {
public:
    // No range reaches further back than this; receive windows end at 2^30 (RFC 7323).
    static constexpr std::uint32_t kMostBytes = std::uint32_t{1} << 30;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // The oldest range begins here; only when not empty.
    [[nodiscard]] std::uint32_t begin() const noexcept { return starts_[0]; }
    [[nodiscard]] bool any_blocks() const noexcept;

    // The strictest verdict of [from, to), which ends at `end` or before; Unjudged counts as a
    // verdict there, also for bytes before the first range.
    [[nodiscard]] StickyVerdict strictest(std::uint32_t from, std::uint32_t to,
                                          std::uint32_t end) const noexcept;

    // The bytes from `from` on are all Unjudged, or all judged, up to here, `to` at the latest.
    [[nodiscard]] std::uint32_t alike_until(std::uint32_t from, std::uint32_t to,
                                            std::uint32_t end) const noexcept;

    // [from, end) has this verdict; `from` is where the ranges ended.
    void append(StickyVerdict verdict, std::uint32_t from, std::uint32_t end) noexcept;
    // The part of [from, to) that lies in ranges has this verdict.
    void paint(StickyVerdict verdict, std::uint32_t from, std::uint32_t to,
               std::uint32_t end) noexcept;
    // Takes up the ranges of an earlier process: an undecided one is Unjudged. False: they cannot
    // be true.
    [[nodiscard]] bool recover(std::uint32_t end) noexcept;
    // The ranges end at `end` from now on, which lies in them or behind them: what is further ahead
    // is forgotten, the last range goes on to it, and nothing is further back than kMostBytes.
    void end_at(std::uint32_t end) noexcept;

private:
    static constexpr std::size_t kRanges = 3;
    struct Parts;

    [[nodiscard]] std::uint32_t end_of(std::size_t range, std::uint32_t end) const noexcept {
        return range + 1 < count_ ? starts_[range + 1] : end;
    }
    void take(Parts& parts) noexcept;
    // False: there is no room for a range more.
    [[nodiscard]] bool append_to_last(StickyVerdict verdict, std::uint32_t from) noexcept;
    void paint_last(StickyVerdict verdict) noexcept;

    std::array<std::uint32_t, kRanges> starts_{};
    std::array<StickyVerdict, kRanges> verdicts_{};
    std::uint8_t count_ = 0;
};
static_assert(sizeof(JudgedRanges) == 16);

}  // namespace sluice

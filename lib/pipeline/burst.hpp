#pragma once
#include "lib/pipeline/packet.hpp"
#include "lib/pipeline/scratch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Packets that go through the stages together, and what the stages note of them for one another.
class Burst {
public:
    // Where a frame came in: the side of the pair, and port_name() of the pair.
    bool add(const FrameView& frame, Direction dir, std::uint64_t port,
             void* buffer = nullptr) noexcept {
        if (size_ == kMaxBurst) {
            return false;
        }
        Packet& row = rows_[size_++];
        row.come(frame, buffer);
        row.flow.dir = dir;
        row.flow.port = port;
        alike_ = false;
        return true;
    }
    // The same for so many at once, at most kMaxBurst, that came in at one place: whoever asks for
    // these rows lets them come(). Rows keep their place from burst to burst.
    [[nodiscard]] std::span<Packet> take_rows(std::size_t count, Direction dir,
                                              std::uint64_t port) noexcept {
        clear();
        size_ = count;
        if (!alike_ || dir != rows_[0].flow.dir || port != rows_[0].flow.port) [[unlikely]] {
            for (Packet& row : rows_) {
                row.flow.dir = dir;
                row.flow.port = port;
            }
            alike_ = true;
        }
        return packets();
    }
    void clear() noexcept {
        size_ = 0;
        scratch_.forget();
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<Packet> packets() noexcept { return std::span{rows_}.first(size_); }
    [[nodiscard]] std::span<const Packet> packets() const noexcept {
        return std::span{rows_}.first(size_);
    }
    // What act_burst() reads of a row.
    [[nodiscard]] const Flow& headers(std::size_t row) const noexcept { return rows_[row].flow; }
    [[nodiscard]] Decision& decision(std::size_t row) noexcept { return rows_[row].decision; }
    // Only the first ones stay.
    void shrink(std::size_t size) noexcept { size_ = size; }
    [[nodiscard]] Scratch& scratch() noexcept { return scratch_; }
    // The rules that a row has met. For match_burst(), which notes none where has_one_way().
    [[nodiscard]] std::span<Match> matches_of(std::size_t row) noexcept {
        const MatchSpan& span = scratch_.spans[row];
        return {&scratch_.matches[span.first], span.count};
    }
    // The same where has_one_way(): noted when it is first asked for, since few ask.
    [[nodiscard]] std::span<Match> only_match(std::size_t row) noexcept {
        const std::uint32_t bit = std::uint32_t{1} << row;
        if ((scratch_.noted & bit) == 0) {
            const auto at = static_cast<std::uint32_t>(row);
            scratch_.noted |= bit;
            scratch_.matches[row] = {.first = at, .packet = static_cast<std::uint8_t>(row)};
            scratch_.spans[row] = {at, is_malformed(rows_[row].flow.parsed) ? 0U : 1U};
        }
        return matches_of(row);
    }
    [[nodiscard]] const Scratch& scratch() const noexcept { return scratch_; }

private:
    std::array<Packet, kMaxBurst> rows_{};
    std::size_t size_{0};
    bool alike_{false};  // all rows came in where the first did
    Scratch scratch_;
};

}  // namespace sluice

#pragma once
#include "lib/packet/payload_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace sluice {

// A line's size is a number of two bytes.
inline constexpr std::size_t kLongestLine = std::numeric_limits<std::uint16_t>::max();
[[nodiscard]] constexpr bool is_too_long(const PayloadRange& line) noexcept {
    return line.end - line.begin > kLongestLine;
}

// Lines and the data between them, cut where no line is longer: a reading of held bytes and one
// segment is no longer than two.
class JoinedLines {
public:
    explicit JoinedLines(std::span<const PayloadRange> lines) noexcept {
        PayloadRange rest{lines.front().begin, lines.back().end};
        for (; is_too_long(rest) && count_ + 1 < parts_.size(); ++count_) {
            parts_[count_] = {rest.begin, rest.begin + static_cast<std::uint32_t>(kLongestLine)};
            rest.begin = parts_[count_].end;
        }
        parts_[count_++] = rest;
    }
    [[nodiscard]] std::span<const PayloadRange> places() const noexcept {
        return std::span{parts_}.first(count_);
    }

private:
    std::array<PayloadRange, 3> parts_{};
    std::size_t count_ = 0;
};

}  // namespace sluice

#pragma once
#include "lib/policy/problems/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice {

// The offsets of a text's lines, found once: a file may have a remark on each of a million lines.
class LineIndex {
public:
    explicit LineIndex(std::string_view text);

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    // Both clamp what lies outside the text to its end.
    [[nodiscard]] Position place_at(std::size_t offset) const noexcept;
    [[nodiscard]] std::size_t offset_of(Position at) const noexcept;

private:
    std::string_view text_;
    std::vector<std::uint32_t> starts_;  // a text has at most kMaxTextSize bytes
};

}  // namespace sluice

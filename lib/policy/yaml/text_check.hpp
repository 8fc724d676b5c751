#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice {

inline constexpr std::size_t kMaxTextSize = 64U << 20;
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The YAML reader reads to the end of a line before it reports an event, and holds all of it: a
// hundred bytes for each of the line's. So lines are bounded, and what they open.
inline constexpr std::size_t kMaxLineSize = 4U << 20;
inline constexpr std::size_t kMaxOpenedInLine = 4096;

struct TextFault {
    std::size_t offset = 0;
    std::string_view what;
};

// The first thing that keeps a text from being read at all: what is not UTF-8, control characters,
// a line too long or opening too many brackets.
[[nodiscard]] std::optional<TextFault> find_text_fault(std::string_view text) noexcept;

}  // namespace sluice

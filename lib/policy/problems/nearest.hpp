#pragma once
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The known word closest to `word` by edit distance, or empty when none is close enough to be
// meant.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> known);

// `; did you mean X?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> known);

// The name that did_you_mean() has put into a message; empty: it has none.
[[nodiscard]] std::string_view meant_name(std::string_view message);

// `a, b, c`
[[nodiscard]] std::string list_of(std::span<const std::string_view> words);

}  // namespace sluice

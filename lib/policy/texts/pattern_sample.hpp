#pragma once
#include "lib/match/text_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Texts that a scanner has much work with, made from the patterns that it looks for.
namespace sluice {

// How often what may be repeated is: few make a text that begins anew all the time, many one that
// keeps every state busy.
enum class Repeats : std::uint8_t { Least, Most };

// A text that the regular expression matches, or nearly: of alternatives the first, of a class one
// byte, repeats written out. What it takes for something else than the compiler does makes the
// text a milder one, and nothing else.
[[nodiscard]] std::string sample_of(std::string_view regex, Repeats repeats, std::size_t most);

// Texts of `size` bytes: what the patterns match, over and over; the same but for the last byte;
// runs of the bytes in it; all patterns in turn; and a few that are made of none of them.
[[nodiscard]] std::vector<std::string> hard_texts(const std::vector<TextEntry>& patterns,
                                                  std::size_t size);

// How long a text of the field is taken to be: of the payload, what a full frame carries.
[[nodiscard]] std::size_t usual_size(TextField field) noexcept;

}  // namespace sluice

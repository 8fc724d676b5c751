#pragma once
#include "lib/match/text_parts.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

// The form in which packets have a text: words, names and paths of a later layer come in one
// spelling, and a comparison with another would never hold.
namespace sluice {

// A literal of a condition.
struct ComparedText {
    TextField field{};
    TextHow how = TextHow::Equals;  // not Matches: a regular expression is taken as it is
    bool ignore_case = false;
    std::string_view text;
};

// Why no packet has such a text, to be read behind the field's name; with the spelling that packets
// have where there is one. nullopt: some can have it.
[[nodiscard]] std::optional<std::string> find_form_fault(const ComparedText& compared);

// The same in words: why, and what was meant where that is known.
[[nodiscard]] std::string never_so(std::string_view why, std::string_view meant);

// A guess at what was meant by a text that some packets can have, to be read likewise.
[[nodiscard]] std::optional<std::string> find_form_doubt(const ComparedText& compared);

// A path in its normal form (lib/l7/http1/path.hpp).
[[nodiscard]] std::string normal_path(std::string_view path);

// The few words that a field takes alone; empty: it takes any text.
[[nodiscard]] std::span<const std::string_view> words_of(TextField field) noexcept;

}  // namespace sluice

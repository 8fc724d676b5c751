#pragma once
#include <string>
#include <string_view>

// Texts of others (reasons, names, keys that packets brought) as they may go to a terminal or a
// log. Hidden characters act on what shows them instead of being seen: the controls of ASCII and
// U+0080 to U+009F, line and paragraph separators, and those that turn the direction of a text
// around (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). They come out as JSON writes
// them, such as \u001b, \n or \u202e.
namespace sluice {

// True if the text has a control character, tabs and line ends included.
[[nodiscard]] bool has_control(std::string_view text) noexcept;

// For one line, such as a cell: tabs and line ends are hidden characters too. Bytes that are not
// UTF-8 come out as U+FFFD.
[[nodiscard]] std::string visible_line(std::string_view text);

// For texts of several lines: the same, with tabs and line ends as they are.
[[nodiscard]] std::string visible_text(std::string_view text);

// A JSON document of the same meaning, without hidden characters but its own line ends.
[[nodiscard]] std::string visible_json(std::string_view document);

}  // namespace sluice

#pragma once
#include "lib/match/text_parts.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Patterns as Hyperscan takes them. A text is bytes: `.` is any byte, newlines too, `^` and `$` are
// where it begins and ends, and no letters have cases but A to Z.
namespace sluice {

struct PatternFault {
    std::string what;
    std::optional<std::size_t> at;  // the byte of the pattern, if it is known
};

// The fault of a regular expression; nullopt: none that shows before it is compiled.
[[nodiscard]] std::optional<PatternFault> find_fault(std::string_view regex, bool ignore_case);

// Hyperscan's error for a pattern, in the words of the rule language.
[[nodiscard]] PatternFault fault_of(std::string_view message);

// The expression for an entry that is_scanned(), and its flags.
[[nodiscard]] std::string expression_of(const TextEntry& entry);
[[nodiscard]] unsigned flags_of(const TextEntry& entry) noexcept;

}  // namespace sluice

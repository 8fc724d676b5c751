#pragma once
#include "control/cli/exit_code.hpp"
#include "lib/policy/compile.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// How standard output and standard error are written to. People get colours on a terminal, unless
// --no-color or NO_COLOR is given; with JSON, standard output holds nothing but JSON.
void set_colors(bool allowed);

[[nodiscard]] std::string bold(std::string_view text);  // for standard output
// Characters in a line of the terminal that standard output is; 0: it is none, or does not say.
[[nodiscard]] std::size_t terminal_width();
// Lines that are too long for it go on in the next one, between words.
[[nodiscard]] std::string folded(std::string_view text);
[[nodiscard]] std::string folded_within(std::string_view text, std::size_t width);

// To standard output, with hidden characters (visible_text.hpp) shown escaped: a text that others
// gave never acts on the terminal. What is bold() stays so.
void print(std::string_view text);
[[nodiscard]] std::string shown_text(std::string_view text);  // what print() writes
// The text of a file: to a terminal as print() does, elsewhere byte for byte.
void print_file(std::string_view text);
void print_exact(std::string_view text);  // for the program's own control sequences
void say_error(std::string_view what);    // "sluicectl: error: WHAT" to standard error
void say_warning(std::string_view what);  // "sluicectl: warning: WHAT" to standard error
// Says what is wrong, and is what the command ends with.
[[nodiscard]] ExitCode refuse(std::string_view what, ExitCode exit = ExitCode::Refused);
// Every problem with its source line and a caret, to standard error. What lies in a file that the
// source names, such as a list, quotes what it is about and has neither.
void say_problems(const std::vector<Problem>& problems, const RuleText& source);

}  // namespace sluice

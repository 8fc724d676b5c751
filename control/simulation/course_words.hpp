#pragma once
#include "control/simulation/course.hpp"
#include "control/simulation/run_words.hpp"
#include "lib/base/result.hpp"

#include <string_view>

namespace sluice {

// A duration of a run. Errors: BadSyntax, OutOfRange.
[[nodiscard]] Result<Nanoseconds> read_span(std::string_view name, std::string_view text,
                                            Nanoseconds shortest);

// The course that the words describe, with the usual window. Errors: BadSyntax, OutOfRange.
[[nodiscard]] Result<Course> read_run(const RunWords& words, Spelling spelling);

}  // namespace sluice

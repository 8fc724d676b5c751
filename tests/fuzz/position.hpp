#pragma once
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/yaml/line_index.hpp"

#include <cstdlib>

namespace sluice::test {

// Aborts unless every problem can be shown and lies inside the text, or is about all of it.
inline void expect_inside(const Problems& problems, std::string_view text) {
    const LineIndex lines{text};
    for (const Problem& problem : problems.list()) {
        const Position back = lines.place_at(lines.offset_of(problem.at));
        const bool whole = problem.at.line == 0 && problem.at.column == 0;
        const bool inside = back.line == problem.at.line && back.column == problem.at.column;
        if (!(whole || inside) || problem.message.empty() || render(problem, text).empty()) {
            std::abort();
        }
    }
}

}  // namespace sluice::test

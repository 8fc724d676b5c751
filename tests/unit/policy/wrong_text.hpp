#pragma once
#include "lib/policy/problems/problem.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

// A text that is refused: where the error stands, and a part of what it says.
struct WrongText {
    std::string_view text;
    std::uint32_t line;
    std::uint32_t column;
    std::string_view says;
};

inline void expect_error(const WrongText& wrong, const std::vector<Problem>& problems) {
    bool found = false;
    std::string all;
    for (const Problem& problem : problems) {
        found |= problem.severity == Severity::Error && problem.at.line == wrong.line &&
                 problem.at.column == wrong.column &&
                 problem.message.find(wrong.says) != std::string::npos;
        all += render(problem, wrong.text) + "\n";
    }
    EXPECT_TRUE(found) << wrong.text << "wanted " << wrong.line << ":" << wrong.column << " "
                       << wrong.says << "\ngot " << all;
}

}  // namespace sluice::test

#pragma once
#include "lib/policy/problems/problem.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

// `read` says of a text whether anything was made of it, and what is wrong.
template <typename Read>
void expect_errors(std::span<const WrongText> rows, Read&& read) {
    for (const WrongText& row : rows) {
        const std::pair<bool, std::vector<Problem>> outcome = read(row.text);
        EXPECT_FALSE(outcome.first) << row.text;
        expect_error(row, outcome.second);
    }
}

}  // namespace sluice::test

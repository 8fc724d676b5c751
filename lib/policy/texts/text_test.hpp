#pragma once
#include "lib/match/text_parts.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

// A comparison of a text field, as it was written. It holds when one of the texts does.
struct TextTest {
    TextField field{};
    std::string name{};  // of the field, as written
    TextHow how = TextHow::Equals;
    bool ignore_case = false;        // of the letters A to Z, on both sides
    bool negated = false;            // `ne`: the field is there, and none of the texts holds
    std::vector<std::string> texts;  // of Within: numbers, `first-last` or one alone
    bool from_list = false;          // its texts are those of a list's file
    std::size_t offset = 0;          // of the first of them in the expression
};

}  // namespace sluice

#pragma once
#include "lib/policy/texts/text_test.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace sluice {

using TextTestId = std::uint32_t;

// The tests of texts in the clauses of a rule file, each once: two tests are equal if and only if
// their numbers are.
class TextPool {
public:
    struct Test {
        TextField field{};
        std::vector<TextEntry> entries;  // ascending; none: whether the field is there

        [[nodiscard]] auto operator<=>(const Test&) const noexcept = default;
    };

    // The test as it is without `negated`. It has texts.
    [[nodiscard]] TextTestId add(const TextTest& test);
    // The test for whether a packet has the field.
    [[nodiscard]] TextTestId presence_of(TextField field) { return add(Test{field, {}}); }

    [[nodiscard]] const Test& operator[](TextTestId id) const noexcept { return *tests_[id]; }

private:
    [[nodiscard]] TextTestId add(Test test);

    std::map<Test, TextTestId> ids_;
    std::vector<const Test*> tests_;  // by number; they stand in ids_
};

}  // namespace sluice

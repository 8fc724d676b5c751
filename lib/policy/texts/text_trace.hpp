#pragma once
#include "lib/base/bytes.hpp"
#include "lib/policy/texts/text_test.hpp"

#include <string>

// A test of a text, for people.
namespace sluice {

// The first of the test's texts that holds of this one, `negated` aside; nullptr: none. Slow: a
// pattern is compiled for it.
[[nodiscard]] const std::string* find_held(const TextTest& test, ByteView text);

// `contains "a"`, `is "a" or "b", whatever the case`, `1 or 5-9`; what is no printable ASCII as
// \xNN.
[[nodiscard]] std::string words_of(const TextTest& test);
// The same of the one that held; of a list, out of how many: `contains "a", one of 5000`.
[[nodiscard]] std::string words_of(const TextTest& test, const std::string* held);
// A text between quotes, cut short when it is long, and then its length.
[[nodiscard]] std::string shown(ByteView text);
// The same of a value of a field: numbers as they are.
[[nodiscard]] std::string shown(TextField field, ByteView text);

}  // namespace sluice

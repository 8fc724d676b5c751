#pragma once
#include "lib/base/bytes.hpp"
#include "lib/policy/texts/text_test.hpp"

#include <string>

// A test of a text, for people.
namespace sluice {

// True if one text passes the test, `negated` aside. Slow: a pattern is compiled for it.
[[nodiscard]] bool has_one_of(const TextTest& test, ByteView text);

// `contains "a"`, `is "a" or "b", whatever the case`, `1 or 5-9`; what is no printable ASCII as
// \xNN.
[[nodiscard]] std::string words_of(const TextTest& test);
// A text between quotes, cut short when it is long, and then its length.
[[nodiscard]] std::string shown(ByteView text);
// The same of a value of a field: numbers as they are.
[[nodiscard]] std::string shown(TextField field, ByteView text);

}  // namespace sluice

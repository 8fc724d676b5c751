#pragma once
#include <string>
#include <string_view>

namespace sluice::test {

// How the parser and llhttp, in its strict mode, disagree about bytes that begin with a request's
// head; nothing if they agree but for what llhttp_oracle.cpp has a table of. What both take has one
// size, method, target, version and framing, the same headers, and its body ends at one place.
[[nodiscard]] std::string disagreement_with_llhttp(std::string_view bytes);

}  // namespace sluice::test

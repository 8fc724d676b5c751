#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/reading_stance.hpp"
#include "lib/l7/http1/line_fault.hpp"

#include <cstddef>

namespace sluice {

struct RequestStart {
    bool is_found = false;
    std::size_t at = 0;  // not found: go on from here once more bytes are there
};

// The first line from `from` on that HeadFinder would take for a request's, where the middle of a
// connection was missed. `from` is taken for the beginning of a line, as segments mostly begin with
// one. A request line inside a body counts as a request, and for a service so does one that stands
// behind the rest of a body in its line: requests are overcounted, never undercounted. Each byte is
// scanned a bounded number of times. `stance`: that of the reader of what is found.
[[nodiscard]] RequestStart find_request_start(
    ByteView bytes, std::size_t from, ReadingStance stance = ReadingStance::Anywhere) noexcept;

// Whether a request begins in the first of these lines or in the last, and its head does not end in
// them: a line that is a request's, or as much of one as begins its target. For connections whose
// server may have the rest already.
[[nodiscard]] bool begins_half_request(ByteView bytes) noexcept;

}  // namespace sluice

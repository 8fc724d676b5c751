#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/reading_stance.hpp"
#include "lib/l7/http1/line_fault.hpp"

#include <cstddef>
#include <cstdint>

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

// Bytes of a stream of which nothing is known but this: `fresh` of them came in a segment of their
// own, and the line before these has no end. That line may go on in them, or another one begins
// there, as segments mostly begin with one.
struct LinesLook {
    enum class What : std::uint8_t {
        None,      // no request begins in them
        Request,   // one does, at `at`: its line is whole
        Doubtful,  // one ends in them, and nothing tells where it began
        Half,      // the last line, from `at` on, begins one
        MayBe,     // the last line may begin one, or be any other text
    };
    What what = What::None;
    std::size_t at = 0;
};
[[nodiscard]] LinesLook look_through_lines(ByteView bytes, std::size_t fresh) noexcept;
// A line without an end that its stream ends with is a request to some server all the same.
[[nodiscard]] bool is_request_at_end(ByteView line) noexcept;

// True if a request begins in these bytes, and its head does not end in them, or nothing tells
// whether it begins in the `fresh` of them or before. For connections whose server may have the
// rest already.
[[nodiscard]] bool begins_half_request(ByteView bytes, std::size_t fresh) noexcept;

}  // namespace sluice

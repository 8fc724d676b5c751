#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

#include <cstddef>

namespace sluice {

// The path of a URI in one form for all that servers take for the same (RFC 3986, 6.2.2; WHATWG
// URL): unreserved characters are not percent-encoded, what stays encoded has upper-case digits,
// bytes beyond ASCII are encoded, runs of / are one, and "." and ".." are resolved; above the root
// is the root. The form of a form is itself.
//
//     /a//b/./%7euser/%2e%2e/x%2f  ->  /a/b/x%2F
//
// What comes back is the path itself where nothing changes, else it lies at the beginning of
// `room`, cut where that ends. `path` begins with a slash; any other is as sent.
[[nodiscard]] ByteView normalise_path(const http1::ReadableText& path, MutableBytes room,
                                      HeadShapes& shapes) noexcept;

// A byte that stays encoded could stand in a path as itself, and does in that of servers that
// decode: visible, and neither a slash nor what ends a path.
[[nodiscard]] constexpr bool may_stand_in_path(std::byte byte) noexcept {
    return byte > std::byte{' '} && byte < std::byte{0x7F} && byte != http1::kSlash &&
           byte != http1::kPercent && byte != std::byte{'?'} && byte != std::byte{'#'} &&
           !http1::is(byte, http1::kUnreserved);
}

// A path's first `segments` segments, without the slash behind them: of /a/b/c, two are /a/b. All
// of a path that has no more.
[[nodiscard]] ByteView path_prefix(ByteView path, std::size_t segments) noexcept;

}  // namespace sluice

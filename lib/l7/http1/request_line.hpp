#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/request_head.hpp"

namespace sluice {

// Reads method, target and version of a line of the usual layout: single spaces, a method of at
// most kMaxMethodSize bytes, HTTP/1.0 or 1.1. HeadFinder recognises each of these. False: the line
// has another layout.
[[nodiscard]] bool read_usual_line(const http1::ReadableText& line, RequestHead& head) noexcept;

// Reads the same of any line that HeadFinder has recognised, without its end.
void read_request_line(ByteView line, RequestHead& head) noexcept;

// The host that a target names and what is left of it, by its form (RFC 9112, 3.2). `path` is
// absent in CONNECT, and can be empty. All of it lies in the target.
struct TargetParts {
    ByteView authority;
    ByteView path;
    ByteView query;
};
[[nodiscard]] TargetParts split_target(const http1::ReadableText& target, bool is_connect,
                                       bool is_options, HeadShapes& shapes) noexcept;

// The same of a target of any method but CONNECT that begins with a slash, has no shape of its own,
// and whose path is in its normal form (path.hpp). False: it is another.
[[nodiscard]] bool split_plain_target(const http1::ReadableText& target,
                                      TargetParts& parts) noexcept;

}  // namespace sluice

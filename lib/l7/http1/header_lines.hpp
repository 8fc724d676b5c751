#pragma once
#include "lib/l7/http1/line_walk.hpp"
#include "lib/l7/http1/request_head.hpp"

namespace sluice {

// Reads the lines up to the first empty one: keeps the wanted headers and cookies, and what the
// framing ones say about body, connection and protocol. The host is as sent.
void read_header_lines(http1::LineWalk& lines, const WantedHeaders& wanted,
                       RequestHead& head) noexcept;

}  // namespace sluice

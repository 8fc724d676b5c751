#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

namespace sluice {

// A host as keys and conditions know it: in lower case, without port and without the dot of the
// root; an IPv6 address in its brackets, as RFC 5952 writes it.
//
//     Example.COM.:8080  ->  example.com        [2001:DB8:0::1]:80  ->  [2001:db8::1]
//
// What comes back is a part of `host` where no byte changes, else it lies at the beginning of
// `room`. What is no host is BadHost and comes back in lower case, port and all; a name in
// brackets is BadHost too, and comes back without them. No host either is what some programs read
// as another one: a name with bytes beyond letters, digits, -, _ and . (%6C for l), one whose last
// label is a number, but for an IPv4 address of four decimal numbers (0x7f.1), and one with a label
// of IDNA that ends in a hyphen (xn--login- for login).
[[nodiscard]] ByteView normalise_host(const http1::ReadableText& host, MutableBytes room,
                                      HeadShapes& shapes) noexcept;

}  // namespace sluice

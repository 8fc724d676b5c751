#pragma once
#include "lib/base/bytes.hpp"

namespace sluice {

// A target that begins with two slashes names a host for programs that read it as a reference
// (RFC 3986, 4.2; WHATWG URL), such as `new URL(target, base)` of Node, for which a backslash is
// a slash.
//
//     //h/login  ->  h, /login        /\login  ->  login, /
//
// Without one, or without a host behind the slashes, the host is absent, and the path is the
// target.
struct NetworkPath {
    ByteView host;  // with user and port, as sent
    ByteView path;  // empty: the root
};
[[nodiscard]] bool begins_network_path(ByteView target) noexcept;
[[nodiscard]] NetworkPath split_network_path(ByteView target) noexcept;
// A host with its port alone.
[[nodiscard]] ByteView without_user(ByteView host) noexcept;

// Each backslash of a path is a slash, at the beginning of the room; absent: it does not fit.
[[nodiscard]] ByteView with_slashes(ByteView path, MutableBytes room) noexcept;

// The same, and segments . and .., encoded or not, are resolved among all others, of which an empty
// one counts: /a//../b is /a/b.
[[nodiscard]] ByteView url_path(ByteView path, MutableBytes room) noexcept;

}  // namespace sluice

#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/line_fault.hpp"

#include <string_view>

namespace sluice::http1 {

inline constexpr std::string_view kSchemeEnd = "://";

[[nodiscard]] constexpr bool is_scheme_byte(std::byte byte) noexcept {
    return is_letter(byte) || is_digit(byte) || byte == std::byte{'+'} || byte == std::byte{'-'} ||
           byte == std::byte{'.'};
}
[[nodiscard]] constexpr bool is_line_space(std::byte byte) noexcept {
    return is(byte, kLineSpace);
}
[[nodiscard]] constexpr bool is_any_line_space(std::byte byte) noexcept {
    return is(byte, static_cast<ByteClass>(kLineSpace | kHighSpace));
}

// The words of a request line, as the most lenient server takes them: apart by any run of what
// Python, whose words these are, takes for space.
struct LineWords {
    LineFault fault = LineFault::None;
    ByteView method;
    ByteView target;   // all that stands between method and version; empty: CONNECT of HTTP/0.9
    ByteView version;  // empty: the line is one of HTTP/0.9
};
// `line`: up to its LF, a CR before that included. It begins with neither.
[[nodiscard]] LineWords split_line(ByteView line) noexcept;
// True if the last word is a version, so that it ends a request line, whatever came before it.
[[nodiscard]] bool ends_in_version(ByteView line) noexcept;

}  // namespace sluice::http1

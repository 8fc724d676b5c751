#pragma once
#include <cstddef>
#include <string_view>

namespace sluice {

// Length of the UTF-8 sequence (RFC 3629) at the front of a text that is not empty; 0 if there is
// none.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

// Bytes inside a sequence have no column of their own on a screen.
[[nodiscard]] constexpr bool is_utf8_continuation(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// A control character of ASCII, tabs and line ends aside.
[[nodiscard]] constexpr bool is_control(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

// A control character of ASCII or Unicode's second row of them (U+0080 to U+009F), the same aside.
[[nodiscard]] bool starts_with_control(std::string_view text) noexcept;

}  // namespace sluice

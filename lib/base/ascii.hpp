#pragma once

// Classes of characters that depend on no locale.
namespace sluice {

[[nodiscard]] constexpr bool is_ascii_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_ascii_lower(char c) noexcept {
    return c >= 'a' && c <= 'z';
}
[[nodiscard]] constexpr bool is_ascii_letter(char c) noexcept {
    return is_ascii_lower(c) || (c >= 'A' && c <= 'Z');
}
[[nodiscard]] constexpr bool is_ascii_alphanumeric(char c) noexcept {
    return is_ascii_letter(c) || is_ascii_digit(c);
}

}  // namespace sluice

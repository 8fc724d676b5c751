#pragma once
#include "lib/base/token.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::http1 {

inline constexpr std::byte kCr{'\r'};
inline constexpr std::byte kLf{'\n'};
inline constexpr std::byte kColon{':'};
inline constexpr std::byte kDot{'.'};
inline constexpr std::byte kHyphen{'-'};
inline constexpr std::byte kPercent{'%'};
inline constexpr std::byte kSlash{'/'};
inline constexpr std::byte kBackslash{'\\'};

// Classes that a byte may be of, a bit each.
enum ByteClass : std::uint8_t {
    kToken = 1U << 0,       // tchar, RFC 9110, 5.6.2
    kUnreserved = 1U << 1,  // RFC 3986, 2.3
    kHexDigit = 1U << 2,
    // Names of hosts and IPv4 addresses as clients send them. All else that a reg-name may have
    // (RFC 3986, 3.2.2) some programs decode or map to another name.
    kHostByte = 1U << 3,
    kLineSpace = 1U << 4,  // stands between the words of a request line for some server
    kHighSpace = 1U << 5,  // likewise, and for others is a byte of a word: NEL and NBSP of Latin 1
    kRegName = 1U << 6,    // reg-name, but for the comma
    kOfNumber = 1U << 7,   // stands at the end of a host that ends in a number
};

inline constexpr auto kByteClasses = [] {
    std::array<std::uint8_t, 256> classes{};
    const auto mark = [&](std::string_view bytes, unsigned bits) {
        for (const char byte : bytes) {
            std::uint8_t& cell = classes[static_cast<std::uint8_t>(byte)];
            cell = static_cast<std::uint8_t>(cell | bits);
        }
    };
    mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
         kToken | kUnreserved | kHostByte | kRegName);
    mark("0123456789abcdefABCDEF", kHexDigit | kOfNumber);
    mark("xX.", kOfNumber);
    mark(kTokenMarks, kToken);
    mark("-._~", kUnreserved);
    mark("-._", kHostByte);
    mark("-._~%!$&'()*+;=", kRegName);
    mark("\t\v\f\r\x1C\x1D\x1E\x1F ", kLineSpace);
    mark("\x85\xA0", kHighSpace);
    return classes;
}();

[[nodiscard]] constexpr bool is(std::byte byte, ByteClass what) noexcept {
    return (kByteClasses[std::to_integer<std::uint8_t>(byte)] & what) != 0;
}
[[nodiscard]] constexpr bool is_blank(std::byte byte) noexcept {
    return byte == std::byte{' '} || byte == std::byte{'\t'};
}
[[nodiscard]] constexpr bool is_digit(std::byte byte) noexcept {
    return byte >= std::byte{'0'} && byte <= std::byte{'9'};
}
[[nodiscard]] constexpr bool is_letter(std::byte byte) noexcept {
    const std::byte lower = byte | std::byte{0x20};
    return lower >= std::byte{'a'} && lower <= std::byte{'z'};
}
[[nodiscard]] constexpr bool is_control(std::byte byte) noexcept {
    return byte < std::byte{0x20} || byte == std::byte{0x7F};
}
[[nodiscard]] constexpr bool is_high(std::byte byte) noexcept {
    return byte >= std::byte{0x80};
}
[[nodiscard]] constexpr std::byte to_lower(std::byte byte) noexcept {
    return byte >= std::byte{'A'} && byte <= std::byte{'Z'} ? byte | std::byte{0x20} : byte;
}
[[nodiscard]] constexpr std::byte to_upper(std::byte byte) noexcept {
    return byte >= std::byte{'a'} && byte <= std::byte{'z'} ? byte & std::byte{0xDF} : byte;
}
// The value of a hexadecimal digit.
[[nodiscard]] constexpr unsigned hex_value(std::byte digit) noexcept {
    const auto value = std::to_integer<unsigned>(digit);
    return is_digit(digit) ? value - '0' : (value | 0x20U) - 'a' + 10U;
}

}  // namespace sluice::http1

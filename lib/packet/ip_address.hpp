#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

enum class IpVersion : std::uint8_t { None = 0, V4 = 4, V6 = 6 };

// An IPv4 or IPv6 address in network byte order. An IPv4 address stands in the first four bytes;
// the rest is zero. The version is kept beside it, never inside: 1.2.3.4 is not ::102:304.
struct IpAddress {
    std::array<std::byte, 16> bytes{};

    [[nodiscard]] constexpr auto operator<=>(const IpAddress&) const noexcept = default;
};

// Zeroes all bits after the first `length`; length above 128 keeps the address whole.
[[nodiscard]] constexpr IpAddress masked(IpAddress address, unsigned length) noexcept {
    for (std::size_t i = 0; i < address.bytes.size(); ++i) {
        const unsigned first = static_cast<unsigned>(i) * 8;
        if (length <= first) {
            address.bytes[i] = std::byte{0};
        } else if (length < first + 8) {
            address.bytes[i] &= static_cast<std::byte>(0xFF00U >> (length - first));
        }
    }
    return address;
}

struct VersionedAddress {
    IpVersion version = IpVersion::None;
    IpAddress address;

    [[nodiscard]] constexpr auto operator<=>(const VersionedAddress&) const noexcept = default;
};

struct IpPrefix {
    IpVersion version = IpVersion::None;
    IpAddress address;        // host bits are zero
    std::uint8_t length = 0;  // up to 32 or 128

    [[nodiscard]] constexpr auto operator<=>(const IpPrefix&) const noexcept = default;
};

// RFC 5952 text, as inet_ntop writes it.
[[nodiscard]] std::string to_text(IpVersion version, const IpAddress& address);

// Strict: dotted quad without leading zeroes, RFC 4291 text; no zone, no prefix length.
[[nodiscard]] std::optional<VersionedAddress> parse_address(std::string_view text);

// `address/length`. Set host bits are refused (nullopt): `host_bits_set` tells them apart.
[[nodiscard]] std::optional<IpPrefix> parse_prefix(std::string_view text,
                                                   bool* host_bits_set = nullptr);

}  // namespace sluice

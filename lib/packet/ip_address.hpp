#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

// By number of bits: 64 bits in network order of which so many, from the first on, are set.
inline constexpr auto kFirstBits = [] {
    std::array<std::uint64_t, 65> masks{};
    for (unsigned bits = 1; bits <= 64; ++bits) {
        masks[bits] = __builtin_bswap64(~std::uint64_t{0} << (64 - bits));
    }
    return masks;
}();

// Zeroes all bits after the first `length`; length above 128 keeps the address whole.
[[nodiscard]] constexpr IpAddress masked(IpAddress address, unsigned length) noexcept {
    using Halves = std::array<std::uint64_t, 2>;
    Halves halves = std::bit_cast<Halves>(address.bytes);
    halves[0] &= kFirstBits[length < 64 ? length : 64];
    halves[1] &= kFirstBits[length < 64 ? 0 : (length < 128 ? length - 64 : 64)];
    return {std::bit_cast<std::array<std::byte, 16>>(halves)};
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

inline constexpr std::size_t kMaxAddressText = 45;
// The same text, at the beginning of the room, which has a byte more; it allocates nothing.
[[nodiscard]] std::string_view write_text(IpVersion version, const IpAddress& address,
                                          std::span<char, kMaxAddressText + 1> room) noexcept;

// `address/length`; the address alone when all of its bits count.
[[nodiscard]] std::string to_text(const IpPrefix& prefix);

// Strict: dotted quad without leading zeroes, RFC 4291 text; no zone, no prefix length. It
// allocates nothing.
[[nodiscard]] std::optional<VersionedAddress> parse_address(std::string_view text);

// `address/length`. Set host bits are refused (nullopt): `host_bits_set` marks them.
[[nodiscard]] std::optional<IpPrefix> parse_prefix(std::string_view text,
                                                   bool* host_bits_set = nullptr);

}  // namespace sluice

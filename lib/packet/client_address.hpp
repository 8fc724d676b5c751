#pragma once
#include "lib/packet/ip_address.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice {

// Ways to write an IPv4 address inside an IPv6 one: a prefix of 96 bits, and the address behind it.
enum class Wrapping : std::uint8_t { Nat64, V4Mapped };

struct WrappingRow {
    Wrapping wrapping;
    std::string_view name;
    IpAddress prefix;  // its first 96 bits
};
inline constexpr unsigned kWrappingBits = 96;
inline constexpr auto kWrappings = std::to_array<WrappingRow>({
    {Wrapping::Nat64,  // 64:ff9b::/96, RFC 6052
     "nat64",
     {{std::byte{0}, std::byte{0x64}, std::byte{0xFF}, std::byte{0x9B}}}},
    {Wrapping::V4Mapped,  // ::ffff:0:0/96, RFC 4291
     "v4mapped",
     {{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
       std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xFF}, std::byte{0xFF}}}},
});

// The wrappings that are undone.
class Unwrapping {
public:
    static constexpr std::uint8_t kAll = (1U << kWrappings.size()) - 1;

    constexpr Unwrapping() noexcept = default;
    // Bits above kAll count nothing.
    constexpr explicit Unwrapping(std::uint8_t bits) noexcept : bits_{bits} {}

    constexpr void add(Wrapping wrapping) noexcept { bits_ |= bit(wrapping); }
    [[nodiscard]] constexpr bool has(Wrapping wrapping) const noexcept {
        return (bits_ & bit(wrapping)) != 0;
    }
    [[nodiscard]] constexpr std::uint8_t bits() const noexcept { return bits_; }
    [[nodiscard]] constexpr bool operator==(const Unwrapping&) const noexcept = default;

private:
    [[nodiscard]] static constexpr std::uint8_t bit(Wrapping wrapping) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(wrapping));
    }
    std::uint8_t bits_ = 0;
};

// The IPv4 address inside, if it is written in one of these ways; else the address as it is.
[[nodiscard]] inline VersionedAddress unwrapped(const VersionedAddress& address,
                                                Unwrapping unwrapping) noexcept {
    if (address.version != IpVersion::V6 || unwrapping == Unwrapping{}) {
        return address;
    }
    constexpr std::size_t kPrefixBytes = kWrappingBits / 8;
    for (const WrappingRow& row : kWrappings) {
        if (unwrapping.has(row.wrapping) &&
            std::memcmp(address.address.bytes.data(), row.prefix.bytes.data(), kPrefixBytes) == 0) {
            VersionedAddress inside{IpVersion::V4, {}};
            std::memcpy(inside.address.bytes.data(), address.address.bytes.data() + kPrefixBytes,
                        4);
            return inside;
        }
    }
    return address;
}

// The view that client.ip has of an address: the one inside, of which so many bits count.
struct ClientView {
    std::uint8_t v4_length = 32;
    std::uint8_t v6_length = 128;
    Unwrapping unwrapping;
    bool proxied = false;  // of what trusted proxies send, the address stands in a header

    [[nodiscard]] constexpr std::uint8_t length(IpVersion version) const noexcept {
        return version == IpVersion::V4 ? v4_length : v6_length;
    }
    // The network of the client, and how many of its bits count.
    [[nodiscard]] IpPrefix of(const VersionedAddress& source) const noexcept {
        const VersionedAddress inside = unwrapped(source, unwrapping);
        const std::uint8_t bits = length(inside.version);
        return {inside.version, masked(inside.address, bits), bits};
    }
    // An address is itself.
    [[nodiscard]] constexpr bool changes_nothing() const noexcept {
        return v4_length == 32 && v6_length == 128 && unwrapping == Unwrapping{} && !proxied;
    }
    [[nodiscard]] constexpr bool operator==(const ClientView&) const noexcept = default;
};

}  // namespace sluice

#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace sluice {

using ByteView = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// Big-endian loads and stores. The caller has checked that the bytes are there.
template <typename T>
[[nodiscard]] constexpr T load_be(const std::byte* from) noexcept {
    static_assert(std::is_unsigned_v<T>);
    if (std::is_constant_evaluated()) {
        T value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = static_cast<T>((value << 8) | std::to_integer<T>(from[i]));
        }
        return value;
    }
    T value;
    std::memcpy(&value, from, sizeof(T));
    if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else if constexpr (sizeof(T) == 8) {
        return __builtin_bswap64(value);
    }
    return value;
}
static_assert(std::endian::native == std::endian::little);

[[nodiscard]] constexpr std::uint8_t load_u8(ByteView bytes, std::size_t at) noexcept {
    return std::to_integer<std::uint8_t>(bytes[at]);
}
[[nodiscard]] constexpr std::uint16_t load_be16(ByteView bytes, std::size_t at) noexcept {
    return load_be<std::uint16_t>(bytes.data() + at);
}
[[nodiscard]] constexpr std::uint32_t load_be32(ByteView bytes, std::size_t at) noexcept {
    return load_be<std::uint32_t>(bytes.data() + at);
}
constexpr void store_be16(MutableBytes bytes, std::size_t at, std::uint16_t value) noexcept {
    bytes[at] = static_cast<std::byte>(value >> 8);
    bytes[at + 1] = static_cast<std::byte>(value & 0xFF);
}

[[nodiscard]] inline ByteView bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span{text});
}

}  // namespace sluice

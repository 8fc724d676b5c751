#pragma once
#include "lib/l7/byte_reader.hpp"

namespace sluice {

// A number of QUIC in one, two, four or eight bytes: RFC 9000, section 16.
[[nodiscard]] constexpr std::uint64_t read_varint(ByteReader& reader) noexcept {
    const std::uint8_t first = reader.u8();
    std::uint64_t value = first & 0x3F;
    for (unsigned more = (1U << (first >> 6)) - 1; more > 0; --more) {
        value = value << 8 | reader.u8();
    }
    return value;
}

// The bytes behind a number that says how many.
[[nodiscard]] constexpr ByteView take_varint_part(ByteReader& reader) noexcept {
    return reader.take(read_varint(reader));
}

}  // namespace sluice

#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The position of the walk in a frame: everything before `at` has been read. `end` is where the
// layer at hand ends on the wire; the bytes at hand may end before it (snap length, mbuf segments).
struct Cursor {
    ByteView bytes;
    std::uint32_t at = 0;
    std::uint32_t end = 0;

    // Bytes of this layer on the wire from here on.
    [[nodiscard]] std::uint32_t left() const noexcept { return end - at; }
    [[nodiscard]] bool can_read(std::uint32_t size) const noexcept {
        return at + size <= end && at + size <= bytes.size();
    }
    [[nodiscard]] const std::byte* here() const noexcept { return bytes.data() + at; }
    [[nodiscard]] std::uint8_t u8(std::uint32_t offset) const noexcept {
        return load_u8(bytes, at + offset);
    }
    [[nodiscard]] std::uint16_t be16(std::uint32_t offset) const noexcept {
        return load_be16(bytes, at + offset);
    }
    // Offsets in PacketHeaders are 16 bits: what starts beyond is not walked into.
    [[nodiscard]] bool too_far() const noexcept { return at > 0xFFFF; }

    // A header of `size` bytes that cannot be read: is the packet too short, or only what we hold?
    [[nodiscard]] Parsed missing(std::uint32_t size, Parsed truncated) const noexcept {
        return at + size > end ? truncated : Parsed::Cut;
    }
};

}  // namespace sluice

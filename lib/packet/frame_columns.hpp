#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The frames of a burst: pointers, captured lengths and lengths on the wire, each side by side.
struct alignas(64) FrameColumns {
    std::array<const std::byte*, kMaxBurst> at{};
    alignas(32)
        std::array<std::uint32_t, kMaxBurst> length{};  // captured bytes: exactly those may be read
    alignas(32) std::array<std::uint32_t, kMaxBurst> wire{};  // bytes on the wire, without FCS
    std::uint32_t size = 0;                                   // rows in use
    // Readable bytes behind the captured end of every frame of the burst; 0 where that is unknown.
    std::uint32_t readable_behind = 0;

    void set(std::size_t row, ByteView bytes, std::uint32_t wire_size) noexcept {
        at[row] = bytes.data();
        length[row] = static_cast<std::uint32_t>(bytes.size());
        wire[row] = wire_size;
    }
    // The next row. There are fewer than kMaxBurst.
    void add(ByteView bytes, std::uint32_t wire_size) noexcept { set(size++, bytes, wire_size); }
    [[nodiscard]] FrameView frame(std::size_t row) const noexcept {
        return {{at[row], length[row]}, wire[row], readable_behind};
    }
    [[nodiscard]] RowMask rows() const noexcept { return first_rows(size); }
};

}  // namespace sluice

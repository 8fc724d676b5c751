#pragma once
#include "lib/rules/group.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Keys of a draft that are told apart: its first ones.
inline constexpr std::size_t kPreviewedKeys = 2;

// The keys of one packet under the draft, as digests of their bytes: 0 where it has none.
using PreviewDigests = std::array<std::uint64_t, kPreviewedKeys>;

// Amounts of packets, in all that a limit may count.
struct PreviewAmounts {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;     // as `per: byte` charges them
    std::uint64_t openings = 0;  // of connections
    std::uint64_t units = 0;     // of later layers, of the kinds that the draft counts

    PreviewAmounts& operator+=(const PreviewAmounts& other) noexcept {
        packets += other.packets;
        bytes += other.bytes;
        openings += other.openings;
        units += other.units;
        return *this;
    }
    [[nodiscard]] bool operator==(const PreviewAmounts&) const noexcept = default;
};

// Packets of one watched key that passed one worker within a millisecond.
struct PreviewRecord {
    std::int64_t utc_ns = 0;  // of the first
    PreviewDigests digests{};
    PreviewAmounts amounts;

    [[nodiscard]] bool operator==(const PreviewRecord&) const noexcept = default;
};

// The bytes of a watched key, on their way.
struct PreviewKeyRecord {
    std::uint64_t digest;  // of the draft's first key
    std::uint16_t size;
    std::array<std::byte, KeyBytes::kMaxSize> bytes;
};

}  // namespace sluice

#pragma once
#include <bit>
#include <cstdint>

namespace sluice::pktgen {

// How many sources send: a power of two up to 2^25, or a new one with every packet.
struct SourceCount {
    static constexpr unsigned kMaxBits = 25;
    unsigned bits = 0;
    bool is_new = false;

    [[nodiscard]] constexpr std::uint64_t count() const noexcept {
        return std::uint64_t{1} << bits;
    }
    [[nodiscard]] bool operator==(const SourceCount&) const noexcept = default;
};

// The source of the n-th packet, in an order that jumps about. Each power of two is gone through
// whole before a source comes again: multiplying by an odd number permutes it.
struct SourceSpace {
    static constexpr std::uint32_t kFirstV4 =
        0x1000'0000;  // 16.0.0.0: 2^25 of them end at 17.255.255.255
    static constexpr std::uint32_t kNewLowV4 = 0x2000'0000;   // 32.0.0.0 to 95.255.255.255
    static constexpr std::uint32_t kNewHighV4 = 0x8000'0000;  // 128.0.0.0 to 191.255.255.255
    static constexpr unsigned kNewBitsV4 = 31;  // so many addresses, then they come again
    static constexpr std::uint64_t kNetworkV6 = 0x2001'0db8'0000'0000;  // documentation, RFC 3849
    static constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;

    [[nodiscard]] static constexpr std::uint64_t index(std::uint64_t packet,
                                                       SourceCount sources) noexcept {
        if (sources.is_new) {
            return packet * kOdd;
        }
        return (packet * kOdd) & (sources.count() - 1);
    }
    [[nodiscard]] static constexpr std::uint32_t v4(std::uint64_t index,
                                                    SourceCount sources) noexcept {
        if (!sources.is_new) {
            return kFirstV4 + static_cast<std::uint32_t>(index);
        }
        const auto drawn = static_cast<std::uint32_t>(index & ((1U << kNewBitsV4) - 1));
        constexpr std::uint32_t kHalf = 1U << (kNewBitsV4 - 1);
        return drawn < kHalf ? kNewLowV4 + drawn : kNewHighV4 + (drawn - kHalf);
    }
    // The low half of the address: networks of /64 differ as well where every packet has its own.
    struct V6 {
        std::uint64_t network;
        std::uint64_t host;
    };
    [[nodiscard]] static constexpr V6 v6(std::uint64_t index, SourceCount sources) noexcept {
        if (!sources.is_new) {
            return {kNetworkV6, index + 1};
        }
        return {kNetworkV6 | (index >> 32), index};
    }
};

}  // namespace sluice::pktgen

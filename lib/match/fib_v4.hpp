#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/result.hpp"
#include "lib/match/step.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <immintrin.h>

namespace sluice {

// From an IPv4 address to a small number, in one access to memory, or two where many networks are
// crowded.
//
//   a line for each of 2^20, by the first 20 bits: up to 11 ranges of the last 12 bits
//                                             or: by the next 4 bits --> a value
//                                                   `--> a line: up to 13 ranges of the last byte
//                                                   `--> 16 lines: a value for each last byte
//
// DIR-24-8 (Gupta, Lin and McKeown, INFOCOM 1998), but for the ranges, which answer where few
// networks begin or end (as in DXR, Zec, Rizzo and Mikuc, CCR 2012), and keep single addresses from
// costing 1 KiB each. 64 MiB and what is divided further. Never changed once made.
class FibV4 {
public:
    using Steps = std::span<const Step<std::uint64_t>>;
    static constexpr std::uint32_t kMaxValue = (std::uint32_t{1} << 30) - 1;
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()
    static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

    // The steps are sorted, no two begin alike, the first begins at 0, and their rows are at most
    // kMaxValue. TooMany: it would take more than `most` bytes; nothing has been allocated then.
    [[nodiscard]] static Result<FibV4> make(Steps steps, std::size_t most = kMostBytes);

    // What it would take; nothing is allocated.
    [[nodiscard]] static std::size_t bytes_for(Steps steps);

    [[nodiscard]] std::uint32_t find(std::uint32_t address) const noexcept {
        const std::uint32_t place = place_of(address);
        return place <= kMaxValue ? place : find_in_line(place, address);
    }

    void prefetch(std::uint32_t address) const noexcept { __builtin_prefetch(&network(address)); }

    // The values of at most kMaxKeys addresses that have been prefetched, and that wait for their
    // lines together.
    void find_each(std::span<const std::uint64_t> addresses, std::uint32_t* values) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return networks_.bytes() + lines_.bytes(); }

private:
    static constexpr unsigned kNetworkBits = 20;
    static constexpr std::size_t kNetworks = std::size_t{1} << kNetworkBits;
    static constexpr unsigned kPartBits = 8;  // of addresses in a part of a network
    static constexpr std::size_t kParts = 16;
    static constexpr std::size_t kLineSize = 64;
    // What a part of a network leads to, by its highest two bits; without them, a value.
    static constexpr std::uint32_t kLine = 0x4000'0000;
    static constexpr std::uint32_t kWhole = 0x8000'0000;
    // Or the first value of the ranges of a whole network.
    static constexpr std::uint32_t kRanges = 0xC000'0000;

    // The addresses that share their first 20 bits: sixteen parts, or, as the first tells, values
    // of ranges and behind them where the ranges begin; the first begins at 0. Those that are not
    // needed begin where no address is.
    struct alignas(kLineSize) Network {
        static constexpr std::size_t kMostRanges = 11;
        static constexpr unsigned kFirstsAt = 4 * kMostRanges;  // byte
        static constexpr std::uint16_t kNowhere = 0x7FFF;

        std::array<std::uint32_t, kParts> places;

        [[nodiscard]] std::uint32_t find(std::uint32_t address) const noexcept {
            // Without a branch: which networks are crowded is as random as the addresses.
            const __m256i half = _mm256_load_si256(reinterpret_cast<const __m256i*>(this) + 1);
            const __m256i behind = _mm256_set1_epi16(static_cast<short>((address & 0xFFF) + 1));
            const __m256i begun = _mm256_cmpgt_epi16(behind, half);
            const std::uint32_t bits =
                static_cast<std::uint32_t>(_mm256_movemask_epi8(begun)) >> (kFirstsAt - 32);
            const auto range = static_cast<std::uint32_t>(__builtin_popcount(bits)) / 2;
            const std::uint32_t part = address >> kPartBits & (kParts - 1);
            const std::uint32_t place = places[places[0] >= kRanges ? range : part];
            return place >= kRanges ? place - kRanges : place;
        }
        void set_first(std::size_t range, std::uint16_t first) noexcept {
            std::memcpy(
                reinterpret_cast<std::byte*>(this) + kFirstsAt + (range - 1) * sizeof(first),
                &first, sizeof(first));
        }
    };
    static_assert(sizeof(Network) == kLineSize);
    static_assert(Network::kFirstsAt + 2 * (Network::kMostRanges - 1) == kLineSize);

    // Where ranges of the last byte begin; the first begins at 0. Those that are not needed begin
    // at 255, with the value of the last.
    struct alignas(kLineSize) Line {
        static constexpr std::size_t kRanges = 13;
        std::array<std::uint8_t, kRanges - 1> first;
        std::array<std::uint32_t, kRanges> value;

        [[nodiscard]] std::uint32_t find(std::uint8_t last_byte) const noexcept {
            const __m128i firsts = _mm_load_si128(reinterpret_cast<const __m128i*>(this));
            const __m128i byte = _mm_set1_epi8(static_cast<char>(last_byte));
            const __m128i begun = _mm_cmpeq_epi8(_mm_max_epu8(firsts, byte), byte);
            const auto bits = static_cast<unsigned>(_mm_movemask_epi8(begun)) & 0xFFF;
            return value[static_cast<unsigned>(__builtin_popcount(bits))];
        }
    };
    static_assert(sizeof(Line) == kLineSize);
    static constexpr std::size_t kLinesOfWhole = 256 * sizeof(std::uint32_t) / kLineSize;

    // Addresses in a row, and the steps that begin among them, behind the first.
    struct Piece {
        std::uint64_t first = 0;
        std::size_t step = 0;    // that holds the first address
        std::size_t inside = 0;  // steps behind it
    };

    FibV4(Steps steps, std::size_t lines);

    // Calls on_piece(Piece) for each piece of 2^kBits addresses that `whole` falls apart into: all
    // addresses into networks, or a network into its parts.
    template <unsigned kBits, typename OnPiece>
    static void cut(Steps steps, const Piece& whole, OnPiece on_piece);
    [[nodiscard]] static std::size_t count_lines(Steps steps);
    [[nodiscard]] static std::size_t lines_for(std::size_t inside) noexcept {
        return inside == 0 ? 0 : inside < Line::kRanges ? 1 : kLinesOfWhole;
    }
    void fill_ranges(const Piece& piece, Steps steps) noexcept;
    void fill_line(const Piece& piece, Steps steps, std::size_t at) noexcept;
    void fill_whole(const Piece& piece, Steps steps, std::size_t at) noexcept;

    [[nodiscard]] Network& network(std::uint64_t address) const noexcept {
        return static_cast<Network*>(networks_.data())[address >> (32 - kNetworkBits)];
    }
    [[nodiscard]] std::uint32_t place_of(std::uint32_t address) const noexcept {
        return network(address).find(address);
    }
    [[nodiscard]] std::byte* line_at(std::size_t index) const noexcept {
        return static_cast<std::byte*>(lines_.data()) + index * kLineSize;
    }
    // Where the value of an address whose place is no value stands.
    [[nodiscard]] const std::byte* line_of(std::uint32_t place,
                                           std::uint32_t address) const noexcept {
        const std::byte* line = line_at(place & kMaxValue);
        return place < kWhole ? line : line + (address & 0xFF) * sizeof(std::uint32_t);
    }
    [[nodiscard]] std::uint32_t find_in_line(std::uint32_t place,
                                             std::uint32_t address) const noexcept {
        const std::byte* at = line_of(place, address);
        return place < kWhole
                   ? reinterpret_cast<const Line*>(at)->find(static_cast<std::uint8_t>(address))
                   : *reinterpret_cast<const std::uint32_t*>(at);
    }

    LineMemory networks_;
    LineMemory lines_;
};

}  // namespace sluice

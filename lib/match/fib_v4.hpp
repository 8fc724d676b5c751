#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/result.hpp"
#include "lib/match/step.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

namespace sluice {

// A look-up from an IPv4 address to a small number, in one access to memory, or two where an
// address's /24 is divided.
//
//   table of 2^24, by the first 24 bits --> a value
//                                      `--> a line: up to 13 ranges of the last byte
//                                      `--> 16 lines: a value for each last byte
//
// DIR-24-8 (Gupta, Lin and McKeown, INFOCOM 1998), but for the lines, which keep single addresses
// from costing 1 KiB each. 64 MiB and what the divided /24s take. Never changed once made.
class FibV4 {
public:
    using Steps = std::span<const Step<std::uint64_t>>;
    static constexpr std::uint32_t kMaxValue = (std::uint32_t{1} << 30) - 1;
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()
    static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

    // The steps are sorted, no two begin alike, the first begins at 0, and their rows are at most
    // kMaxValue. TooMany: it would take more than `most` bytes; nothing has been allocated then.
    [[nodiscard]] static Result<FibV4> make(Steps steps, std::size_t most = kMostBytes);

    // The bytes that it would take; nothing is allocated.
    [[nodiscard]] static std::size_t bytes_for(Steps steps);

    [[nodiscard]] std::uint32_t find(std::uint32_t address) const noexcept {
        const std::uint32_t place = table()[address >> 8];
        return place <= kMaxValue ? place : find_in_line(place, address);
    }

    void prefetch(std::uint32_t address) const noexcept { prefetch0(&table()[address >> 8]); }

    // The values of at most kMaxKeys addresses that have been prefetched, and that wait for their
    // lines together.
    void find_each(std::span<const std::uint64_t> addresses, std::uint32_t* values) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return table_.bytes() + lines_.bytes(); }

private:
    static constexpr std::size_t kSlots = std::size_t{1} << 24;
    static constexpr std::size_t kLineSize = 64;
    // The target of a slot of the table, by its highest two bits; without them, a value.
    static constexpr std::uint32_t kLine = 0x4000'0000;
    static constexpr std::uint32_t kWhole = 0x8000'0000;

    // The beginnings of ranges of the last byte; the first begins at 0. Those that are not needed
    // begin at 255, with the value of the last.
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

    // The steps that begin within one /24, behind its first address.
    struct Divided {
        std::uint32_t slot = 0;
        std::size_t step = 0;    // that holds the first address
        std::size_t inside = 0;  // steps behind it
    };

    FibV4(Steps steps, std::size_t lines);

    // Calls on_divided(Divided) for each /24 that steps divide, and on_same(from, to, value) for
    // the slots between.
    template <typename OnDivided, typename OnSame>
    static void walk(Steps steps, OnDivided on_divided, OnSame on_same);
    [[nodiscard]] static std::size_t count_lines(Steps steps);
    [[nodiscard]] static std::size_t lines_for(std::size_t inside) noexcept {
        return inside < Line::kRanges ? 1 : kLinesOfWhole;
    }
    void fill_line(const Divided& divided, Steps steps, std::size_t at) noexcept;
    void fill_whole(const Divided& divided, Steps steps, std::size_t at) noexcept;

    [[nodiscard]] std::uint32_t* table() noexcept {
        return static_cast<std::uint32_t*>(table_.data());
    }
    [[nodiscard]] const std::uint32_t* table() const noexcept {
        return static_cast<const std::uint32_t*>(table_.data());
    }
    [[nodiscard]] std::byte* line_at(std::size_t index) const noexcept {
        return static_cast<std::byte*>(lines_.data()) + index * kLineSize;
    }
    // The line that has the value of an address whose place is no value.
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

    LineMemory table_;
    LineMemory lines_;
};

}  // namespace sluice

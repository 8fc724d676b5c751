#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/result.hpp"
#include "lib/match/step.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <immintrin.h>

namespace sluice {

// A look-up of few rows by IPv4 address, for lists of a million networks: a sixth of the memory
// of RangeTable, so that most of it stays in caches, and one access to memory for nearly every
// address.
//
//   table of 2^18, by the first 18 bits --> a value
//                                      `--> a record: up to 16 steps, all compared at once
//                                      `--> a table of 64, by the next 6 bits --> the same, or
//                                                                            `--> 256 values
//
// Burst by burst, what counts is not how many lines are read but how often all wait: one address in
// thirty that leads further costs as much as if all did. With four or five steps in a slot, as a
// million networks have, one record in a thousand is too small. Never changed once made.
class PackedV4 {
public:
    using Steps = std::span<const Step<std::uint64_t>>;
    static constexpr std::uint32_t kMaxValue = 255;
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    // The steps are sorted, no two begin alike, and the first begins at 0. TooMany: a row is above
    // kMaxValue, or it would take more than `most` bytes.
    [[nodiscard]] static Result<PackedV4> make(Steps steps, std::size_t most = kMostBytes);

    // The bytes that it would take; something above kMostBytes: it cannot be made.
    [[nodiscard]] static std::size_t bytes_for(Steps steps);

    [[nodiscard]] std::uint32_t find(std::uint32_t address) const noexcept {
        const std::uint32_t place = find_place(root_place(address), address);
        return place <= kMaxValue ? place : find_in_record(place, address);
    }

    // The values of at most kMaxKeys addresses, which wait for their records together.
    void find_each(std::span<const std::uint64_t> addresses, std::uint32_t* values) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }

private:
    using Words = std::vector<std::uint32_t>;
    class Builder;

    static constexpr std::size_t kLineSize = 64;
    static constexpr unsigned kSlotBits = 14;  // of an address, behind those that index the table
    static constexpr std::size_t kSlots = std::size_t{1} << (32 - kSlotBits);
    static constexpr std::size_t kInnerSlots = 64;
    static constexpr std::size_t kMostSteps = 16;  // of a record

    // The target of a slot, by its highest two bits; without them, a value. Its place, in words of
    // 32 bits; and of a record, above that, its steps less one.
    static constexpr std::uint32_t kTable = 0x4000'0000;
    static constexpr std::uint32_t kRecord = 0x8000'0000;
    static constexpr std::uint32_t kWhole = 0xC000'0000;
    static constexpr unsigned kPlaceBits = 26;
    static constexpr std::uint32_t kPlaceMask = (std::uint32_t{1} << kPlaceBits) - 1;
    static_assert(kMostBytes == (std::size_t{kPlaceMask} + 1) * sizeof(std::uint32_t));

    explicit PackedV4(const Words& words);

    [[nodiscard]] const std::uint32_t* words() const noexcept {
        return static_cast<const std::uint32_t*>(memory_.data());
    }
    [[nodiscard]] const std::uint32_t* at(std::uint32_t place) const noexcept {
        return words() + (place & kPlaceMask);
    }
    [[nodiscard]] std::uint32_t root_place(std::uint32_t address) const noexcept {
        return words()[address >> kSlotBits];
    }
    // A place in the root to a value or a record.
    [[nodiscard]] std::uint32_t find_place(std::uint32_t place,
                                           std::uint32_t address) const noexcept {
        if (place - kTable >= kRecord - kTable) [[likely]] {
            return place;
        }
        const std::uint32_t inner = at(place)[address >> 8 & (kInnerSlots - 1)];
        return inner < kWhole ? inner
                              : reinterpret_cast<const std::uint8_t*>(at(inner))[address & 0xFF];
    }

    // A record is the first address of each step, smallest first, by 16 bits with the highest
    // turned over, so that signed compares follow their order; and a byte each for the addresses
    // before the first and from each on. It lies in one line, and nothing is read of another.
    [[nodiscard]] std::uint32_t find_in_record(std::uint32_t place,
                                               std::uint32_t address) const noexcept {
        const auto* record = reinterpret_cast<const std::uint8_t*>(at(place));
        const unsigned steps = (place >> kPlaceBits & (kMostSteps - 1)) + 1;
        const std::size_t in_line = (place * sizeof(std::uint32_t)) % kLineSize;
        const std::size_t back = std::max(in_line, kLineSize / 2) - kLineSize / 2;
        const __m256i bounds = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(record - back));
        const __m256i beyond = _mm256_cmpgt_epi16(bounds, _mm256_set1_epi16(bound_of(address)));
        const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(beyond)) >> back;
        const std::uint64_t mine = (std::uint64_t{1} << 2 * steps) - 1;
        const auto twice = static_cast<unsigned>(std::popcount(bits & mine));
        return record[3 * steps - twice / 2];
    }
    [[nodiscard]] static std::int16_t bound_of(std::uint64_t address) noexcept {
        return static_cast<std::int16_t>((address & 0xFFFF) ^ 0x8000);
    }

    LineMemory memory_;
};

}  // namespace sluice

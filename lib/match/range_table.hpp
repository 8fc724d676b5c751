#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/result.hpp"
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace sluice {

// A look-up of the row that a key belongs to, for keys cut into ranges: numbers, and addresses of
// either version, in few accesses to memory. One or two for a million prefixes as they are met, one
// more for each that lie nested in one another.
//
//   a table over the keys in which steps begin --> a row
//                                             `--> a line: a few ranges, by some bits of the key
//                                             `--> a table again
//
// A line has six ranges and compares 64 bits, or for keys of 64 bits eight and 32: those behind
// what its slot's keys share. Lists end far before these. Where a range begins in between, as those
// of single IPv6 addresses do, there is a table instead, which for one address is a line too, and
// holds the row itself.
//
// A table spans the keys between the first and the last of its steps alone, so that what lies far
// apart costs no levels: level and path compression (Nilsson and Karlsson, "IP-Address Lookup Using
// LC-Tries", JSAC 1999). It has as many slots as steps, or twice, so that few steps are left in a
// slot; the first one has more. Never changed once made.
template <typename Key>
class RangeTable {
public:
    using Steps = std::span<const Step<Key>>;
    static constexpr std::uint32_t kMaxRow = (std::uint32_t{1} << 30) - 1;
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()
    static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

    // The steps are sorted, no two begin alike, the first begins at 0, and their rows are at most
    // kMaxRow. TooMany: it would take more than `most` bytes; nothing has been allocated for it.
    [[nodiscard]] static Result<RangeTable> make(Steps steps, std::size_t most = kMostBytes);

    // The bytes that it would take, or something above `most`; little is allocated for that.
    [[nodiscard]] static std::size_t bytes_for(Steps steps, std::size_t most = kMostBytes);

    [[nodiscard]] std::uint32_t find(Key key) const noexcept {
        std::uint32_t place = *root_slot(key);
        while (place > kMaxRow) {
            place = is_table(place) ? *slot_in(place, key) : find_in_line(place, key);
        }
        return place;
    }

    // The rows of at most kMaxKeys keys, a level at a time, so that they wait for memory together.
    void find_each(std::span<const Key> keys, std::uint32_t* rows) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return lines_.bytes(); }

private:
    static constexpr std::size_t kLineSize = 64;
    // The target of a slot, by its highest two bits; without them, a row. Its first line, and above
    // that, of a line, how many bits are below those that it compares.
    static constexpr std::uint32_t kTable = 0x4000'0000;
    static constexpr std::uint32_t kLine = 0x8000'0000;
    static constexpr unsigned kPlaceBits = 23;
    static constexpr std::uint32_t kPlaceMask = (std::uint32_t{1} << kPlaceBits) - 1;
    static constexpr std::uint32_t kBelowMask = 127;
    static_assert(kMostBytes == (std::size_t{kPlaceMask} + 1) * kLineSize);

    // Keys are compared by some bits above the lowest `below`. Ranges that are not needed begin at
    // the largest, with the row of the last.
    struct alignas(kLineSize) Line {
        using Bits = std::conditional_t<sizeof(Key) == sizeof(Wide), std::uint64_t, std::uint32_t>;
        static constexpr std::size_t kRanges =
            (kLineSize + sizeof(Bits)) / (sizeof(Bits) + sizeof(std::uint32_t));
        std::array<Bits, kRanges - 1> first;  // but of the first, which begins wherever
        std::array<std::uint32_t, kRanges> row;

        [[nodiscard]] std::uint32_t find(Key key, unsigned below) const noexcept {
            const auto bits = static_cast<Bits>(key >> below);
            std::size_t begun = 0;
            for (const Bits one : first) {
                begun += one <= bits ? 1 : 0;
            }
            return row[begun];
        }
    };
    static_assert(sizeof(Line) == kLineSize);

    // The head of a table; its slots follow at once. The first is for the keys before all steps
    // too, the last for those behind them.
    struct Table {
        Key first{};              // slot, counted in slots from key 0
        std::uint32_t last = 0;   // slot, counted from the first
        std::uint32_t shift = 0;  // a slot is 2^shift keys

        [[nodiscard]] std::size_t slot_of(Key key) const noexcept {
            const Key slot = std::max<Key>(key >> shift, first) - first;
            return static_cast<std::size_t>(std::min<Key>(slot, last));
        }
    };
    static constexpr std::size_t kSlotsAt = sizeof(Key) + 2 * sizeof(std::uint32_t);

    // While it is built.
    class Builder;

    explicit RangeTable(std::size_t bytes) : lines_{bytes} {}

    [[nodiscard]] static bool is_table(std::uint32_t place) noexcept { return place < kLine; }
    [[nodiscard]] const std::byte* at(std::uint32_t place) const noexcept {
        return static_cast<const std::byte*>(lines_.data()) +
               std::size_t{place & kPlaceMask} * kLineSize;
    }
    [[nodiscard]] std::uint32_t find_in_line(std::uint32_t place, Key key) const noexcept {
        const unsigned below = place >> kPlaceBits & kBelowMask;
        return reinterpret_cast<const Line*>(at(place))->find(key, below);
    }
    [[nodiscard]] static const std::uint32_t* slot_at(const std::byte* table,
                                                      std::size_t slot) noexcept {
        return reinterpret_cast<const std::uint32_t*>(table + kSlotsAt) + slot;
    }
    [[nodiscard]] const std::uint32_t* slot_in(std::uint32_t place, Key key) const noexcept {
        return slot_at(at(place), reinterpret_cast<const Table*>(at(place))->slot_of(key));
    }
    // The root is the first table.
    [[nodiscard]] const std::uint32_t* root_slot(Key key) const noexcept {
        return slot_at(static_cast<const std::byte*>(lines_.data()), root_.slot_of(key));
    }

    Table root_;
    LineMemory lines_;
};

extern template class RangeTable<std::uint64_t>;
extern template class RangeTable<Wide>;

}  // namespace sluice

#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/result.hpp"
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// A look-up from an IPv6 address to a small number, in few accesses to memory: one or two for a
// million prefixes as they are met, one more for each that lie nested in one another.
//
//   a table over the keys in which steps begin --> a value
//                                             `--> a line: up to six ranges, by 64 bits of the key
//                                             `--> a table again
//
// The 64 bits of a line are those behind what its slot's keys share: in a list of a million they
// end far behind a /64. Where a range begins in between, as those of single addresses do, there is
// a table instead, which for one address is a line too, and holds the value itself.
//
// As many slots as steps, or twice, so that few steps are left in a slot, and only over the keys
// between the first and the last of them, so that what lies far apart costs no levels: level and
// path compression (Nilsson and Karlsson, "IP-Address Lookup Using LC-Tries", JSAC 1999). A table
// of eight slots is one line with its header. Never changed once made.
class FibV6 {
public:
    using Steps = std::span<const Step<Wide>>;
    static constexpr std::uint32_t kMaxValue = (std::uint32_t{1} << 30) - 1;
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()
    static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

    // The steps are sorted, no two begin alike, the first begins at 0, and their rows are at most
    // kMaxValue. TooMany: it would take more than `most` bytes.
    [[nodiscard]] static Result<FibV6> make(Steps steps, std::size_t most = kMostBytes);

    // The bytes that it would take, or something above `most`; little is allocated for that.
    [[nodiscard]] static std::size_t bytes_for(Steps steps, std::size_t most = kMostBytes);

    [[nodiscard]] std::uint32_t find(Wide key) const noexcept {
        std::uint32_t place = root_;
        while (place > kMaxValue) {
            place = place < kLine ? *slot_of(table_at(place), key) : find_in_line(place, key);
        }
        return place;
    }

    // The values of at most kMaxKeys keys, a level at a time, so that they wait for memory
    // together.
    void find_each(std::span<const Wide> keys, std::uint32_t* values) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return lines_.bytes(); }

private:
    static constexpr std::size_t kLineSize = 64;
    // The target of a slot, by its highest two bits; without them, a value. Its first line, and
    // above that, of a line, how many bits are below those that it compares.
    static constexpr std::uint32_t kTable = 0x4000'0000;
    static constexpr std::uint32_t kLine = 0x8000'0000;
    static constexpr unsigned kPlaceBits = 23;
    static constexpr std::uint32_t kPlaceMask = (std::uint32_t{1} << kPlaceBits) - 1;
    static constexpr std::uint32_t kBelowMask = 127;
    static_assert(kMostBytes == (std::size_t{kPlaceMask} + 1) * kLineSize);

    // Keys are compared by the 64 bits above the lowest `below`. Ranges that are not needed begin
    // at the largest, with the value of the last.
    struct alignas(kLineSize) Line {
        static constexpr std::size_t kRanges = 6;
        std::array<std::uint64_t, kRanges - 1> first;  // but of the first, which begins wherever
        std::array<std::uint32_t, kRanges> value;

        [[nodiscard]] std::uint32_t find(Wide key, unsigned below) const noexcept {
            const auto bits = static_cast<std::uint64_t>(key >> below);
            std::size_t begun = 0;
            for (const std::uint64_t one : first) {
                begun += one <= bits ? 1 : 0;
            }
            return value[begun];
        }
    };
    static_assert(sizeof(Line) == kLineSize);

    // The head of a table; its slots follow at once.
    struct Table {
        Wide base = 0;  // first slot, counted in slots from key 0
        std::uint32_t count = 0;
        std::uint8_t shift = 0;    // a slot is 2^shift keys
        std::uint32_t before = 0;  // value of keys below the first slot
        std::uint32_t after = 0;   // and above the last
    };
    static constexpr std::size_t kTableSlotsAt = 32;
    static_assert(sizeof(Table) == kTableSlotsAt);

    explicit FibV6(std::uint32_t root, LineMemory lines) noexcept
        : root_{root}, lines_{std::move(lines)} {}

    // While it is built.
    class Builder;

    [[nodiscard]] static bool is_table(std::uint32_t place) noexcept {
        return place - kTable < kLine - kTable;
    }
    [[nodiscard]] const std::byte* at(std::uint32_t place) const noexcept {
        return static_cast<const std::byte*>(lines_.data()) +
               std::size_t{place & kPlaceMask} * kLineSize;
    }
    [[nodiscard]] std::uint32_t find_in_line(std::uint32_t place, Wide key) const noexcept {
        return reinterpret_cast<const Line*>(at(place))->find(key,
                                                              place >> kPlaceBits & kBelowMask);
    }
    [[nodiscard]] const Table& table_at(std::uint32_t place) const noexcept {
        return *reinterpret_cast<const Table*>(at(place));
    }
    // The slot that a key belongs to.
    [[nodiscard]] static const std::uint32_t* slot_of(const Table& table, Wide key) noexcept {
        const Wide slot = key >> table.shift;
        if (slot < table.base) {
            return &table.before;
        }
        if (slot - table.base >= table.count) {
            return &table.after;
        }
        return reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const std::byte*>(&table) +
                                                      kTableSlotsAt) +
               static_cast<std::uint32_t>(slot - table.base);
    }

    std::uint32_t root_;
    LineMemory lines_;
};

}  // namespace sluice

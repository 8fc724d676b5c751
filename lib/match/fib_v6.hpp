#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/result.hpp"
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// From an IPv6 address to a small number, in few accesses to memory: two or three for a million
// prefixes as they are met, one more for each that lie nested in one another.
//
//   a table over the keys in which steps begin --> a value
//                                             `--> a line: up to four ranges, compared whole
//                                             `--> a table again
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

    // What it would take, or something above `most`; little is allocated for that.
    [[nodiscard]] static std::size_t bytes_for(Steps steps, std::size_t most = kMostBytes);

    [[nodiscard]] std::uint32_t find(Wide key) const noexcept {
        std::uint32_t place = root_;
        while (place > kMaxValue) {
            place = place < kLine ? *slot_of(table_at(place), key) : line_at(place).find(key);
        }
        return place;
    }

    // The values of at most kMaxKeys keys, a level at a time, so that they wait for memory
    // together.
    void find_each(std::span<const Wide> keys, std::uint32_t* values) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return lines_.bytes(); }

private:
    static constexpr std::size_t kLineSize = 64;
    // What a slot leads to, by its highest two bits; without them, a value.
    static constexpr std::uint32_t kTable = 0x4000'0000;
    static constexpr std::uint32_t kLine = 0x8000'0000;

    // Ranges that are not needed begin at the largest key, with the value of the last.
    struct alignas(kLineSize) Line {
        static constexpr std::size_t kRanges = 4;
        std::array<Wide, kRanges - 1> first;  // but of the first, which begins wherever
        std::array<std::uint32_t, kRanges> value;

        [[nodiscard]] std::uint32_t find(Wide key) const noexcept {
            std::size_t begun = 0;
            for (const Wide& one : first) {
                begun += one <= key ? 1 : 0;
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
               std::size_t{place & kMaxValue} * kLineSize;
    }
    [[nodiscard]] const Line& line_at(std::uint32_t place) const noexcept {
        return *reinterpret_cast<const Line*>(at(place));
    }
    [[nodiscard]] const Table& table_at(std::uint32_t place) const noexcept {
        return *reinterpret_cast<const Table*>(at(place));
    }
    // Where what a key belongs to stands.
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

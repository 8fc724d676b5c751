#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/result.hpp"
#include "lib/base/wide.hpp"
#include "lib/match/packed_record.hpp"
#include "lib/match/step.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sluice {

// A look-up of few rows by IPv6 address, for lists of a million networks: what PackedV4 is for
// IPv4. A seventh of the memory of RangeTable, and one wait for memory for nearly every address.
//
//   table of up to 2^18, over the keys between the first step and the last
//       --> a record: up to eight networks, all compared at once
//       --> up to 64 records of a line each, by the next bits of the key
//       `-> a table of its own over the slot's steps, and so on
//
// A slot in which nothing begins leads to a record too, one that all those of its value share: so
// nothing branches on what is met. With three networks in a slot, as a list of a million has them
// in 2^17 slots of half a MiB, one slot in eighty has more than a line holds. Never changed once
// made.
class PackedV6 {
public:
    using Steps = std::span<const Step<Wide>>;
    static constexpr std::uint32_t kMaxValue = PackedRecord::kMaxValue;
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()
    static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

    // The steps are sorted, no two begin alike, and the first begins at 0. TooMany: a row is above
    // kMaxValue, or it would take more than `most` bytes.
    [[nodiscard]] static Result<PackedV6> make(Steps steps, std::size_t most = kMostBytes);

    // The bytes that it would take; something above kMostBytes: it cannot be made.
    [[nodiscard]] static std::size_t bytes_for(Steps steps);

    [[nodiscard]] std::uint32_t find(Wide key) const noexcept {
        Spot spot = enter_root(key);
        while (is_table(spot.place)) {
            spot = enter(spot.place, key);
        }
        const PackedRecord::Found found = find_in_record(spot);
        return found.is_in_tail() ? find_in_tail(spot, found, key) : found.value();
    }

    // The values of at most kMaxKeys keys, which wait for their records together.
    void find_each(std::span<const Wide> keys, std::uint32_t* values) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }

private:
    // While it is built.
    class Lines;
    class Builder;

    static constexpr std::uint32_t kLineWords = PackedRecord::kWords;  // of 64 bits

    // The target of a slot: its place, in words of 64 bits; of records, above that, their entries
    // less one, and how many bits distinguish them, less than seven.
    static constexpr std::uint32_t kTable = 0x8000'0000;
    static constexpr unsigned kPlaceBits = 24;
    static constexpr std::uint32_t kPlaceMask = (std::uint32_t{1} << kPlaceBits) - 1;
    static constexpr unsigned kSplitAt = 27;
    static constexpr unsigned kMostSplit = 7;
    static_assert(kMostBytes == (std::size_t{kPlaceMask} + 1) * sizeof(std::uint64_t));

    // The head of a table; its slots follow at once, the first for keys before all others, the last
    // for keys behind them.
    struct Table {
        Wide base = 0;            // first slot but one, counted in slots from key 0
        std::uint32_t count = 0;  // without those two
        std::uint32_t shift = 0;  // a slot is 2^shift keys
    };
    static constexpr std::size_t kTableSlotsAt = 32;
    static_assert(sizeof(Table) == kTableSlotsAt);

    // The first table of a look-up, of which a slot is 2^66 to 2^112 keys.
    struct Root {
        std::uint64_t base = 0;  // as Table's, less one
        std::int64_t last = 0;   // slot
        unsigned shift = 66;
        std::uint32_t around = 0;  // the value that most steps lead to, of all records
    };

    // The place that a key has come to, its record there, and its bits behind those used so far,
    // from the highest on.
    struct Spot {
        std::uint32_t place;
        std::uint32_t record;
        std::uint64_t rest;
    };
    // The spots of a burst, each part in a row; nothing is written before it is known.
    struct Spots {
        std::array<std::uint32_t, kMaxKeys> place;
        std::array<std::uint32_t, kMaxKeys> record;
        std::array<std::uint64_t, kMaxKeys> rest;

        [[nodiscard]] Spot at(std::size_t i) const noexcept {
            return {place[i], record[i], rest[i]};
        }
        void set(std::size_t i, Spot spot) noexcept {
            place[i] = spot.place;
            record[i] = spot.record;
            rest[i] = spot.rest;
        }
    };

    PackedV6(Root root, LineMemory memory) noexcept : root_{root}, memory_{std::move(memory)} {}

    [[nodiscard]] static bool is_table(std::uint32_t place) noexcept { return place >= kTable; }
    [[nodiscard]] const std::uint64_t* words() const noexcept {
        return static_cast<const std::uint64_t*>(memory_.data());
    }
    [[nodiscard]] const std::uint32_t* root_slot(Wide key) const noexcept {
        const std::uint64_t slot = static_cast<std::uint64_t>(key >> 64) >> (root_.shift - 64);
        const auto inside = static_cast<std::int64_t>(slot - root_.base);
        return static_cast<const std::uint32_t*>(memory_.data()) +
               std::clamp<std::int64_t>(inside, 0, root_.last);
    }
    // Leads from a table's place to the value of the key's slot.
    [[nodiscard]] const std::uint32_t* slot_in(std::uint32_t place, Wide key) const noexcept {
        const auto* bytes = reinterpret_cast<const std::byte*>(words() + (place & kPlaceMask));
        const Table& table = *reinterpret_cast<const Table*>(bytes);
        const Wide slot = key >> table.shift;
        const Wide inside =
            slot < table.base ? 0 : std::min<Wide>(slot - table.base, table.count) + 1;
        return reinterpret_cast<const std::uint32_t*>(bytes + kTableSlotsAt) +
               static_cast<std::uint32_t>(inside);
    }
    [[nodiscard]] static Spot spot_at(std::uint32_t place, std::uint64_t rest) noexcept {
        // A table's part has more bits than there are.
        const std::uint32_t part =
            static_cast<std::uint32_t>(rest >> (64 - kMostSplit)) >> (place >> kSplitAt);
        return {place, (place & kPlaceMask) + part * kLineWords, rest};
    }
    [[nodiscard]] Spot enter_root(Wide key) const noexcept {
        const unsigned asked = 128 - root_.shift;
        const std::uint64_t rest = static_cast<std::uint64_t>(key >> 64) << asked |
                                   static_cast<std::uint64_t>(key) >> (64 - asked);
        return spot_at(*root_slot(key), rest);
    }
    [[nodiscard]] Spot enter(std::uint32_t place, Wide key) const noexcept {
        const auto* table = reinterpret_cast<const Table*>(words() + (place & kPlaceMask));
        return spot_at(*slot_in(place, key), PackedRecord::rest_of(key, table->shift));
    }
    [[nodiscard]] std::uint32_t enter_each(std::uint32_t in_tables, std::span<const Wide> keys,
                                           Spots& spots) const noexcept;

    [[nodiscard]] static unsigned entries_of(std::uint32_t place) noexcept {
        return (place >> kPlaceBits & 7) + 1;
    }
    [[nodiscard]] PackedRecord::Found find_in_record(Spot spot) const noexcept {
        return PackedRecord::find(words(), spot.record, entries_of(spot.place), spot.rest,
                                  PackedRecord::code_of(root_.around));
    }
    [[nodiscard]] std::uint32_t find_in_tail(Spot spot, PackedRecord::Found found,
                                             Wide key) const noexcept {
        return PackedRecord::find_in_tail(words() + spot.record, entries_of(spot.place), found, key,
                                          root_.around);
    }

    Root root_;
    LineMemory memory_;
};

}  // namespace sluice

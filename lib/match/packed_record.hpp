#pragma once
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <immintrin.h>

namespace sluice {

// A few steps of IPv6 keys and their values, within one cache line. The keys are those of a slot:
// 2^bits that share all bits above these. Most steps begin or end a network, around which the value
// is always the same; so a network is one entry, and not two:
//
//   bound, the 50 bits behind what the slot's keys share | for how many keys (6) | value (8)
//
// Behind those keys, and before the first entry, the value is the one around all. What is no
// network, or has another value behind it, goes on to the next entry. The highest bit is turned
// over, so that signed compares follow the order.
//
// Where 50 bits do not suffice, as for a single address, the number's field names a word behind the
// entries, the tail, which holds the lowest 63 bits.
class PackedRecord {
public:
    using Steps = std::span<const Step<Wide>>;
    static constexpr std::uint32_t kMaxValue = 255;
    static constexpr std::size_t kWords = 8;    // of a line, entries and tail together
    static constexpr unsigned kMostBits = 112;  // of a slot that may have a tail

    // The keys of a slot, or of a part of it.
    struct Range {
        Wide first = 0;
        Wide last = 0;
        unsigned slot_bits = 0;
    };

    // The first step holds the first of the keys, the others begin behind it. nullopt: they are too
    // many, or too fine.
    [[nodiscard]] static std::optional<PackedRecord> make(Steps steps, const Range& range,
                                                          std::uint32_t around);

    // For keys among which no step begins: one entry.
    [[nodiscard]] static PackedRecord of_value(std::uint32_t value);

    [[nodiscard]] std::size_t entries() const noexcept { return entry_count_; }
    [[nodiscard]] std::size_t tail() const noexcept { return tail_count_; }
    // Writes a record of at least as many entries: entries beyond the last one repeat it.
    void write(std::uint64_t* to, std::size_t entries) const;

    // The bits of a key behind those that its slot's keys share, from the highest on.
    [[nodiscard]] static std::uint64_t rest_of(Wide key, unsigned bits) noexcept {
        return static_cast<std::uint64_t>((key << 1 << (127 - bits)) >> 64);
    }

    // The value around all entries as find() wants it.
    [[nodiscard]] static std::uint32_t code_of(std::uint32_t value) noexcept {
        return static_cast<std::uint32_t>(kEndless << kShiftAt) | value;
    }

    // The value of a key in its lowest eight bits, or which word of the tail decides.
    struct Found {
        std::uint32_t code;
        [[nodiscard]] bool is_in_tail() const noexcept { return code < kLeastShift << kShiftAt; }
        [[nodiscard]] std::uint32_t value() const noexcept {
            return static_cast<std::uint8_t>(code);
        }
    };
    // In the record that begins with this word of these lines, and has so many entries. Nothing is
    // read of another line.
    [[nodiscard]] static Found find(const std::uint64_t* lines, std::size_t word, unsigned entries,
                                    std::uint64_t rest, std::uint32_t around_code) noexcept {
        const std::size_t in_line = word % kWords;
        const auto* line = reinterpret_cast<const __m256i*>(lines + (word - in_line));
        const std::uint64_t asked = (rest | kLowMask) ^ kTurned;
        const __m256i all = _mm256_set1_epi64x(static_cast<std::int64_t>(asked));
        const unsigned beyond = entries_beyond(line, all) | entries_beyond(line + 1, all) << 4;
        const unsigned mine = (1U << entries) - 1;
        // The last that has begun; the first, if none has, of which the key is not inside.
        const unsigned begun = (~beyond >> in_line & mine) | 1;
        const std::uint64_t entry =
            lines[word + (31U - static_cast<unsigned>(std::countl_zero(begun)))];
        const std::uint64_t shift = std::max(entry >> kShiftAt & kEndless, kLeastShift);
        // Inside or not is as random as the keys: all or no bits, where the compiler would branch.
        const auto differs = static_cast<std::int64_t>((entry ^ asked) >> 1 >> shift);
        const auto inside = static_cast<std::uint32_t>((differs - 1) >> 63);
        const auto code = static_cast<std::uint32_t>(entry & kLowMask);
        return {around_code ^ ((code ^ around_code) & inside)};
    }
    [[nodiscard]] static std::uint32_t find_in_tail(const std::uint64_t* record, unsigned entries,
                                                    Found found, Wide key,
                                                    std::uint32_t around) noexcept {
        const std::uint32_t place = found.code >> kShiftAt;
        const std::uint64_t* tail = record + entries + place / 2;
        const auto size = static_cast<unsigned>(std::countr_zero(tail[0]));
        const bool inside = ((static_cast<std::uint64_t>(key) << 1 ^ tail[0]) >> size >> 1) == 0;
        const std::uint32_t others = place % 2 == 0 ? around : static_cast<std::uint32_t>(tail[1]);
        return inside ? found.value() : others;
    }

private:
    static constexpr unsigned kBoundBits = 50;
    static constexpr unsigned kShiftAt = 8;
    static constexpr std::uint64_t kLowMask = 0x3FFF;
    static constexpr std::uint64_t kTurned = std::uint64_t{1} << 63;
    // An entry is for the keys that are the same in the bits above so many, and one. Below the
    // least stands a place in the tail, doubled, plus one if the value around it differs and
    // follows there.
    static constexpr std::uint64_t kLeastShift = 13;
    static constexpr std::uint64_t kEndless = 63;

    // Keys of one value, or some that only a tail distinguishes.
    struct Segment {
        Wide first = 0;
        std::uint32_t value = 0;
        bool is_fine = false;
        std::uint64_t word = 0;
        std::uint32_t others = 0;  // the value around the keys of the word
    };
    class Segments;

    [[nodiscard]] static unsigned entries_beyond(const __m256i* four, __m256i asked) noexcept {
        const __m256i beyond = _mm256_cmpgt_epi64(_mm256_load_si256(four), asked);
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(beyond)));
    }
    [[nodiscard]] bool add_entry(std::uint64_t rest, std::uint64_t shift, std::uint32_t value);
    [[nodiscard]] bool add_tail(const Segment& segment, unsigned bits, std::uint32_t around);

    std::array<std::uint64_t, kWords> entries_{};
    std::array<std::uint64_t, kWords> tail_{};
    std::size_t entry_count_ = 0;
    std::size_t tail_count_ = 0;
};

}  // namespace sluice

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

// What few steps of IPv6 keys say, within one cache line. The keys are those of a slot: 2^bits that
// share all bits above these.
//
//   up to eight entries: a bound of 56 bits, those behind what the slot's keys share, and the value
//   from there on; keys before the first entry have the value of the last, as what lies around
//   networks has. The highest bit is turned over, so that signed compares tell the order.
//
//   a value above kMaxValue: a step begins between this bound and the next that 56 bits can tell.
//   It says which of the record's tails knows better: two entries by the lowest 56 bits of the key.
class PackedRecord {
public:
    using Steps = std::span<const Step<Wide>>;
    static constexpr std::uint32_t kMaxValue = 253;
    static constexpr std::size_t kWords = 8;      // of a line, entries and tails together
    static constexpr std::size_t kMostTails = 2;  // 255 is the last value of a byte
    static constexpr std::size_t kTailWords = 2;

    // The first step holds the first of the keys, the others begin behind it; `last` is the last of
    // the keys, which may be a part of the slot's. nullopt: they are too many, or too fine.
    [[nodiscard]] static std::optional<PackedRecord> make(Steps steps, Wide last, unsigned bits);

    // For keys among which no step begins: one entry.
    [[nodiscard]] static PackedRecord of_value(std::uint32_t value);

    [[nodiscard]] std::size_t entries() const noexcept { return entry_count_; }
    [[nodiscard]] std::size_t tails() const noexcept { return tail_count_; }
    // As a record of at least as many entries: one more says what the last one says.
    void write(std::uint64_t* to, std::size_t entries) const;

    // The bits of a key behind those that its slot's keys share, from the highest on.
    [[nodiscard]] static std::uint64_t rest_of(Wide key, unsigned bits) noexcept {
        return static_cast<std::uint64_t>((key << 1 << (127 - bits)) >> 64);
    }

    // The value of a key in the record that begins with a word of a line, and has so many entries.
    // Nothing is read of another line.
    [[nodiscard]] static std::uint32_t find(const std::uint64_t* record, std::size_t in_line,
                                            unsigned entries, std::uint64_t rest) noexcept {
        const auto* line = reinterpret_cast<const __m256i*>(record - in_line);
        const __m256i asked = _mm256_set1_epi64x(static_cast<std::int64_t>(entry_of(rest, 0xFF)));
        const unsigned beyond = entries_beyond(line, asked) | entries_beyond(line + 1, asked) << 4;
        const unsigned mine = (1U << entries) - 1;
        const auto begun = static_cast<unsigned>(std::popcount(~beyond >> in_line & mine));
        // With none begun, one less is more than any.
        return static_cast<std::uint8_t>(record[std::min(begun - 1, entries - 1)]);
    }
    [[nodiscard]] static std::uint32_t find_in_tail(const std::uint64_t* record, unsigned entries,
                                                    std::uint32_t value, Wide key) noexcept {
        const std::uint64_t* tail = record + entries + kTailWords * (value - kMaxValue - 1);
        const auto asked = static_cast<std::int64_t>(entry_of(fine_bits(key), 0xFF));
        const bool in_first = static_cast<std::int64_t>(tail[0]) <= asked &&
                              asked < static_cast<std::int64_t>(tail[1]);
        return static_cast<std::uint8_t>(tail[in_first ? 0 : 1]);
    }

private:
    static constexpr unsigned kBoundBits = 56;

    [[nodiscard]] static std::uint64_t entry_of(std::uint64_t bits, std::uint64_t value) noexcept {
        return ((bits & ~std::uint64_t{0xFF}) | value) ^ std::uint64_t{1} << 63;
    }
    [[nodiscard]] static std::uint64_t fine_bits(Wide key) noexcept {
        return static_cast<std::uint64_t>(key) << (64 - kBoundBits);
    }
    [[nodiscard]] static unsigned entries_beyond(const __m256i* four, __m256i asked) noexcept {
        const __m256i beyond = _mm256_cmpgt_epi64(_mm256_load_si256(four), asked);
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(beyond)));
    }

    [[nodiscard]] bool add_entry(std::uint64_t bits, std::uint32_t value);
    [[nodiscard]] bool add_tail(Steps steps, std::uint32_t before, Wide bound);
    [[nodiscard]] bool wrap(std::uint32_t before);

    std::array<std::uint64_t, kWords> entries_{};
    std::array<std::uint64_t, kMostTails * kTailWords> tails_{};
    std::size_t entry_count_ = 0;
    std::size_t tail_count_ = 0;
};

}  // namespace sluice

#pragma once
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/distinct_limit.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace sluice {

// Thirty bits of a keyed digest of a value; 0: nothing is known of it, so that it equals no other.
struct ShownValue {
    std::uint32_t bits = 0;

    [[nodiscard]] static ShownValue of(std::uint64_t digest) noexcept {
        constexpr std::uint64_t kMask = (std::uint64_t{1} << 30) - 1;
        return {std::max<std::uint32_t>(static_cast<std::uint32_t>(digest >> 34 & kMask), 1)};
    }
    [[nodiscard]] bool is_known() const noexcept { return bits != 0; }
};

// The different values that a key has shown in the current half of a window and in the one before:
//
//   |--- half i-1 ---|--- half i ---|        a value counts in the half that it was last shown in,
//      a b c            b d e                and in the next: here a, c, and b, d, e
//
// A value that counts passes, and counts in the current half from then on; a new one passes while
// all that count are fewer than the count. So what passes in a half are values that count in it,
// at most `count` with those of the half before. Any window W lies in three halves: it sees at most
// `count` in the first two and `count` in the third.
//
// Values are told apart by 30 bits of their digests under the box's secret. A value that is taken
// for one that counts passes beside the count: each new one with a chance of at most
// count / 2^30, whatever values are chosen by who does not know the secret. Of V values that are
// shown in a window, V * count / 2^30 on the average: under one in a thousand that there is any for
// all 65,536 ports and a count of 16; and for counts up to 200, e = 15 % is not exceeded once in a
// thousand windows up to V = 80 million. In distinct_values_test.cpp both are worked out.
//
// Up to 13 values lie in one line. More lie in further lines of 16, which the words of the first
// name then:
//
//   [ half | counts | v v v v v v v v v v v v v ]
//   [ half | counts | line line . . . . . . . . . . . ] --> [ v v v v v v v v v v v v v v v v ]
//
// A value without a place there, in a parent of many keys, counts as unknown: whenever it is shown.
//
// Plain data in a line of the pool; zeroes are a fresh state. Its stores leave at least what was
// owed before, also if the process ends between two of them; mend() makes whole what it finds.
class DistinctValues {
public:
    static constexpr std::size_t kInLine = 13;
    static constexpr std::size_t kPerLine = 16;
    static constexpr std::size_t kMost = kInLine * kPerLine;
    static_assert(kMost >= kMostDistinct && kMost <= UINT8_MAX);

    // Drops what counts no longer: once in each half, at most all values that there are.
    void move_to(const DistinctLimit& limit, LinePool& pool, Instant now) noexcept;

    // True if the value counts.
    [[nodiscard]] bool has(const DistinctLimit& limit, const LinePool& pool, Instant now,
                           ShownValue value) const noexcept;
    // Sees to it that so many new values have places, as far as any have. False: the pool is full.
    // Only after move_to().
    [[nodiscard]] bool make_room(LinePool& pool, std::uint64_t values) noexcept;
    // The value has been shown. Only after move_to().
    void note(LinePool& pool, ShownValue value) noexcept;
    // All values that count in `from` have been shown here too. Only after move_to().
    void note_all(const DistinctLimit& limit, LinePool& pool, Instant now,
                  DistinctValues& from) noexcept;
    // So many of which nothing is known.
    void add_unknown(std::uint64_t values) noexcept;
    // Forgets so many: those that are unknown first.
    void give_back(LinePool& pool, std::uint64_t values) noexcept;

    // The number that counts.
    [[nodiscard]] std::uint64_t used(const DistinctLimit& limit, Instant now) const noexcept {
        const Shown shown = as_of(limit, now);
        return shown.current.all() + shown.previous.all();
    }
    // The least time after which so many more are within the count.
    [[nodiscard]] std::optional<Nanoseconds> wait(const DistinctLimit& limit, Instant now,
                                                  std::uint64_t more) const noexcept;
    // The end of the half after the last one in which a value was shown.
    [[nodiscard]] Instant fresh_from(const DistinctLimit& limit, Instant now) const noexcept;

    // Gives back all lines but its own.
    void close(LinePool& pool) noexcept;
    // For memory that another process left. Calls claim(line) for each line; the first that is
    // refused is the end.
    template <typename Claim>
    void mend(LinePool& pool, Claim&& claim) noexcept {
        std::size_t lines = 0;
        while (lines < kInLine && is_line(words_[lines]) && claim(line_of(words_[lines]))) {
            ++lines;
        }
        // Beside lines there are only copies of the values in them.
        if (is_line(words_[0])) {
            std::fill(words_.begin() + static_cast<std::ptrdiff_t>(lines), words_.end(), 0);
        }
        recount(pool);
    }

private:
    // A value and the lowest bit of the half that it was last shown in, or a line; 0: neither.
    using Word = std::uint32_t;
    using Line = std::array<Word, kPerLine>;
    static constexpr Word kLineBit = Word{1} << 31;

    struct Count {
        std::uint32_t known : 8;
        std::uint32_t unknown : 24;
        [[nodiscard]] std::uint64_t all() const noexcept { return std::uint64_t{known} + unknown; }
    };
    // Its counts as a later half has them.
    struct Shown {
        std::uint64_t half;
        Count current;
        Count previous;
    };

    [[nodiscard]] static bool is_line(Word word) noexcept { return (word & kLineBit) != 0; }
    [[nodiscard]] static PoolLine line_of(Word word) noexcept { return word & ~kLineBit; }
    [[nodiscard]] static std::uint64_t half_of(const DistinctLimit& limit, Instant now) noexcept {
        return static_cast<std::uint64_t>(now.time_since_epoch().count() / limit.half());
    }
    // A half that only a damaged line names may begin at the last instant that there is, which no
    // entry may have.
    [[nodiscard]] static Instant begin_of(const DistinctLimit& limit, std::uint64_t half) noexcept {
        const Wide begin = Wide{half} * static_cast<std::uint64_t>(limit.half());
        constexpr auto kLast = static_cast<std::uint64_t>(INT64_MAX);
        return Instant{Nanoseconds{static_cast<std::int64_t>(std::min<Wide>(begin, kLast))}};
    }

    [[nodiscard]] Shown as_of(const DistinctLimit& limit, Instant now) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept {
        return std::size_t{current_.known} + previous_.known;
    }
    [[nodiscard]] Word word_now(ShownValue value) const noexcept {
        return value.bits << 1 | (half_ & 1U);
    }
    // True if the value of a word counts in a half that is not earlier.
    [[nodiscard]] bool counts(Word word, std::uint64_t half) const noexcept {
        const bool is_current = (word & 1U) == (half_ & 1U);
        return half <= half_ || (half == half_ + std::uint64_t{1} && is_current);
    }
    // The word of a value; nullptr: it has none.
    [[nodiscard]] static auto* find(auto& self, auto& pool, ShownValue value) noexcept;
    // The word at a place, counted from 0 on; nullptr: there is no line for it.
    [[nodiscard]] Word* at(LinePool& pool, std::size_t place) noexcept;
    [[nodiscard]] bool move_to_lines(LinePool& pool) noexcept;
    // A line for a place that has none.
    [[nodiscard]] bool add_line(LinePool& pool, std::size_t place) noexcept;
    void drop_previous(LinePool& pool) noexcept;
    void drop_all(LinePool& pool) noexcept;
    void drop(LinePool& pool, std::size_t place) noexcept;
    void recount(LinePool& pool) noexcept;

    static constexpr std::uint32_t kMostUnknown = (std::uint32_t{1} << 24) - 1;

    std::uint32_t half_ = 0;  // the current one, counted from the beginning of time
    Count current_{};
    Count previous_{};
    std::array<Word, kInLine> words_{};  // without a gap
};
static_assert(sizeof(DistinctValues) == kLineBytes);
static_assert(kLongestDebt / (kShortestDistinctWindow / 2) * 2 < UINT32_MAX, "halves have 32 bits");

}  // namespace sluice

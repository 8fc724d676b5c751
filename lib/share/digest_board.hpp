#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Digests that any core posts and any core looks up, each for a time, without locks: what one core
// must know of what another one did, at the cost of being forgotten sooner where many are posted at
// once. `seconds` come from a clock that all cores share.
class DigestBoard {
public:
    static constexpr std::size_t kWays = 8;

    // Rounded up to a power of two.
    DigestBoard(std::size_t digests, std::uint32_t kept_seconds)
        : mask_{std::bit_ceil(std::max(digests / kWays, std::size_t{1})) - 1},
          kept_{kept_seconds},
          memory_{(mask_ + 1) * kWays * sizeof(Word)},
          words_{static_cast<Word*>(memory_.data())} {}

    // False: all that were posted have been kept for their time.
    [[nodiscard]] bool may_have_any(std::uint32_t seconds) const noexcept {
        const std::uint32_t until = until_.load(std::memory_order_relaxed);
        return until != 0 && seconds < until;
    }
    // In the place of the one that was posted first.
    void post(std::uint64_t digest, std::uint32_t seconds) noexcept {
        Word* const line = line_of(digest);
        Word* place = line;
        for (std::size_t way = 0; way < kWays; ++way) {
            if (is(line[way].load(std::memory_order_relaxed), digest)) {
                place = &line[way];
                break;
            }
            place = age(line[way], seconds) > age(*place, seconds) ? &line[way] : place;
        }
        place->store(word_of(digest, seconds), std::memory_order_relaxed);
        const std::uint32_t until = seconds + kept_ + 1;
        if (until_.load(std::memory_order_relaxed) != until) {
            until_.store(until, std::memory_order_relaxed);
        }
    }
    void prefetch(std::uint64_t digest) const noexcept { prefetch0(line_of(digest)); }
    [[nodiscard]] bool has(std::uint64_t digest, std::uint32_t seconds) const noexcept {
        const Word* const line = line_of(digest);
        return std::any_of(line, line + kWays, [&](const Word& one) {
            return is(one.load(std::memory_order_relaxed), digest) && age(one, seconds) <= kept_;
        });
    }
    void remove(std::uint64_t digest) noexcept {
        Word* const line = line_of(digest);
        for (std::size_t way = 0; way < kWays; ++way) {
            if (is(line[way].load(std::memory_order_relaxed), digest)) {
                line[way].store(0, std::memory_order_relaxed);
            }
        }
    }

private:
    using Word = std::atomic<std::uint64_t>;
    static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "zeroed memory is free words");

    // The upper 40 bits of a digest, whose lower ones choose the line, and 24 bits of seconds.
    static constexpr unsigned kTimeBits = 24;
    static constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << kTimeBits) - 1;

    [[nodiscard]] static std::uint64_t word_of(std::uint64_t digest,
                                               std::uint32_t seconds) noexcept {
        return (digest & ~kTimeMask) | (seconds & kTimeMask);
    }
    [[nodiscard]] static bool is(std::uint64_t word, std::uint64_t digest) noexcept {
        return word != 0 && ((word ^ digest) & ~kTimeMask) == 0;
    }
    // A free place counts as the oldest.
    [[nodiscard]] static std::uint64_t age(const Word& one, std::uint32_t seconds) noexcept {
        const std::uint64_t word = one.load(std::memory_order_relaxed);
        return word == 0 ? kTimeMask + 1 : (seconds - word) & kTimeMask;
    }
    [[nodiscard]] Word* line_of(std::uint64_t digest) const noexcept {
        return words_ + (digest & mask_) * kWays;
    }

    std::uint64_t mask_;
    std::uint32_t kept_;
    LineMemory memory_;
    Word* words_;
    alignas(64) std::atomic<std::uint32_t> until_{0};  // in seconds; 0: none was posted
};

}  // namespace sluice

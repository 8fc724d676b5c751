#pragma once
#include "lib/base/line_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::bench {

// xorshift64* (Vigna 2016): indices that no prefetcher guesses, for a few cycles.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_{seed * 2 + 1} {}
    std::uint64_t operator()() noexcept {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545'F491'4F6C'DD1D;
    }
    // Below `bound`, which is at most 2^32.
    std::uint64_t below(std::uint64_t bound) noexcept { return ((*this)() >> 32) * bound >> 32; }

private:
    std::uint64_t state_;
};

// What memory allows: random read-modify-writes of one 64-byte line, prefetched, over an array as
// large as the table that it is compared with.
class Roof {
public:
    static constexpr std::size_t kBurst = 32;

    explicit Roof(std::size_t bytes) : lines_{bytes / 64}, memory_{bytes} {
        for (std::size_t i = 0; i < lines_; ++i) {
            at(i) = i;
        }
    }

    // Prefetched and used within a burst.
    void within_bursts(std::size_t bursts, Random& random) noexcept {
        std::array<std::size_t, kBurst> index;
        for (std::size_t burst = 0; burst < bursts; ++burst) {
            ask(index, random);
            use(index);
        }
    }
    // Prefetched one burst ahead.
    void ahead(std::size_t bursts, Random& random) noexcept {
        std::array<std::size_t, kBurst> indices[2];
        ask(indices[0], random);
        for (std::size_t burst = 0; burst < bursts; ++burst) {
            ask(indices[(burst + 1) % 2], random);
            use(indices[burst % 2]);
        }
    }
    [[nodiscard]] std::size_t page_size() const noexcept { return memory_.page_size(); }

private:
    std::uint64_t& at(std::size_t line) noexcept {
        return static_cast<std::uint64_t*>(memory_.data())[line * 8];
    }
    void ask(std::array<std::size_t, kBurst>& index, Random& random) noexcept {
        for (std::size_t& line : index) {
            line = random.below(lines_);
            __builtin_prefetch(&at(line), 1);
        }
    }
    void use(const std::array<std::size_t, kBurst>& index) noexcept {
        for (const std::size_t line : index) {
            at(line) += line;
        }
    }

    std::size_t lines_;
    LineMemory memory_;
};

}  // namespace sluice::bench

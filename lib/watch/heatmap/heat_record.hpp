#pragma once
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"
#include "lib/watch/heatmap/heat_sample.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {

// The digest that keys are watched by: the upper bits of a product that every bit of the keyed hash
// goes into, so that neither the place in a table nor the worker says anything of it.
[[nodiscard, gnu::always_inline]] inline std::uint64_t heat_digest(std::uint64_t hash) noexcept {
    constexpr std::uint64_t kOdd = 0xD6E8'FEB8'6659'FD93;
    return (hash * kOdd) >> (64 - HeatSample::kDigestBits);
}
// Keys are watched whose digest is below this: its upper `bits` are zero.
[[nodiscard]] constexpr std::uint64_t heat_bound(unsigned bits) noexcept {
    return (std::uint64_t{1} << HeatSample::kDigestBits) >> bits;
}

// The share of what a limit holds at most that is left to a key that was not refused, as samples
// have it.
[[nodiscard]] inline std::uint8_t heat_left(Units left, Units most) noexcept {
    const std::uint64_t all = std::max<std::uint64_t>(most.count(), 1);
    const Wide scaled = static_cast<Wide>(std::min(left.count(), all)) * HeatSample::kFull;
    return std::max<std::uint8_t>(1, static_cast<std::uint8_t>((scaled + (all - 1)) / all));
}

// A watched key at one worker in one epoch: 16 bytes, four to a line. All zero: there is none.
//
//   name     digest: 40 | place of the limit, from 1 on: 16 | packets shown: 8
//   counts   least left: 8 | refused: 24 | offered: 32
struct HeatRecord {
    std::uint64_t name = 0;
    std::uint64_t counts = 0;

    static constexpr unsigned kDigestShift = 24;
    static constexpr unsigned kPlaceShift = 8;
    static constexpr std::uint64_t kShown = 0xFF;
    static constexpr std::uint64_t kMostOffered = UINT32_MAX;
    static constexpr std::uint64_t kMostRefused = (1U << 24) - 1;
    static_assert(kDigestShift + HeatSample::kDigestBits == 64);

    [[nodiscard]] static constexpr std::uint64_t name_of(std::uint64_t digest,
                                                         std::uint32_t place) noexcept {
        return digest << kDigestShift | std::uint64_t{place + 1} << kPlaceShift;
    }
    void begin(std::uint64_t new_name) noexcept {
        name = new_name;
        counts = std::uint64_t{HeatSample::kFull} << 56;
    }
    [[nodiscard]] bool empty() const noexcept { return name == 0; }
    [[nodiscard]] bool is(std::uint64_t other) const noexcept { return (name & ~kShown) == other; }
    [[nodiscard]] std::uint64_t digest() const noexcept { return name >> kDigestShift; }
    [[nodiscard]] std::uint32_t place() const noexcept {
        return static_cast<std::uint32_t>(name >> kPlaceShift & 0xFFFF) - 1;
    }
    [[nodiscard]] unsigned shown() const noexcept { return static_cast<unsigned>(name & kShown); }
    void show() noexcept { ++name; }

    void note(std::uint64_t units, bool is_refused, std::uint8_t left) noexcept {
        const std::uint64_t all = std::min(offered() + std::min(units, kMostOffered), kMostOffered);
        const std::uint64_t some =
            std::min(refused() + (is_refused ? std::min(units, kMostRefused) : 0), kMostRefused);
        counts = std::uint64_t{std::min(least_left(), left)} << 56 | some << 32 | all;
    }
    [[nodiscard]] std::uint64_t offered() const noexcept { return counts & kMostOffered; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return counts >> 32 & kMostRefused; }
    [[nodiscard]] std::uint8_t least_left() const noexcept {
        return static_cast<std::uint8_t>(counts >> 56);
    }
    [[nodiscard]] HeatSample sample() const noexcept {
        return {digest(), static_cast<std::uint32_t>(offered()),
                static_cast<std::uint32_t>(refused()), least_left()};
    }
};
static_assert(sizeof(HeatRecord) == 16, "four to a line");

}  // namespace sluice

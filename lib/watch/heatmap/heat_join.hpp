#pragma once
#include "lib/watch/heatmap/heat_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// The samples of one limit from several workers, or several epochs, which may have watched by
// different bits.
class HeatJoin {
public:
    void add(const HeatSample& sample) { samples_.push_back(sample); }
    // Keys of a worker are watched by so many bits: those that others watch by fewer go.
    void watched_by(std::uint8_t bits) noexcept { bits_ = bits > bits_ ? bits : bits_; }

    struct Joined {
        std::uint8_t bits = 0;
        std::vector<HeatSample> samples;  // by digest, each once: offered adds up, the least counts
    };
    // `most` at most, by one bit more as often as it takes.
    [[nodiscard]] Joined take(std::size_t most);

private:
    std::vector<HeatSample> samples_;
    std::uint8_t bits_ = 0;
};

}  // namespace sluice
